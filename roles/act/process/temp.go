package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// tempPrefix begins the names of temporary directories that say whose they are.
const tempPrefix = "orch-o-"

// MakeTemp makes a temporary directory whose name says which process made it,
// so that whoever looks later can tell whether it is still used. The name is
// short: people's tests make sockets in such directories.
func MakeTemp() (string, error) { return MakeTempIn("") }

// MakeTempIn is MakeTemp in another directory than the system's.
func MakeTempIn(in string) (string, error) {
	self := Self()
	dir, err := os.MkdirTemp(in, fmt.Sprintf("%s%s-%s-%s-", tempPrefix, pidSpace(), inName(uint64(self.PID)), inName(self.StartTicks)))
	if err != nil {
		return "", fmt.Errorf("make a temporary directory: %w", err)
	}
	return dir, nil
}

// ClearTemp removes the directories of MakeTemp whose process is gone, as far
// as they are this person's, and returns them: in the system's directory and
// these others.
func ClearTemp(others ...string) ([]string, error) {
	found, err := DeadTemp(others...)
	var errs []error
	for _, dir := range found {
		if err := RemoveTree(dir); err != nil && !errors.Is(err, fs.ErrPermission) {
			errs = append(errs, err)
		}
	}
	return found, errors.Join(append(errs, err)...)
}

// DeadTemp lists the directories of MakeTemp whose process is gone. Those of
// processes that can not be seen from here, in another container, are left out.
func DeadTemp(others ...string) ([]string, error) {
	own := tempPrefix + pidSpace() + "-"
	var all []string
	for _, in := range append([]string{os.TempDir()}, others...) {
		found, err := filepath.Glob(filepath.Join(in, own+"*"))
		if err != nil {
			return nil, fmt.Errorf("list temporary directories: %w", err)
		}
		all = append(all, found...)
	}
	var dead []string
	for _, dir := range all {
		parts := strings.Split(strings.TrimPrefix(filepath.Base(dir), own), "-")
		if len(parts) != 3 {
			continue
		}
		pid, perr := strconv.ParseUint(parts[0], 36, 31)
		start, serr := strconv.ParseUint(parts[1], 36, 64)
		if perr == nil && serr == nil && pid > 0 && Look(Identity{PID: int(pid), StartTicks: start, BootID: BootID()}) == Dead {
			dead = append(dead, dir)
		}
	}
	return dead, nil
}

// RemoveTree removes a directory and all below it, whatever permissions were left
// on its directories.
func RemoveTree(path string) error {
	err := os.RemoveAll(path)
	if err == nil {
		return nil
	}
	walk := filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(p, 0o700) // what still can't be removed is reported below
		}
		return nil
	})
	if walk != nil {
		return err
	}
	return os.RemoveAll(path)
}

func inName(n uint64) string { return strconv.FormatUint(n, 36) }

// pidSpace stands for the set of processes among which a pid means something:
// containers that share a temporary folder do not share their processes.
func pidSpace() string {
	link, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return "0" // systems without such namespaces
	}
	n, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimPrefix(link, "pid:["), "]"), 10, 64)
	if err != nil {
		return "0"
	}
	return inName(n)
}
