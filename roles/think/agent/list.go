package agent

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"orch/blackboard/lazyregexp"
	"orch/roles/act/process"
	"orch/roles/think/agent/cli"
)

// Found is an agent program that is known, with what this machine has of it.
type Found struct {
	Name    string   `json:"name"`
	Title   string   `json:"title"`
	Path    string   `json:"path,omitempty"` // empty: not on PATH
	Version string   `json:"version,omitempty"`
	ACPPath string   `json:"acp_path,omitempty"`
	Drives  []string `json:"backends"` // exec, acp
}

// versionWallMS bounds `program --version`.
const versionWallMS = 15_000

// List looks for every known agent program. A program that is found is started
// once, with --version and without its keys.
func List(ctx context.Context, w World) []Found {
	var out []Found
	for _, p := range cli.Presets() {
		f := Found{Name: p.Name, Title: p.Title, Path: w.LookPath(p.Program), Drives: []string{}}
		if f.Path != "" {
			f.Version = Version(ctx, w, p, f.Path)
			f.Drives = append(f.Drives, Exec)
		}
		if p.ACP != nil {
			f.ACPPath = f.Path
			if p.ACPBy != "" {
				f.ACPPath = w.LookPath(p.ACPBy)
			}
			if f.ACPPath != "" {
				f.Drives = append(f.Drives, ACP)
			}
		}
		out = append(out, f)
	}
	return out
}

// LookPath finds a program on the PATH of the environment.
func (w World) LookPath(program string) string {
	if strings.ContainsRune(program, filepath.Separator) {
		if isProgram(program) {
			return program
		}
		return ""
	}
	for _, kv := range w.Environ {
		list, ok := strings.CutPrefix(kv, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(list) {
			if path := filepath.Join(dir, program); filepath.IsAbs(path) && isProgram(path) {
				return path
			}
		}
	}
	return ""
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir() && info.Mode()&0o111 != 0
}

var versionText = lazyregexp.New(`\d+\.\d+(\.\d+)?[-+.\w]*`)

// Version asks a program for its version; empty if it does not say.
func Version(ctx context.Context, w World, p cli.Preset, path string) string {
	spec := w.Process
	spec.Argv = []string{path, "--version"}
	spec.Env = append(process.ScrubEnv(w.Environ), p.Quiet...)
	spec.Dir, spec.WallMS, spec.IdleMS, spec.KeepBytes, spec.Session = w.Scratch, versionWallMS, 0, 8<<10, true
	r := process.Run(ctx, spec)
	if !r.OK() {
		return ""
	}
	return strings.TrimRight(versionText.FindString(string(r.Output())), ".")
}
