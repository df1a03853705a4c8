package tool

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"orch/roles/act/process"
	"orch/roles/act/tool/gate"
)

// Limits that hold unless Options say otherwise.
const (
	DefaultKeepBytes = 1 << 20
	DefaultRepeatMax = 3
	DefaultWallMS    = 10 * 60 * 1000 // of a shell command
	fetchLimit       = 60 * time.Second
)

// MustNot is what the plan's constraints forbid.
type MustNot struct {
	Approaches []string // as Target returns them, such as shell:npm
	Targets    []string
}

// Search says how web_search is answered; empty means it is not configured.
type Search struct {
	Command  []string // argv; {query} in an argument is replaced
	Endpoint string   // URL; {query} is replaced by the escaped query
}

// Options is what a Box is made of. Only Workspace is required.
type Options struct {
	Workspace   string
	Scratch     string // temporary directory of the step, freely writable
	Files       string // folder of the goal's own files, freely writable
	Home        string
	Rules       []gate.Rule            // from config and --allow
	Created     func(path string) bool // absolute path: made by this goal? nil: since the Box's first effect
	MustNot     MustNot
	Process     process.Spec        // defaults: Env, limits, Marker, Guard
	Redact      func([]byte) []byte // applied to every output
	Search      Search
	HTTP        *http.Client           // for fetch and web_search endpoints; nil: a client with limits
	KeepBytes   int                    // of an output; 0: DefaultKeepBytes
	RepeatMax   int                    // the n-th identical call is refused if those before had one result; 0: DefaultRepeatMax
	Fingerprint func() (string, error) // of the workspace; nil: names, sizes and times of its files
	NowMS       func() int64           // for durations; nil: the system's clock
}

// Box is the tools of one step. It may be used from several goroutines.
type Box struct {
	opt   Options
	facts *facts
	gate  gate.Gate
	shell []string // argv before the command line

	mu      sync.Mutex
	results map[string]sameResults
	effects int // calls so far that may have changed something
}

// New checks the options.
func New(opt Options) (*Box, error) {
	if opt.Workspace == "" {
		return nil, errors.New("tools without a workspace")
	}
	root, err := realDir(opt.Workspace)
	if err != nil {
		return nil, fmt.Errorf("open the workspace for tools: %w", err)
	}
	opt.Workspace = root
	var free []string
	for what, dir := range map[string]*string{"the scratch directory": &opt.Scratch, "the goal's files": &opt.Files} {
		if *dir == "" {
			continue
		}
		if *dir, err = realDir(*dir); err != nil {
			return nil, fmt.Errorf("open %s for tools: %w", what, err)
		}
		free = append(free, *dir)
	}
	for _, r := range opt.Rules {
		if err := r.Validate(); err != nil {
			return nil, err
		}
	}
	if opt.KeepBytes <= 0 {
		opt.KeepBytes = DefaultKeepBytes
	}
	if opt.RepeatMax <= 0 {
		opt.RepeatMax = DefaultRepeatMax
	}
	if opt.HTTP == nil {
		opt.HTTP = newClient()
	}
	if opt.NowMS == nil {
		opt.NowMS = func() int64 { return time.Now().UnixMilli() }
	}
	b := &Box{opt: opt, facts: &facts{root: root, free: free, created: opt.Created}, results: map[string]sameResults{}}
	var dialect gate.Dialect
	b.shell, dialect = findShell()
	b.gate = gate.Gate{Facts: b.facts, Rules: slices.Clone(opt.Rules), Dialect: dialect, Vars: b.vars()}
	return b, nil
}

func realDir(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return "", fmt.Errorf("%s is not a directory", dir)
	}
	return real, nil
}

// findShell prefers bash without its start-up files, so that the gate reads a
// command the way it will be run.
func findShell() ([]string, gate.Dialect) {
	if path, err := exec.LookPath("bash"); err == nil {
		return []string{path, "--noprofile", "--norc", "-c"}, gate.Bash
	}
	return []string{"sh", "-c"}, gate.POSIX
}

