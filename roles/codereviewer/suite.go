package codereviewer

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"orch/blackboard/message"
	"orch/roles/act/check"
	"orch/roles/act/emptied"
	"orch/roles/act/ledger"
	"orch/roles/act/runner"
	"orch/roles/act/weaken"
	"orch/roles/act/workspace"
)

// suite is the project's own tests in one review: what they show of the commit,
// and what became of those of its base.
type suite struct {
	*review
	command check.Check
	own     ledger.Ledger // of the commit
	base    ledger.Ledger // of the commit that the work began at
	known   bool          // base was made out
}

// projectTests runs the project's tests in dir, a checkout of the commit.
func (r *review) projectTests(ctx context.Context, dir, command string) (*suite, message.Verdict, error) {
	s := &suite{review: r, command: check.Check{Run: &check.Command{Command: command}}}
	raw, err := json.Marshal(s.command)
	if err != nil {
		return s, message.Verdict{}, err
	}
	c := message.Criterion{ID: testsCriterion, Criterion: "the project's tests pass: " + command, Mode: message.Verifiable, Required: true, Check: raw}
	v, err := r.check(ctx, dir, c, &s.own)
	return s, v, err
}

// noneDue tells whether there are no tests and none are due: the base has none
// either, and the task is exempt from bringing any.
func (s *suite) noneDue(ctx context.Context) (bool, error) {
	if !s.own.Empty() || !s.task.ExemptFromTests {
		return false, nil
	}
	err := s.ofBase(ctx)
	return s.known && s.base.Empty(), err
}

// compare says what became of the tests of the base. The suite's own run was no
// worse than red; a commit whose own run is red is rejected without.
func (s *suite) compare(ctx context.Context) ([]weaken.Finding, error) {
	changed, err := s.w.Repo.Changed(ctx, workspace.Commit(s.task.Base), s.commit)
	if err != nil {
		return nil, err
	}
	if err := s.ofBase(ctx); err != nil || !s.known {
		return nil, err
	}
	runs := ledger.Runs{Base: s.base, Own: s.own, At: func(ledger.Name) ledger.Place { return ledger.Place{} }}
	if tests := testFiles(changed); len(tests) > 0 && len(s.base.All(ledger.Passed)) > 0 {
		over, err := s.over(ctx, tests)
		if err != nil {
			return nil, err
		}
		runs.Over = &over
	}
	files, err := s.sources(ctx, changed)
	if err != nil {
		return nil, err
	}
	found, err := s.lost(ctx, runs)
	if err != nil {
		return nil, err
	}
	proven, err := s.prove(ctx, files)
	if err != nil {
		return nil, err
	}
	found = append(found, proven...)
	for i := range found {
		found[i].Whole = true // what a test says depends on more than its own file
	}
	for _, f := range files {
		found = append(found, emptied.Asks(f.name, f.before, f.now)...)
	}
	return found, nil
}

// lost says what became of the tests of the base that hold there each time.
func (s *suite) lost(ctx context.Context, runs ledger.Runs) (found []weaken.Finding, err error) {
	if len(ledger.Compare(runs)) == 0 {
		return nil, nil
	}
	err = s.checkedOut(ctx, workspace.Commit(s.task.Base), func(dir string) error {
		if err := s.shake(ctx, dir, runs); err != nil {
			return err
		}
		runs.Base, runs.At = s.base, placer(dir)
		found = ledger.Compare(runs)
		return nil
	})
	return found, err
}

// checkedOut makes a fresh checkout of a commit, where judged runs happen one
// after the other, and removes it. A setup that fails there is no error: nothing
// is known of that commit then.
func (r *review) checkedOut(ctx context.Context, c workspace.Commit, do func(dir string) error) error {
	return r.checkedOutAt(ctx, r.checkDir(), c, do)
}

