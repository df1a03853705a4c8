package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"orch/blackboard"
	"orch/blackboard/journal"
	"orch/blackboard/message"
	"orch/blackboard/plainfile"
	"orch/roles/act/check"
	"orch/roles/act/process"
	"orch/roles/act/tool"
	"orch/roles/act/tool/gate"
	"orch/roles/act/workspace"
	"orch/roles/loop"
	"orch/roles/run/config"
	"orch/roles/run/socket"
	"orch/roles/run/step"
	"orch/roles/run/supervisor"
	"orch/roles/think/agent"
	"orch/roles/think/choose"
)

// stepWorld is a step's environment and what has to be removed after it.
type stepWorld struct {
	*step.Env
	meter   *choose.Meter
	scratch string
	asks    *step.Requests
	token   string   // of the step's socket
	speaks  []string // environment of what may ask through the socket; empty without one
	stop    func()   // of the step's socket
	shut    func()   // removes the step's own caches
}

// close removes what was made for the step.
func (w stepWorld) close() {
	w.stop()
	w.shut()
	os.RemoveAll(w.scratch)
}

// mayAsk tells whether a role's step has a socket: it starts agents or commands
// that may ask and claim. Checks, setup and hooks are not told of it.
func mayAsk(role message.Role) bool { return loop.Holds(role) || role == message.CodeReviewer }

// listen opens the step's private socket, whose name and token are settled.
func (w *stepWorld) listen(ctx context.Context, role message.Role, marker string) error {
	_, stop, err := socket.Serve(ctx, socket.Dir(marker), socket.Session{
		Step: os.Getpid(), Token: w.token,
		Handle: func(ctx context.Context, body message.Body) (message.ID, error) { return w.asks.Hear(ctx, w.Env, body) },
		Refused: func(ctx context.Context, s socket.Stranger) {
			w.asks.Refused(ctx, w.Env, s.PID, s.Command, s.Why)
		},
	})
	if err != nil {
		return err
	}
	w.stop = stop
	if role == message.Executor { // coders and reviewers listen by themselves, while their agent works
		w.asks.Open(func(ctx context.Context, body message.Body) (message.ID, error) {
			a, ok := body.(message.Anomaly)
			if !ok {
				return "", &step.NotYoursError{What: fmt.Sprintf("an executor's command may not say %s", body.Type()), Do: "orch note anomaly"}
			}
			return w.RelayAnomaly(ctx, a)
		})
	}
	return nil
}

// stepMaker puts together what one step may use.
type stepMaker struct {
	*app
	board *blackboard.Board
	cfg   config.Config
	claim supervisor.Claim

	world  stepWorld
	input  message.UserInput // of the goal
	rules  []gate.Rule       // permissions
	keep   *keeper           // nil when nothing is confined
	heart  *step.Heart
	spec   process.Spec // of checks, confined to the project
	tools  process.Spec // of tools: the same, with the step's socket
	apart  process.Spec // of what has no business in the project: the scratch is all it may write
	agents agent.World
	whole  *integrated // what a coding goal has merged, for the role that judges it
}

// stepEnv gives a step all it may use.
func (a *app) stepEnv(ctx context.Context, b *blackboard.Board, cfg config.Config, c supervisor.Claim, stop context.CancelCauseFunc) (stepWorld, error) {
	m := &stepMaker{app: a, board: b, cfg: cfg, claim: c, heart: &step.Heart{}}
	var err error
	if m.world.meter, m.input, err = a.stepMeter(ctx, b, cfg, c, stop); err != nil {
		return stepWorld{}, err
	}
	if err := m.processes(ctx); err != nil {
		return stepWorld{}, err
	}
	think, err := a.thinking(cfg, m.input, c.Activation.Key.Role, m.world.meter, m.agents)
	if err != nil {
		return stepWorld{}, err
	}
	code, err := a.codeEnv(ctx, b, cfg, c, m.input, m.world.meter, m.agents, m.world.asks, m.world.speaks, m.keep)
	if err != nil {
		return stepWorld{}, err
	}
	if err := m.fill(ctx, think); err != nil {
		return stepWorld{}, err
	}
	m.world.Code = code
	if w := &m.world; mayAsk(w.Role()) {
		if err := w.listen(ctx, w.Role(), c.Marker); err != nil {
			return stepWorld{}, err
		}
	}
	return m.world, nil
}

