package runner

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"orch/blackboard/plainfile"
	"orch/roles/act/ledger"
)

// Variables of a judged command. They begin as the names do that are never
// inherited, so no command has those of another.
const (
	dirEnv  = "ORCH_LEDGER"      // the channel's folder
	rootEnv = "ORCH_LEDGER_ROOT" // what names of files are relative to
	outEnv  = "ORCH_LEDGER_OUT"  // where one reporter writes
)

// Folders and files of a channel.
const (
	binDir   = "bin"  // the shims
	outDir   = "out"  // what was said
	libDir   = "lib"  // reporters
	onlyFile = "only" // the tests to run, as a list of names
)

// Bounds of what is read from a channel: the judged process fills it.
const (
	mostFiles     = 4096
	mostFileBytes = 64 << 20
)

//go:embed lib
var lib embed.FS

// Channel is a folder through which the runners below one command are heard.
type Channel struct{ dir string }

// Open makes a channel below a folder that the command may write to. exe is the
// program whose main calls Main. On systems without shims it hears nothing.
func Open(scratch, exe string) (Channel, error) {
	dir, err := os.MkdirTemp(scratch, "ledger-")
	if err != nil {
		return Channel{}, fmt.Errorf("make a place for the ledger: %w", err)
	}
	c := Channel{dir}
	if err := c.fill(exe); err != nil {
		return Channel{}, errors.Join(fmt.Errorf("make the shims of test runners: %w", err), c.Close())
	}
	return c, nil
}

func (c Channel) fill(exe string) error {
	for _, sub := range []string{binDir, outDir, libDir} {
		if err := os.Mkdir(filepath.Join(c.dir, sub), 0o755); err != nil {
			return err
		}
	}
	files, err := fs.ReadDir(lib, libDir)
	if err != nil {
		return err
	}
	for _, f := range files {
		text, err := fs.ReadFile(lib, libDir+"/"+f.Name())
		if err == nil {
			err = os.WriteFile(filepath.Join(c.dir, libDir, f.Name()), text, 0o644)
		}
		if err != nil {
			return err
		}
	}
	if !supported {
		return nil
	}
	for name := range shims {
		if _, err := exec.LookPath(name); err != nil {
			continue // not here, so it stays a command that is not found
		}
		if err := os.Symlink(exe, filepath.Join(c.dir, binDir, name)); err != nil {
			return err
		}
	}
	return nil
}

// Close removes the channel.
func (c Channel) Close() error { return os.RemoveAll(c.dir) }

// Env is the environment of a command in root that is to be heard.
func (c Channel) Env(env []string, root string) []string {
	if !supported {
		return env
	}
	bin, modules := filepath.Join(c.dir, binDir), filepath.Join(c.dir, libDir)
	out := slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains([]string{"PATH", pythonPath, dirEnv, rootEnv, outEnv}, name)
	})
	return append(out, dirEnv+"="+c.dir, rootEnv+"="+root, "PATH="+joinPath(bin, lookup(env, "PATH")), pythonPath+"="+joinPath(lookup(env, pythonPath), modules))
}

// pythonPath is where python looks for modules first.
const pythonPath = "PYTHONPATH"

func lookup(env []string, name string) (value string) {
	for _, kv := range env { // the last one counts
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			value = v
		}
	}
	return value
}

func joinPath(parts ...string) string {
	parts = slices.DeleteFunc(parts, func(p string) bool { return p == "" })
	return strings.Join(parts, string(filepath.ListSeparator))
}

// Only narrows what the runners run to some tests, as far as each of them can be
// told; the rest of a suite may run as well.
func (c Channel) Only(names []ledger.Name) error {
	raw, err := json.Marshal(names)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(c.dir, onlyFile), raw, 0o644)
}

// Read collects what was said. What can not be read counts as not said.
func (c Channel) Read() (ledger.Ledger, error) {
	var all ledger.Ledger
	files, err := os.ReadDir(filepath.Join(c.dir, outDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return all, fmt.Errorf("read what test runners said: %w", err)
	}
	said := map[string][]byte{}
	for i, f := range files {
		info, err := f.Info()
		if err != nil || !info.Mode().IsRegular() || info.Size() > mostFileBytes || i >= mostFiles {
			continue
		}
		if said[f.Name()], err = plainfile.Read(filepath.Join(c.dir, outDir, f.Name())); err != nil {
			delete(said, f.Name())
		}
	}
	for name, raw := range said {
		switch runner, _, _ := strings.Cut(name, "."); filepath.Ext(name) {
		case extGo:
			all.Join(ledger.GoTest(raw))
		case extCargo:
			all.Join(ledger.Cargo(raw, said[strings.TrimSuffix(name, extCargo)+extCargoErr]))
		case extLines:
			all.Join(ledger.Lines(runner, raw))
		}
	}
	return all, nil
}

// The endings of the files in a channel say how they are read.
const (
	extGo       = ".go-json"
	extCargo    = ".cargo-out"
	extCargoErr = ".cargo-err"
	extLines    = ".lines"
)
