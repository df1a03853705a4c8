package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"orch/blackboard"
	"orch/blackboard/journal"
	"orch/blackboard/message"
	"orch/roles"
	"orch/roles/backend/agent"
	"orch/roles/backend/choose"
	"orch/roles/check"
	"orch/roles/config"
	"orch/roles/process"
	"orch/roles/socket"
	"orch/roles/step"
	"orch/roles/supervisor"
	"orch/roles/tool"
	"orch/roles/tool/gate"
)

// stepWorld is a step's environment and what has to be removed after it.
type stepWorld struct {
	*step.Env
	meter   *choose.Meter
	scratch string
	ears    *step.Ears
	stop    func() // of the step's socket
}

// close removes what was made for the step.
func (w stepWorld) close() {
	w.stop()
	os.RemoveAll(w.scratch)
}

// listen opens the step's private socket, through which commands it starts may
// say what its role may say. Only steps that start commands have one.
func (w *stepWorld) listen(ctx context.Context, role message.Role, marker string, spec *process.Spec) error {
	w.stop = func() {}
	if !roles.Holds(role) && role != message.CodeReviewer {
		return nil
	}
	path, stop, err := socket.Serve(ctx, socket.Dir(marker), func(ctx context.Context, body message.Body) (message.ID, error) {
		if role != message.Executor { // coders and reviewers ask; what they may say their step decides
			return w.ears.Hear(ctx, body)
		}
		m, err := w.Say(ctx, body)
		return m.ID, err
	})
	if err != nil {
		return err
	}
	w.stop = stop
	spec.Env = append(spec.Env, socket.Env+"="+path)
	return nil
}

