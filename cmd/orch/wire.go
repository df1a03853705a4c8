package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/loop"
	"orch/roles/run/config"
	"orch/roles/run/supervisor"
)

// initBoard makes the board of a project if there is none.
func (a *app) initBoard(root string) error {
	b, err := blackboard.Init(root, a.options(person()))
	if err != nil {
		return err
	}
	return b.Close()
}

// openSupervisor opens the board under a supervisor id that nobody else has.
func (a *app) openSupervisor(ctx context.Context, root string) (*session, error) {
	for range 100 {
		id, err := a.nextSupervisor(ctx, root)
		if err != nil {
			return nil, err
		}
		s, err := a.openAt(root, id)
		if err != nil {
			return nil, err
		}
		me, err := registration(id.Agent, message.Supervisor, message.AgentWorking)
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		taken, err := register(ctx, s.Board, me)
		if err == nil && !taken {
			s.fresh.stop() // the supervisor tends the view
			s.registered = a.stayRegistered(s.Board, "", me)
			return s, nil
		}
		if cerr := s.Close(); err != nil || cerr != nil {
			return nil, errors.Join(err, cerr)
		}
	}
	return nil, errors.New("no supervisor id is free after 100 tries")
}

func (a *app) nextSupervisor(ctx context.Context, root string) (blackboard.Identity, error) {
	o := a.options(blackboard.Identity{})
	o.ReadOnly = true
	b, err := blackboard.Open(root, o)
	if err != nil {
		return blackboard.Identity{}, err
	}
	defer b.Close()
	var agent message.AgentID
	if err := b.View(ctx, func(st *blackboard.State) error { agent = st.NextAgent(message.Supervisor); return nil }); err != nil {
		return blackboard.Identity{}, err
	}
	return blackboard.NewIdentity(agent)
}

// newSupervisor puts a supervisor together for one goal.
func (a *app) newSupervisor(s *session, cfg config.Config, goal message.GoalID, interactive bool) (*supervisor.Supervisor, error) {
	exe, err := executable()
	if err != nil {
		return nil, err
	}
	holder, err := supervisor.Self()
	if err != nil {
		return nil, err
	}
	tells, err := a.tellLayers(cfg)
	if err != nil {
		return nil, err
	}
	guard, err := a.guardFor(s.Root(), "")
	if err != nil {
		return nil, err
	}
	if home, err := os.UserHomeDir(); err == nil && cfg.Confine != confineOff {
		tells = append(tells, hideEnv+"="+strings.Join(holding(home), string(filepath.ListSeparator)))
	}
	tells = append(tells, trustedEnv+"="+guard.Seen(), blackboard.KeysEnv+"="+os.Getenv(blackboard.KeysEnv))
	policy := loop.PolicyOf(cfg)
	policy.Thinks = thinksOf(cfg)
	policy.Terminal = interactive
	policy.Boot, _ = supervisor.SystemClock{}.Awake()
	policy.MemoryResident = true // one of the residents below
	flags := []string{}
	if a.unsafeFS {
		flags = append(flags, "--unsafe-fs")
	}
	root := s.Root()
	resident := func(name string, role message.Role, args ...string) supervisor.Resident {
		argv := slices.Concat([]string{exe, "-C", root}, flags, args)
		return &supervisor.ResidentProcess{Argv: argv, Root: root, Env: os.Environ(), Secrets: a.residentKeeps(s.Board, cfg, role), Tells: tells,
			Log: filepath.Join(s.Dir(), blackboard.RunDir, name+".log"), GraceMS: cfg.Limits.GraceMS}
	}
	sv := &supervisor.Supervisor{
		Starter: supervisor.Starter{
			Board: s.Board, Policy: policy, Clock: supervisor.SystemClock{}, NewID: uuid.NewString,
			Holder: holder, LeaseMS: cfg.Limits.LeaseMS, As: message.Supervisor,
		},
		Config: cfg, Goal: goal,
		Spawner: &supervisor.Processes{Executable: exe, Root: root, Board: s.Board, Limits: cfg.Limits, Env: os.Environ(), Flags: flags, Tells: tells,
			Keeps: func(c supervisor.Claim) []string { return a.keeps(s.Board, cfg, c) }},
		Residents: []supervisor.Resident{resident("ggs", message.GGS, "ggs", "--attached"), resident("auditor", message.Auditor, "auditor", "--attached")},
		Brakes:    supervisor.BrakeFiles{Dir: s.Dir()},
		Hooks:     a.hooks(s.Board, cfg), Trusted: guard.Check,
		Warn: a.warn,
		Tend: func(ctx context.Context) time.Time {
			return s.tend(ctx, s.keeper.Offer).Again
		},
		Random: rand.Float64,
		Trips:  a.trips(root),
	}
	if !cfg.Memory.Off {
		sv.Residents = append(sv.Residents, resident("memory", message.Memory, "memory", "serve", "--attached"))
	}
	return sv, a.withCode(s, sv, cfg, resident)
}

// hooks are the executables a person put beside the board.
func (a *app) hooks(b *blackboard.Board, cfg config.Config) supervisor.Hooks {
	return supervisor.Hooks{Dir: filepath.Join(b.Dir(), blackboard.HooksDir), Root: b.Root(), LimitMS: cfg.Limits.HookWallMS, Env: withoutSocket(os.Environ()), Warn: a.warn,
		Trusted: func(ctx context.Context) error { return a.checkTrust(ctx, b.Root()) }}
}

// withCode adds to a supervisor what a coding goal needs: worktrees, the
// process that merges, and an eye on the person's checkout.
func (a *app) withCode(s *session, sv *supervisor.Supervisor, cfg config.Config, resident func(name string, role message.Role, args ...string) supervisor.Resident) error {
	ctx := context.Background() // only files and git on this machine are asked
	p, err := a.codeOf(ctx, s.Board, cfg, sv.Goal)
	if err != nil || p == nil {
		return err
	}
	guard, err := a.checkoutGuard(ctx, cfg, p, s.Board, sv.Goal, blackboard.ActivationKey{})
	if err != nil {
		return err
	}
	sv.Worktrees = p
	sv.Spawner = watched{sv.Spawner, guard}
	sv.Residents = append(sv.Residents, resident("integrate", message.Supervisor, "integrate", "--attached"))
	return nil
}
