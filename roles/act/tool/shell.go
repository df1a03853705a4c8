package tool

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"orch/roles/act/process"
	"orch/roles/act/tool/gate"
)

func (s *ShellInput) check() error {
	if s.TimeoutMS < 0 {
		return fmt.Errorf("timeout_ms is negative")
	}
	return need("command", strings.TrimSpace(s.Command))
}

func (s *ShellInput) reads() bool { return false } // Box.idempotent asks the gate

func (s *ShellInput) gate(b *Box) []gate.Decision {
	dir := b.dirOf(s.Dir)
	out := []gate.Decision{b.gate.Shell(s.Command, dir)}
	if s.Dir != "" {
		out = append(out, b.gate.Read(string(Shell), dir))
	}
	return out
}

func (s *ShellInput) target(b *Box) string {
	command := normalCommand(s.Command)
	if s.Dir != "" && b.rel(s.Dir) != "." {
		return "cd " + b.rel(s.Dir) + " && " + command
	}
	return command
}

func (s *ShellInput) run(ctx context.Context, b *Box) Result {
	spec := b.opt.Process
	spec.Argv = append(append([]string{}, b.shell...), s.Command)
	spec.Dir = b.dirOf(s.Dir)
	spec.Session = true
	if spec.WallMS <= 0 {
		spec.WallMS = DefaultWallMS
	}
	if s.TimeoutMS > 0 {
		spec.WallMS = min(spec.WallMS, s.TimeoutMS)
	}
	return b.command(ctx, spec)
}

// confinedNote explains to who made a call what the system's words do not.
const confinedNote = "[confined: only the project, $TMPDIR and caches can be written]\n"

// command runs a process and puts its end into a Result.
func (b *Box) command(ctx context.Context, spec process.Spec) Result {
	if spec.KeepBytes <= 0 {
		spec.KeepBytes = b.opt.KeepBytes
	}
	spec.Env = b.env(spec.Env)
	p := process.Run(ctx, spec)
	r := Result{Exit: p.Exit, Output: kept(p), Truncated: p.Truncated, Ended: p.Why(), Leftovers: len(p.Leftovers)}
	if p.Exit != 0 && spec.Confine != nil && bytes.Contains(r.Output, []byte("Read-only file system")) {
		r.Output = append(r.Output, confinedNote...)
	}
	switch {
	case p.Err != nil:
		r.Exit, r.Infra = -1, p.Err.Error()
		r.Output = append(r.Output, "error: "+p.Err.Error()+"\n"...)
	case p.Ended():
		r.Exit = -1
		r.Output = append(r.Output, "\n[ended: "+p.Why()+"]\n"...)
	case p.Signal != "":
		r.Output = append(r.Output, "\n[ended by "+p.Signal+"]\n"...)
	}
	return r
}

// edgeBytes is how far from where an output was cut a line's end is looked for.
const edgeBytes = 4 << 10

// kept is the kept output. Where its middle was left out, the lines that were
// cut in two go as well: half a secret would not be recognised.
func kept(p process.Result) []byte {
	if p.Truncated {
		edge := len(p.Head) - min(len(p.Head), edgeBytes)
		p.Head = p.Head[:edge+bytes.LastIndexByte(p.Head[edge:], '\n')+1]
		cut := p.Tail[:min(len(p.Tail), edgeBytes)]
		if i := bytes.IndexByte(cut, '\n'); i >= 0 {
			cut = cut[:i+1]
		}
		p.Tail = p.Tail[len(cut):]
	}
	return p.Output()
}

// env gives commands the variables that the gate relies on.
func (b *Box) env(base []string) []string {
	vars := b.vars()
	out := make([]string, 0, len(base)+len(vars))
	for _, kv := range base {
		name, _, _ := strings.Cut(kv, "=")
		if _, ours := vars[name]; !ours {
			out = append(out, kv)
		}
	}
	for _, name := range []string{"HOME", "TMPDIR"} {
		if v, ok := vars[name]; ok {
			out = append(out, name+"="+v)
		}
	}
	return out
}