// processes settles how and where the step's commands and agents run.
func (m *stepMaker) processes(ctx context.Context) (err error) {
	root, role := m.board.Root(), m.claim.Activation.Key.Role
	m.world.asks = &step.Requests{}
	if m.world.scratch, err = stepScratch(m.claim.Marker); err != nil {
		return err
	}
	spec, err := m.processSpec(m.cfg, m.claim)
	if err != nil {
		return err
	}
	// Output is progress: while a command says something, its task stays claimed.
	spec.OnOutput = func([]byte) { m.heart.Beat("output") }
	m.world.stop, m.world.shut = func() {}, func() {}
	if err := socket.MakeFolder(); err != nil {
		return err
	}
	if mayAsk(role) {
		m.world.token = rand.Text()
		m.world.speaks = []string{socket.Env + "=" + socket.Path(m.claim.Marker), socket.TokenEnv + "=" + m.world.token}
	}
	if m.rules, err = m.goalRules(ctx, m.board, m.cfg, m.claim.Activation.Goal); err != nil {
		return err
	}
	opened := m.rules // by a person, for what acts; not for what thinks, checks or codes
	if role != message.Executor {
		opened = nil
	}
	if m.keep, err = m.keeperOf(ctx, m.cfg, root, m.world.scratch, opened); err != nil {
		return err
	}
	if err := m.openCaches(ctx, spec); err != nil {
		return err
	}
	m.agents = agent.World{Environ: m.keep.agentEnviron(), Process: spec, Workspace: root, Scratch: m.world.scratch, Now: time.Now, Confine: m.keep.asking(m.claim.Marker, len(m.world.speaks) > 0).hook()}
	if m.apart, err = m.keep.around(spec); err != nil {
		return err
	}
	if m.whole, err = m.judgedWhole(ctx, m.board, m.cfg, m.claim, m.world.scratch, m.apart); err != nil {
		return err
	}
	if m.whole != nil {
		m.agents.Workspace = m.whole.dir
	}
	files := m.board.FilesDir(m.claim.Activation.Goal)
	if err := os.MkdirAll(files, 0o755); err != nil {
		return fmt.Errorf("make a place for what commands leave: %w", err)
	}
	if m.spec, err = m.keep.around(spec, root, files); err != nil {
		return err
	}
	m.tools, err = m.keep.asking(m.claim.Marker, len(m.world.speaks) > 0).around(spec, root, files)
	m.tools.Env = slices.Concat(m.tools.Env, m.world.speaks)
	return err
}

// fill makes the step's environment of all that is settled.
func (m *stepMaker) fill(ctx context.Context, think thoughts) error {
	values, err := valuesFor(ctx, m.board, m.claim.Activation.Goal, m.claim.Activation.Key.Role)
	if err != nil {
		return err
	}
	box, err := m.box(m.board, m.claim, m.cfg, m.world.scratch, m.tools, m.rules)
	if err != nil {
		return err
	}
	clock := supervisor.SystemClock{}
	root := m.board.Root()
	checks := check.Env{Workspace: root, WallMS: m.cfg.Limits.CheckWallMS, Process: m.spec, Redact: blackboard.NewRedactor(os.Environ())}
	listen, heed, err := m.heeded()
	if err != nil {
		return err
	}
	m.world.Env = &step.Env{
		Board: m.board, Key: m.claim.Activation.Key, Goal: m.claim.Activation.Goal, Agent: m.claim.Agent, Fence: m.claim.Fence,
		Workspace: root, Values: values,
		Perceiver: think.perceiver, Planner: think.planner, Executor: think.executor, Judge: think.judge, Merger: think.merger,
		PlannedBy: think.planned, Box: box, Heart: m.heart,
		Checks:      func(ctx context.Context, ch check.Check) check.Verdict { return heed(ctx, ch, checks) },
		ChecksApart: checksApart(checks, m.apart, filepath.Join(m.world.scratch, "before"), m.keep.hidden(), listen),
		Lease:       func() message.Lease { return supervisor.NewLease(clock, m.cfg.Limits.LeaseMS) },
		Settings:    step.SettingsOf(m.board.Dir(), gitDirsOf(root)...),
		Clock:       clock, IDs: journal.UUIDs{}, Random: rand.Reader, Redact: checks.Redact, Config: m.cfg,
		Log: func(format string, args ...any) { say(m.err, format+"\n", args...) },
	}
	if m.whole != nil {
		checks.Process = m.apart
		m.world.Checks, m.world.Change, m.world.Whole = m.whole.checks(checks, heed), m.whole.change, m.whole.intact
	}
	return nil
}

