package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"orch/blackboard"
	"orch/blackboard/message"
	tests "orch/roles/act/ledger"
	"orch/roles/act/process"
	"orch/roles/act/runner"
	"orch/roles/act/workspace"
	"orch/roles/integrator"
	"orch/roles/loop"
	"orch/roles/run/config"
	"orch/roles/run/supervisor"
)

// integratorRole names the lock of the process that merges.
const integratorRole message.Role = "integrator"

func newIntegrate(a *app) *cobra.Command {
	var attached, once bool
	c := &cobra.Command{
		Use: "integrate", Short: "merge what reviewers approved (orch run does this by itself)", Args: cobra.NoArgs,
		Long: `Merge approved tasks of --profile code into the integration branch, oldest
approval first, until interrupted. Only one process merges at a time; a second
one waits for its turn. A task is merged after the steps of its coder and its
reviewer have ended. With --once, work that waits for that ends it with exit 42;
where nobody sees such a step through any more, it names the command that does.`,
		Example: "  orch role integrate --once",
		RunE: func(c *cobra.Command, _ []string) error {
			ctx := c.Context()
			if attached {
				var cancel context.CancelFunc
				ctx, cancel = untilEOF(ctx, a.in)
				defer cancel()
			}
			return a.integrate(ctx, once, attached)
		},
	}
	c.Flags().BoolVar(&once, "once", false, "merge what is approved now, and stop")
	c.Flags().BoolVar(&attached, "attached", false, "stop when standard input ends (given by a supervisor)")
	if err := c.Flags().MarkHidden("attached"); err != nil {
		panic(err) // the flag is defined one line above
	}
	return c
}