func (r *review) checkedOutAt(ctx context.Context, dir string, c workspace.Commit, do func(dir string) error) error {
	if err := workspace.Remove(dir); err != nil {
		return err
	}
	err := r.w.Repo.Make(ctx, dir, workspace.Spec{Commit: c, Included: true}, r.w.Setup)
	var setup *workspace.SetupError
	if errors.As(err, &setup) && ctx.Err() == nil {
		r.e.Log("%.12s can not be set up, so its tests are not known: %v", c, setup)
		return nil
	}
	if err != nil {
		return err
	}
	r.e.Heart.Beat("a checkout of " + string(c))
	return errors.Join(do(dir), workspace.Remove(dir))
}

// flakyAtBase tells which tests of a check give different results on the base,
// where they run alone. A command as a whole is never excused so: nothing would
// be left that binds.
func (r *review) flakyAtBase(ch check.Check) func(context.Context, []ledger.Name) ([]ledger.Name, error) {
	return func(ctx context.Context, of []ledger.Name) (flaky []ledger.Name, err error) {
		if slices.ContainsFunc(of, func(n ledger.Name) bool { return n.Suite == "" }) {
			return nil, nil
		}
		dir := r.w.Place.ChecksOfBase(r.goal.ID, r.task.ID, r.task.Review.Fence)
		err = r.checkedOutAt(ctx, dir, workspace.Commit(r.task.Base), func(dir string) error {
			seen := map[ledger.Name]map[bool]bool{}
			for range r.e.Config.Checks.Confirm {
				v, l := r.w.Judged(ctx, dir, ch, of)
				r.e.Heart.Beat("tests of the base")
				for _, n := range of {
					if l.Of(n) == "" || v.Class == check.Environmental {
						continue // it is not there, or something else was in the way
					}
					if seen[n] == nil {
						seen[n] = map[bool]bool{}
					}
					seen[n][runner.Passes(n, v, l)] = true
				}
			}
			for _, n := range of {
				if len(seen[n]) == 2 {
					flaky = append(flaky, n)
				}
			}
			return ctx.Err()
		})
		return flaky, err
	}
}

// judged runs the project's tests, of which only some count if any are named.
func (s *suite) judged(ctx context.Context, dir string, only []ledger.Name) (check.Verdict, ledger.Ledger, error) {
	v, l := s.w.Judged(ctx, dir, s.command, only)
	s.e.Heart.Beat("the project's tests")
	return v, l, ctx.Err()
}

// ofBase makes out the base's ledger: once for each tree and command in a goal.
func (s *suite) ofBase(ctx context.Context) error {
	tree, err := s.w.Repo.Tree(ctx, workspace.Commit(s.task.Base))
	if err != nil {
		return err
	}
	var kept runner.Base
	if s.known, err = s.w.Ledgers.Load(&kept, runner.BaseKey(tree, s.command.Run.Command)...); err != nil || s.known {
		s.base = kept.Ledger
		return err
	}
	return s.checkedOut(ctx, workspace.Commit(s.task.Base), func(dir string) error {
		_, l, err := s.judged(ctx, dir, nil)
		if err != nil {
			return err
		}
		s.base, s.known = l, true
		return s.w.Ledgers.Save(runner.Base{Ledger: l}, runner.BaseKey(tree, s.command.Run.Command)...)
	})
}

// over runs the tests of the base over the code of the commit.
func (s *suite) over(ctx context.Context, tests []string) (l ledger.Ledger, err error) {
	err = s.checkedOut(ctx, s.commit, func(dir string) error {
		if err := s.restore(ctx, dir, tests); err != nil {
			return err
		}
		_, l, err = s.judged(ctx, dir, nil)
		return err
	})
	return l, err
}

// shake runs the tests that seem lost alone on the base, in dir. What does not
// pass there each time binds nobody.
func (s *suite) shake(ctx context.Context, dir string, runs ledger.Runs) error {
	lost := runs.Lost()
	for range max(1, s.e.Config.Checks.Confirm) {
		_, again, err := s.judged(ctx, dir, lost)
		if err != nil {
			return err
		}
		for _, n := range lost {
			if again.Of(n) != ledger.Passed {
				s.base.Shake(n)
			}
		}
	}
	return nil
}