// checksApart runs checks on a copy of the workspace, which is made for the
// first one, without what is hidden there. What can not be copied can not be
// judged there.
func checksApart(env check.Env, apart process.Spec, dir string, hidden []string, run checking) step.Checks {
	from := env.Workspace
	env.Workspace, env.Process = dir, apart
	copied := sync.OnceValue(func() error {
		err := workspace.Copy(from, dir)
		for _, path := range hidden {
			if rel, rerr := filepath.Rel(from, path); rerr == nil && filepath.IsLocal(rel) && rel != "." {
				err = errors.Join(err, os.RemoveAll(filepath.Join(dir, rel)))
			}
		}
		return err
	})
	return func(ctx context.Context, ch check.Check) check.Verdict {
		if err := copied(); err != nil {
			return check.Verdict{Class: check.Environmental, Evidence: err.Error()}
		}
		return run(ctx, ch, env)
	}
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
		Workspace: b.Root(), Created: created, Scratch: scratch, Files: b.FilesDir(c.Activation.Goal), Home: home, Rules: rules, Process: spec,
		Redact: blackboard.NewRedactor(os.Environ()), Search: tool.Search{Endpoint: cfg.Search.Endpoint},
	})
}

// createdBy tells what a goal itself made, and may delete or replace: what was
// not there when the goal's first executor started. Steps that run no tools
// need no answer.
func createdBy(b *blackboard.Board, c supervisor.Claim) (func(path string) bool, error) {
	if !loop.Holds(c.Activation.Key.Role) {
		return nil, nil
	}
	base, err := baselineOf(b.GoalDir(c.Activation.Goal), b.Root())
	if err != nil {
		return nil, err
	}
	return base.Created, nil
}

// baselineOf is what was there when the goal's first executor started. Of
// executors that start at once one looks, and the others wait for what it saw:
// by then that one may have made files of its own.
func baselineOf(dir, root string) (base tool.Baseline, err error) {
	path := filepath.Join(dir, "baseline.json")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return base, fmt.Errorf("note what is there at the goal's start: %w", err)
	}
	lock := journal.OSFS{}.NewLock(path + ".lock")
	if err := lock.Lock(); err != nil {
		return base, fmt.Errorf("wait for what was there at the goal's start: %w", err)
	}
	defer func() { _ = lock.Close() }() // the system unlocks a closed file anyway
	raw, err := plainfile.Read(path)
	if err == nil {
		err = json.Unmarshal(raw, &base)
	}
	if err == nil {
		return base, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return base, fmt.Errorf("read what was there at the goal's start: %w", err)
	}
	base = tool.TakeBaseline(root)
	if raw, err = json.Marshal(base); err == nil {
		err = journal.WriteFileAtomic(journal.OSFS{}, path, raw, 0o644)
	}
	if err != nil {
		return base, fmt.Errorf("note what is there at the goal's start: %w", err)
	}
	return base, nil
}