func (a *app) integrate(ctx context.Context, once, attached bool) error {
	root, err := a.root()
	if err != nil {
		return err
	}
	cfg, err := a.trustedConfig(ctx, root)
	if err != nil {
		return err
	}
	release, err := holdResident(ctx, root, integratorRole)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	defer release()
	b, err := blackboard.Open(root, a.options(blackboard.Identity{Agent: "supervisor-1", Speaks: []message.Role{message.Supervisor}}))
	if err != nil {
		return err
	}
	defer b.Close()
	i, err := a.newIntegrator(ctx, b, cfg)
	if err != nil {
		return err
	}
	if once {
		if err := i.All(ctx); err != nil {
			return err
		}
	}
	held, err := heldBack(ctx, b)
	switch {
	case err != nil:
		return err
	case once && held != nil:
		return &exitError{exitAgain, held}
	case once:
		return nil
	case held != nil && !attached:
		a.warn(held)
	}
	if err := i.Serve(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}

// heldBack says which approved work waits for the end of a step, and what to
// do about that; nil if none does.
func heldBack(ctx context.Context, b *blackboard.Board) (held, err error) {
	err = b.View(ctx, func(s *blackboard.State) error {
		for _, step := range loop.MergeHeldBy(s) {
			lost := loop.Attended(s, step, supervisor.Look) == process.Dead
			if held != nil && !lost {
				continue
			}
			what := fmt.Errorf("%s is approved, and waits for the step of %s on it to end", step.Subject, step.Agent)
			if lost {
				held = hinted{what, strings.TrimSpace("nobody sees that step through any more: orch run --continue " + string(step.Goal))}
				break
			}
			held = hinted{what, "once it has ended: orch role integrate --once"}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look what waits to be merged: %w", err)
	}
	return held, nil
}

func (a *app) newIntegrator(ctx context.Context, b *blackboard.Board, cfg config.Config) (*integrator.Integrator, error) {
	var board string
	if err := b.View(ctx, func(s *blackboard.State) error { board = s.BoardID(); return nil }); err != nil {
		return nil, err
	}
	p, err := openCode(ctx, b.Root(), board, cfg.Code)
	if err != nil {
		return nil, err
	}
	hooks := a.hooks(b, cfg)
	return &integrator.Integrator{
		Board: b, Repo: p.repo, Place: p.place, Ref: p.ref, Name: p.name, Email: p.email, Warn: a.warn,
		Command: func(dir string) (string, error) { return a.integrationCommand(cfg.Code, dir) },
		Run: func(ctx context.Context, t blackboard.Task, dir, command string) (bool, []byte, error) {
			_, lower := p.place.Base(t.Goal)
			if !workspace.Made(lower) {
				lower = ""
			}
			store := runner.Store{Dir: ledgersOf(b, t.Goal)}
			return heedMerge(ctx, store, cfg.Checks.Confirm, t, dir, command, func(ctx context.Context, only []tests.Name) (bool, []byte, tests.Ledger, error) {
				return a.runCommand(ctx, cfg, b.Root(), dir, lower, command, only)
			})
		},
		Unmoved: func(ctx context.Context, t blackboard.Task) (bool, error) {
			guard, err := a.branchGuard(ctx, cfg, p, b, t.Goal)
			if err != nil || guard == nil {
				return err == nil, err
			}
			drift, err := guard.lookAtBranch(ctx, t.OutcomeRef.ID, "more is to be merged on top")
			return drift == "" && err == nil, err
		},
		Merged: func(ctx context.Context, m message.Message) {
			if b, ok := m.Body.(message.Merged); ok {
				hooks.Run(ctx, supervisor.Moment{Name: "on-merged", Goal: m.Goal, Role: message.Supervisor, Task: string(b.Task), Result: b.To}, b)
			}
		},
	}, nil
}

// integrationCommand is what must pass on a merged tree.
func (a *app) integrationCommand(c config.Code, dir string) (string, error) {
	if c.Command != "" {
		return c.Command, nil
	}
	return a.testCommand(c, dir)
}

// testCommand is how the project in a directory is tested; empty when nothing says so.
func (a *app) testCommand(c config.Code, dir string) (string, error) {
	if c.Test != "" {
		return c.Test, nil
	}
	b, _, err := a.playbooks(dir)
	if err != nil {
		return "", err
	}
	return b.TestCommand(dir)
}

// runCommand runs one shell command in a directory within the limits of a check,
// with fresh caches over a lower layer, and tells which tests it ran; of some
// tests only, if any are named.
func (a *app) runCommand(ctx context.Context, cfg config.Config, root, dir, lower, command string, only []tests.Name) (ok bool, output []byte, seen tests.Ledger, err error) {
	l := cfg.Limits
	exe, err := executable()
	if err != nil {
		return false, nil, seen, err
	}
	scratch, err := process.MakeTemp()
	if err != nil {
		return false, nil, seen, err
	}
	defer os.RemoveAll(scratch)
	keep, err := a.keeperOf(ctx, cfg, root, scratch, nil)
	if err == nil && keep == nil {
		keep, err = bareKeeper()
	}
	if err != nil {
		return false, nil, seen, err
	}
	shut, err := keep.freshCaches(lower)
	if err != nil {
		return false, nil, seen, err
	}
	defer shut()
	spec, err := keep.around(process.Spec{
		Argv: []string{"/bin/sh", "-c", command}, Dir: dir, Env: process.ScrubEnv(os.Environ()), Session: true, Guard: []string{exe, "guard", "--"},
		WallMS: l.CheckWallMS, GraceMS: l.GraceMS, MaxOutputBytes: l.OutputBytes * 8, KeepBytes: int(l.OutputBytes),
	}, dir)
	if err != nil {
		return false, nil, seen, err
	}
	heard, err := runner.Open(scratch, exe)
	if err == nil && len(only) > 0 {
		err = heard.Only(only)
	}
	if err != nil {
		return false, nil, seen, err
	}
	defer heard.Close()
	spec.Env = heard.Env(spec.Env, dir)
	r := process.Run(ctx, spec)
	if ctx.Err() != nil {
		return false, nil, seen, ctx.Err()
	}
	if r.Err != nil {
		return false, nil, seen, fmt.Errorf("run %s: %w", command, r.Err)
	}
	output = r.Output()
	if !r.OK() {
		output = append(output, fmt.Sprintf("\n[exit %d %s]\n", r.Exit, r.Why())...)
	}
	seen, err = heard.Read()
	return r.OK(), output, seen, err
}