// stepEnv gives a step all it may use.
func (a *app) stepEnv(ctx context.Context, b *blackboard.Board, cfg config.Config, c supervisor.Claim, stop context.CancelCauseFunc) (stepWorld, error) {
	root := b.Root()
	meter, input, err := a.stepMeter(ctx, b, cfg, c, stop)
	if err != nil {
		return stepWorld{}, err
	}
	scratch, err := stepScratch(c.Marker)
	if err != nil {
		return stepWorld{}, err
	}
	values, err := os.ReadFile(filepath.Join(b.Dir(), "values.md"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return stepWorld{}, fmt.Errorf("read values.md: %w", err)
	}
	spec, err := a.processSpec(cfg, c)
	if err != nil {
		return stepWorld{}, err
	}
	// Output is progress: while a command says something, its task stays claimed.
	heart := &step.Heart{}
	spec.OnOutput = func([]byte) { heart.Beat("output") }
	world := stepWorld{meter: meter, scratch: scratch, ears: &step.Ears{}}
	if err := world.listen(ctx, c.Activation.Key.Role, c.Marker, &spec); err != nil {
		return stepWorld{}, err
	}
	rules, err := a.goalRules(ctx, b, cfg, c.Activation.Goal)
	if err != nil {
		return stepWorld{}, err
	}
	keep, err := a.keeperOf(ctx, cfg, root, scratch, rules)
	if err != nil {
		return stepWorld{}, err
	}
	agents := agent.World{Environ: os.Environ(), Process: spec, Workspace: root, Scratch: scratch, Now: time.Now, Confine: keep.hook()}
	apart, err := keep.around(spec) // from the project: its scratch is all it may write
	if err != nil {
		return stepWorld{}, err
	}
	whole, err := a.judgedWhole(ctx, b, cfg, c, scratch, apart)
	if err != nil {
		return stepWorld{}, err
	}
	if whole != nil {
		agents.Workspace = whole.dir
	}
	think, err := a.thinking(cfg, input, c.Activation.Key.Role, meter, agents)
	if err != nil {
		return stepWorld{}, err
	}
	code, err := a.codeEnv(ctx, b, cfg, c, input, meter, agents, world.ears, keep)
	if err != nil {
		return stepWorld{}, err
	}
	files := b.FilesDir(c.Activation.Goal)
	if err := os.MkdirAll(files, 0o755); err != nil {
		return stepWorld{}, fmt.Errorf("make a place for what commands leave: %w", err)
	}
	if spec, err = keep.around(spec, root, files); err != nil { // of tools and checks; agents ask for more
		return stepWorld{}, err
	}
	box, err := a.box(b, c, cfg, scratch, spec, rules)
	if err != nil {
		return stepWorld{}, err
	}
	redact := blackboard.NewRedactor(os.Environ())
	clock := supervisor.SystemClock{}
	checks := check.Env{Workspace: root, WallMS: cfg.Limits.CheckWallMS, Process: spec, Redact: redact}
	world.Env = &step.Env{
		Board: b, Key: c.Activation.Key, Goal: c.Activation.Goal, Agent: c.Agent, Fence: c.Fence,
		Workspace: root, Values: string(values),
		Perceiver: think.perceiver, Planner: think.planner, Executor: think.executor, Judge: think.judge, Merger: think.merger,
		PlannedBy: think.planned, Code: code,
		Box: box,
		Checks: func(ctx context.Context, ch check.Check) check.Verdict {
			return check.Run(ctx, ch, checks)
		},
		Heart:    heart,
		Lease:    func() message.Lease { return supervisor.NewLease(clock, cfg.Limits.LeaseMS) },
		Settings: step.SettingsOf(b.Dir(), gitDirsOf(root)...),
		Clock:    clock, IDs: journal.UUIDs{}, Config: cfg,
		Log: func(format string, args ...any) { fmt.Fprintf(a.err, format+"\n", args...) },
	}
	if whole != nil {
		checks.Process = apart
		world.Env.Checks, world.Env.Change = whole.checks(checks), whole.change
	}
	return world, nil
}

// processSpec bounds every command a step starts.
func (a *app) processSpec(cfg config.Config, c supervisor.Claim) (process.Spec, error) {
	exe, err := executable()
	if err != nil {
		return process.Spec{}, err
	}
	l := cfg.Limits
	return process.Spec{
		Env: process.ScrubEnv(os.Environ()), WallMS: l.CallWallMS, IdleMS: l.StepIdleMS, GraceMS: l.GraceMS, MaxOutputBytes: l.OutputBytes * 8,
		KeepBytes: int(l.OutputBytes), Marker: process.Marker(c.Marker), Session: true, Guard: []string{exe, "guard", "--"},
	}, nil
}

// goalRules are the permissions of the configuration, of the command line, and
// of the person's answers so far.
func (a *app) goalRules(ctx context.Context, b *blackboard.Board, cfg config.Config, goal message.GoalID) ([]gate.Rule, error) {
	var given []string
	var input message.UserInput
	err := b.View(ctx, func(st *blackboard.State) error {
		given = st.Rules(goal)
		g, ok := st.Goal(goal)
		if ok {
			input = g.Input
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	rules, err := rulesOf[gate.Rule](given)
	if err != nil {
		return nil, err
	}
	more, err := permissions(cfg, input)
	return append(rules, more...), err
}

// box is the tool layer under the permissions of the goal.
func (a *app) box(b *blackboard.Board, c supervisor.Claim, cfg config.Config, scratch string, spec process.Spec, rules []gate.Rule) (*tool.Box, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	created, err := createdBy(b, c)
	if err != nil {
		return nil, err
	}
	return tool.New(tool.Options{
		Workspace: b.Root(), Created: created, Scratch: scratch, Home: home, Rules: rules, Process: spec,
		Redact: blackboard.NewRedactor(os.Environ()), Search: tool.Search{Endpoint: cfg.Search.Endpoint},
	})
}

// createdBy tells what a goal itself made, and may delete or replace: what was
// not there when the goal's first executor started. Steps that run no tools
// need no answer.
func createdBy(b *blackboard.Board, c supervisor.Claim) (func(path string) bool, error) {
	if !roles.Holds(c.Activation.Key.Role) {
		return nil, nil
	}
	path := filepath.Join(b.GoalDir(c.Activation.Goal), "baseline.json")
	raw, err := os.ReadFile(path)
	if err == nil {
		var base tool.Baseline
		if err := json.Unmarshal(raw, &base); err != nil {
			return nil, fmt.Errorf("read what was there at the goal's start: %w", err)
		}
		return base.Created, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read what was there at the goal's start: %w", err)
	}
	base := tool.TakeBaseline(b.Root())
	if raw, err = json.Marshal(base); err != nil {
		return nil, err
	}
	// Only a supervisor makes the goal's folder before; a step started by a script is alone.
	err = os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = journal.WriteFileAtomic(journal.OSFS{}, path, raw, 0o644)
	}
	if err != nil {
		return nil, fmt.Errorf("note what is there at the goal's start: %w", err)
	}
	return base.Created, nil
}
