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

// heeded runs the checks of a goal's steps: a command whose runner ran no test
// does not pass, and tests that any step of the goal saw red must hold alone.
func (m *stepMaker) heeded() (func(context.Context, check.Check, check.Env) check.Verdict, error) {
	exe, err := executable()
	if err != nil {
		return nil, err
	}
	h := runner.Heeder{Store: runner.Store{Dir: ledgersOf(m.board, m.claim.Activation.Goal)}, Confirm: m.cfg.Checks.Confirm, Named: true}
	return func(ctx context.Context, ch check.Check, env check.Env) check.Verdict {
		run := func(ctx context.Context, only []tests.Name) (check.Verdict, tests.Ledger) {
			return runner.Check(ctx, exe, m.world.scratch, ch, env, only)
		}
		if ch.Run == nil {
			v, _ := run(ctx, nil)
			return v
		}
		v, _, err := h.Heed(ctx, ch.Run.Command, run, "red", ch.Run.Command)
		if err != nil && ctx.Err() == nil {
			return check.Verdict{Class: check.Environmental, Kind: check.KindTool, Evidence: err.Error()}
		}
		return v
	}, nil
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
