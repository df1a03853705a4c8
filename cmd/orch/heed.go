package main

import (
	"context"
	"path/filepath"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/act/check"
	tests "orch/roles/act/ledger"
	"orch/roles/act/runner"
	"orch/roles/act/workspace"
)

// ledgersOf is the folder in which a goal keeps what its judged runs showed.
func ledgersOf(b *blackboard.Board, goal message.GoalID) string {
	return filepath.Join(b.GoalDir(goal), "ledgers")
}

// checking runs a check.
type checking func(context.Context, check.Check, check.Env) check.Verdict

// heeded are the ways in which the checks of a goal's steps run. To listen: a
// command whose runner ran no test does not pass. To heed: tests that any step of
// the goal saw red must also hold alone.
func (m *stepMaker) heeded() (listen, heed checking, err error) {
	exe, err := executable()
	if err != nil {
		return nil, nil, err
	}
	hear := func(ctx context.Context, ch check.Check, env check.Env, only []tests.Name) (check.Verdict, tests.Ledger) {
		return runner.Check(ctx, exe, m.world.scratch, ch, env, only)
	}
	listen = func(ctx context.Context, ch check.Check, env check.Env) check.Verdict {
		v, _ := hear(ctx, ch, env, nil)
		return v
	}
	h := runner.Heeder{Store: runner.Store{Dir: ledgersOf(m.board, m.claim.Activation.Goal)}, Confirm: m.cfg.Checks.Confirm, Named: true}
	heed = func(ctx context.Context, ch check.Check, env check.Env) check.Verdict {
		if ch.Run == nil {
			return listen(ctx, ch, env)
		}
		run := func(ctx context.Context, only []tests.Name) (check.Verdict, tests.Ledger) {
			return hear(ctx, ch, env, only)
		}
		v, _, err := h.Heed(ctx, ch.Run.Command, run, "red", ch.Run.Command)
		if err != nil && ctx.Err() == nil {
			return check.Verdict{Class: check.Environmental, Kind: check.KindTool, Evidence: err.Error()}
		}
		return v
	}
	return listen, heed, nil
}

// heedMerge runs the integration command on a merged tree in dir. It passes only
// if tests ran, or the task is exempt from them, and if none that was red in an
// earlier merge of the task is green by chance. The tests of a merge that passes
// are what the next task's base is held to.
func heedMerge(ctx context.Context, s runner.Store, confirm int, t blackboard.Task, dir, command string,
	run func(ctx context.Context, only []tests.Name) (bool, []byte, tests.Ledger, error)) (ok bool, output []byte, err error) {
	tree, err := treeOf(ctx, dir) // before anything of it ran
	if err != nil {
		return false, nil, err
	}
	var failed error
	once := func(ctx context.Context, only []tests.Name) (check.Verdict, tests.Ledger) {
		ok, out, l, err := run(ctx, only)
		v := check.Verdict{Pass: ok && err == nil, Class: check.Logical, Evidence: string(out)}
		if failed = err; len(only) == 0 {
			output, v.Evidence = out, ""
		}
		if v.Pass && l.Empty() && len(only) == 0 && !t.ExemptFromTests {
			v.Pass, v.Evidence = false, runner.NoTests
		}
		return v, l
	}
	v, l, err := runner.Heeder{Store: s, Confirm: confirm}.Heed(ctx, command, once, "red at the merge", string(t.ID))
	if err == nil {
		err = failed
	}
	if err != nil {
		return false, nil, err
	}
	if v.Pass {
		return true, output, s.Save(runner.Base{Ledger: l}, runner.BaseKey(tree, command)...)
	}
	if v.Evidence != "" {
		output = append(output, "\n["+v.Evidence+"]\n"...)
	}
	return false, output, nil
}

func treeOf(ctx context.Context, dir string) (string, error) {
	repo, err := workspace.Open(ctx, dir)
	if err != nil {
		return "", err
	}
	head, err := repo.Head(ctx)
	if err != nil {
		return "", err
	}
	return repo.Tree(ctx, head.Commit)
}
