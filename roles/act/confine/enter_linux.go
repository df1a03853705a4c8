package confine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Supported tells whether this system knows any layer.
const Supported = true

// Prepare makes a process that is about to be started one that can Enter.
func (s Sandbox) Prepare(attr *syscall.SysProcAttr) error {
	if !s.Namespace {
		return nil
	}
	attr.Cloneflags |= unix.CLONE_NEWUSER | unix.CLONE_NEWNS
	uid, gid := os.Geteuid(), os.Getegid()
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
	if uid == 0 { // root stays the owner of what belongs to others
		var err error
		if attr.UidMappings, err = ownIDs("/proc/self/uid_map"); err != nil {
			return err
		}
		if attr.GidMappings, err = ownIDs("/proc/self/gid_map"); err != nil {
			return err
		}
		attr.GidMappingsEnableSetgroups = true
	}
	// The namespace's own rights would be gone with the first exec of an ordinary user.
	attr.AmbientCaps = append(attr.AmbientCaps, unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP)
	return nil
}

// ownIDs maps every id that is known here to itself.
func ownIDs(path string) ([]syscall.SysProcIDMap, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var ids []syscall.SysProcIDMap
	for line := range strings.Lines(string(raw)) {
		var inside, outside, size int
		if _, err := fmt.Sscan(line, &inside, &outside, &size); err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		ids = append(ids, syscall.SysProcIDMap{ContainerID: inside, HostID: inside, Size: size})
	}
	return ids, nil
}

// Enter puts the sandbox in force: its mounts for this process, everything else
// for the calling thread and what that starts from now on. The thread must be
// locked to its goroutine and never be given back.
func (s Sandbox) Enter() error {
	s, err := s.here()
	if err != nil {
		return err
	}
	if s.Namespace {
		dir, err := os.Getwd()
		if err != nil {
			return fmt.Errorf("confine: find the working directory: %w", err)
		}
		if err := s.mount(); err != nil {
			return &UnavailableError{err.Error()}
		}
		if err := os.Chdir(dir); err != nil { // the same place, as it is mounted now
			return fmt.Errorf("confine: %w", err)
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return &UnavailableError{"give up new privileges: " + err.Error()}
	}
	if s.Landlock > 0 {
		if err := s.land(); err != nil {
			return &UnavailableError{err.Error()}
		}
	}
	if err := dropCapabilities(); err != nil {
		return &UnavailableError{"give up capabilities: " + err.Error()}
	}
	return nil
}

// here is the sandbox with the links in its paths followed, and without what is
// not there.
func (s Sandbox) here() (Sandbox, error) {
	for _, list := range []*[]string{&s.Write, &s.ReadOnly, &s.Hide} {
		var real []string
		for _, path := range *list {
			p, err := filepath.EvalSymlinks(path)
			switch {
			case errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission):
				continue // nothing there that could be written or seen
			case err != nil:
				return s, fmt.Errorf("confine: %w", err)
			}
			real = append(real, p)
		}
		*list = real
	}
	var err error
	s.Policy, err = s.Clean()
	return s, err
}

// kept are the capabilities that root keeps: to handle files and processes as
// root does. None of them reaches mounts, devices, namespaces or the tracing of
// others.
var kept = []int{unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_FSETID, unix.CAP_KILL, unix.CAP_SETGID, unix.CAP_SETUID}

// dropCapabilities leaves only what is kept. New privileges are given up by
// now, so no exec brings any of them back.
func dropCapabilities() error {
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var has [2]unix.CapUserData
	if err := unix.Capget(&head, &has[0]); err != nil {
		return err
	}
	var keep uint64
	if os.Geteuid() == 0 {
		for _, c := range kept {
			keep |= 1 << c
		}
	}
	for c := 0; c <= unix.CAP_LAST_CAP; c++ {
		if keep&(1<<c) != 0 {
			continue
		}
		err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0)
		if err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.EPERM) { // unknown to this kernel, or not ours to bound
			return err
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	low, high := uint32(keep)&has[0].Permitted, uint32(keep>>32)&has[1].Permitted
	data := [2]unix.CapUserData{{Effective: low, Permitted: low}, {Effective: high, Permitted: high}}
	return unix.Capset(&head, &data[0])
}