// vars are the variables whose value a command will see, as far as the gate
// may rely on them.
func (b *Box) vars() map[string]string {
	vars := map[string]string{}
	if b.opt.Home != "" {
		vars["HOME"] = b.opt.Home
	}
	if b.opt.Scratch != "" {
		vars["TMPDIR"] = b.opt.Scratch
	}
	return vars
}

// Do refuses a call or runs it. It never returns an error: what went wrong is
// in the Result.
func (b *Box) Do(ctx context.Context, c Call) Result {
	began := b.opt.NowMS()
	r := b.do(ctx, c)
	r.DurationMS = b.opt.NowMS() - began
	return r
}

func (b *Box) do(ctx context.Context, c Call) Result {
	act, err := decode(c)
	if err != nil {
		return b.finish(failed(err))
	}
	if d := b.forbidden(c); d != nil {
		return refused(d)
	}
	key := b.repeatKey(c)
	if d := b.repeated(key); d != nil {
		return refused(d)
	}
	if d := b.judge(act); d != nil {
		return refused(d)
	}
	effect := !b.idempotent(act)
	if effect {
		b.facts.beforeEffect()
	}
	r := b.finish(act.run(ctx, b))
	if ctx.Err() == nil {
		b.remember(key, r, effect)
	}
	return r
}

// May tells whether a call would pass, without making it. It has no effect.
func (b *Box) May(c Call) bool {
	act, err := decode(c)
	return err == nil && b.forbidden(c) == nil && b.judge(act) == nil
}

// judge asks the gate about an action.
func (b *Box) judge(a action) *Denial {
	for _, d := range a.gate(b) {
		if refusal := denial(d); refusal != nil {
			return refusal
		}
	}
	return nil
}

// forbidden applies the plan's constraints.
func (b *Box) forbidden(c Call) *Denial {
	approach, target := b.Target(c)
	switch {
	case slices.Contains(b.opt.MustNot.Approaches, approach):
		return &Denial{Kind: DeniedMustNot, Reason: "the plan must not use " + approach, Hint: "choose another approach"}
	case slices.Contains(b.opt.MustNot.Targets, target):
		return &Denial{Kind: DeniedMustNot, Reason: "the plan must not use the target " + target, Hint: "choose another target"}
	}
	return nil
}

// Permit asks for permission of something that no call shows; nil: it is given.
func (b *Box) Permit(action gate.Action, target, why string) *Denial {
	return denial(b.gate.Permit(action, target, why))
}

func denial(d gate.Decision) *Denial {
	switch {
	case d.Allow:
		return nil
	case d.DeniedBy != "":
		return &Denial{Kind: DeniedRule, Reason: d.Reason, Hint: "a rule forbids this; choose another way"}
	}
	return &Denial{Kind: DeniedGate, Reason: d.Reason, Hint: "orch allow " + d.Needs.ID, Needs: d.Needs}
}

func refused(d *Denial) Result {
	text := "[denied] " + d.Reason
	r := Result{Exit: -1, Denied: text, Denial: d, Output: []byte(text + "\nhint: " + d.Hint + "\n")}
	r.Head, r.Tail = headAndTail(r.Output)
	return r
}

func failed(err error) Result { return Result{Exit: 1, Output: []byte("error: " + err.Error() + "\n")} }

// finish redacts, bounds and summarises an output.
func (b *Box) finish(r Result) Result {
	if b.opt.Redact != nil {
		r.Output = b.opt.Redact(r.Output)
	}
	if len(r.Output) > b.opt.KeepBytes {
		r.Output = cut(r.Output, b.opt.KeepBytes)
		r.Truncated = true
	}
	r.Head, r.Tail = headAndTail(r.Output)
	return r
}

// Idempotent tells whether a call can be run again without a second effect: a
// reading tool, or a shell command that provably changes nothing.
func (b *Box) Idempotent(c Call) bool {
	act, err := decode(c)
	return err == nil && b.idempotent(act)
}

func (b *Box) idempotent(a action) bool {
	if s, ok := a.(*ShellInput); ok {
		return b.gate.Shell(s.Command, b.dirOf(s.Dir)).ReadOnly
	}
	return a.reads()
}
