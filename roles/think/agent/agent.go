// Package agent makes a backend of an agent program: a model.Client for roles
// that think, and a think.Executor for the role that acts.
//
// It owns the settings a person writes under models.<role>.options, the
// prompts an acting agent gets, the list of agents on this machine, and the
// conformance run with its capability card. exec and acp run the programs, cli
// knows them.
//
// It promises that a thinking role's agent may only look, that an acting
// role's agent is watched as one journalled call with every tool call its
// stream shows recorded, and that a limit is a *model.Error of kind limit with
// the time it ends, if the agent said it.
//
// It never touches the board, and never judges what an agent claims.
package agent

import (
	"context"
	"fmt"

	"orch/roles/think/agent/acp"
	"orch/roles/think/agent/cli"
	"orch/roles/think/agent/exec"
)

// The vocabulary of a run.
type (
	Task   = cli.Task
	Result = cli.Result
	Event  = cli.Event
	Access = cli.Access
)

// Kinds of backends this package makes.
const (
	Exec = "exec"
	ACP  = "acp"
)

// Agent is one agent program behind one account. It may be used from several
// goroutines.
type Agent struct {
	set    settings
	world  World
	runner runner
}

type runner interface {
	Run(context.Context, cli.Task) (cli.Result, error)
}

// New makes an agent of a configuration entry: its backend (exec or acp), the
// model's name (empty: the agent's own choice) and its options. An error names
// the option that is wrong.
func New(kind, name string, options map[string]string, w World) (*Agent, error) {
	set, err := parse(kind, name, options)
	if err != nil {
		return nil, err
	}
	a := &Agent{set: set, world: w}
	o := exec.Options{
		Preset: set.preset, Program: set.program, Model: name, More: set.args, Name: a.Model(), Account: a.Account(),
		Environ: w.Environ, Keep: set.keep, WallMS: set.wallMS, IdleMS: set.idleMS, LingerMS: set.lingerMS,
		StreamBytes: w.StreamBytes, Process: w.Process, Scratch: w.Scratch, Now: w.Now, Confine: w.Confine,
	}
	switch kind {
	case Exec:
		a.runner = exec.New(o)
	case ACP:
		a.runner = acp.New(o)
	default:
		return nil, fmt.Errorf("backend %q drives no agent; allowed: %s, %s", kind, Exec, ACP)
	}
	return a, nil
}

// Run gives the agent one task and waits for its end. An error is a
// *model.Error, or the context's cause; the result is filled as far as known.
func (a *Agent) Run(ctx context.Context, t Task) (Result, error) {
	if t.Access == "" {
		t.Access = a.set.access
	}
	if !a.set.serve {
		t.Tools = nil
	}
	return a.runner.Run(ctx, t)
}

// Model is the name the records carry, such as "exec:claude/opus".
func (a *Agent) Model() string {
	name := a.set.kind + ":" + a.set.title
	if a.set.model != "" {
		name += "/" + a.set.model
	}
	return name
}

// Account tells accounts apart for limits. A program has one account, however
// it is driven, unless the configuration says otherwise.
func (a *Agent) Account() string { return a.set.account }
