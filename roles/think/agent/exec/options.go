package exec

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"time"

	"orch/blackboard/message"
	"orch/roles/act/process"
	"orch/roles/think/agent/cli"
	"orch/roles/think/model"
)

// Defaults for zero fields of Options.
const (
	DefaultWallMS      = 30 * 60_000
	DefaultIdleMS      = 10 * 60_000
	DefaultLingerMS    = 5_000
	DefaultStreamBytes = 512 << 20
	pipeBytes          = 1 << 20 // some programs drop what does not fit into the pipe when they exit
	keepBytes          = 128 << 10
)

// Options says how a program is driven.
type Options struct {
	Preset  cli.Preset
	Program string // path or name; empty: the preset's
	Model   string // asked of the program; empty: its own
	More    []string
	Name    string // in errors and records, such as "exec:claude"
	Account string

	Environ []string // the whole environment orch was given; it is scrubbed here
	Keep    []string // names, or globs, to keep beside the preset's own

	WallMS   int64 // longest run
	IdleMS   int64 // longest silence
	LingerMS int64 // how long the program may stay after its terminal event

	StreamBytes int64 // more output than this and it is ended as flooding

	Process process.Spec // guard, grace and marker of what is started
	Scratch string       // where temporary files go; empty: the system's place
	Now     func() time.Time

	// Confine makes what is started one that may write only these files and
	// directories; nil confines nothing.
	Confine func(spec process.Spec, writable ...string) (process.Spec, error)
}

// WithDefaults fills what was left zero.
func (o Options) WithDefaults() Options {
	o.WallMS, o.IdleMS, o.LingerMS = orDefault(o.WallMS, DefaultWallMS), orDefault(o.IdleMS, DefaultIdleMS), orDefault(o.LingerMS, DefaultLingerMS)
	o.StreamBytes = orDefault(o.StreamBytes, DefaultStreamBytes)
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

func orDefault(v, def int64) int64 {
	if v <= 0 {
		return def
	}
	return v
}

// Spec bounds a process for a task: its place, environment and limits.
func (o Options) Spec(t cli.Task, scratch string) process.Spec {
	spec := o.Process
	spec.Dir = t.Dir
	if spec.Dir == "" {
		spec.Dir = scratch
	}
	spec.Env = o.env(t)
	spec.WallMS, spec.IdleMS = o.WallMS, o.IdleMS
	spec.Session, spec.Interrupt = true, o.Preset.Interrupt
	spec.MaxOutputBytes, spec.FullBytes, spec.KeepBytes, spec.Full = o.StreamBytes, o.StreamBytes, keepBytes, nil
	spec.PipeBytes = pipeBytes
	if t.Marker != "" {
		spec.Marker = t.Marker
	}
	return spec
}

// Confined confines a process, if anything does, to what the task and the
// program itself must write. What the program keeps in its home is made first:
// what is not there can not be allowed.
func (o Options) Confined(t cli.Task, scratch string, spec process.Spec) (process.Spec, error) {
	if o.Confine == nil {
		return spec, nil
	}
	may := append([]string{scratch}, t.Writable...)
	if t.Dir != "" && t.Access != cli.Read {
		may = append(may, t.Dir)
	}
	if home := lookup(o.Environ, "HOME"); home != "" {
		own, err := o.state(home)
		if err != nil {
			return spec, fmt.Errorf("make a place for what %s keeps: %w", o.Name, err)
		}
		may = append(may, own...)
	}
	return o.Confine(spec, may...)
}

// Layers are what confines a process; empty: nothing does.
func Layers(spec process.Spec) string {
	if spec.Confine == nil {
		return ""
	}
	return spec.Confine.Layers.String()
}

// Access is how far a program goes by its own rules. One whose own confinement
// does not work inside of ours has none of its own then: ours holds what the
// task may do.
func (o Options) Access(t cli.Task, spec process.Spec) cli.Access {
	switch {
	case o.Preset.Boxes && spec.Confine != nil:
		return cli.Full
	case t.Access == "":
		return cli.Workspace
	}
	return t.Access
}

// state is what the program keeps in a home, made if it is not there.
func (o Options) state(home string) ([]string, error) {
	var all []string
	for _, name := range o.Preset.Write {
		dir := name
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(home, name)
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		all = append(all, dir)
	}
	for _, name := range o.Preset.Keep { // what is not there could be made
		if err := makeKept(filepath.Join(home, name), name); err != nil {
			return nil, err
		}
	}
	for _, name := range o.Preset.WriteEnv {
		if dir := lookup(o.Environ, name); filepath.IsAbs(dir) {
			all = append(all, dir)
		}
	}
	for _, name := range o.Preset.WriteFiles {
		path := filepath.Join(home, name)
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = f.WriteString("{}\n")
			err = errors.Join(err, f.Close())
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		all = append(all, path)
	}
	return all, nil
}

// makeKept makes settings that say nothing, unless there are some.
func makeKept(path, name string) error {
	if strings.HasSuffix(name, "/") {
		return os.MkdirAll(path, 0o700)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if strings.HasSuffix(name, ".json") {
		_, err = f.WriteString("{}\n")
	}
	return errors.Join(err, f.Close())
}

// nested are variables by which a program knows that it runs inside another
// one of its kind, and refuses or behaves differently.
var nested = []string{"CLAUDECODE=", "CLAUDE_CODE_ENTRYPOINT=", "CLAUDE_CODE_SESSION", "CODEX_SANDBOX", "CODEX_THREAD", "OPENCODE=", "GEMINI_CLI=", "QWEN_CODE="}

// env is what a program needs: its own keys and nobody else's.
func (o Options) env(t cli.Task) []string {
	keep := append(append([]string{}, o.Preset.Pass...), o.Keep...)
	env := append([]string{}, o.Preset.Quiet...)
	for _, kv := range process.ScrubEnv(o.Environ, keep...) {
		if !hasPrefix(kv, nested) {
			env = append(env, kv)
		}
	}
	return append(env, t.Env...)
}

func hasPrefix(s string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

func lookup(env []string, name string) string {
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}

// NotStarted says why there is no process.
func (o Options) NotStarted(err error, used message.Usage) error {
	e := &model.Error{Kind: model.Ended, Model: o.Name, Account: o.Account, Detail: err.Error(), Usage: used, Cause: err}
	var start *process.StartError
	if errors.As(err, &start) {
		e.Kind, e.Detail = model.BadRequest, fmt.Sprintf("%s could not be started: %v", o.Program, start.Err)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, osexec.ErrNotFound) {
			e.Detail = o.Program + " was not found"
		}
	}
	return e
}
