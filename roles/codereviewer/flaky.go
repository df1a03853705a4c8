package codereviewer

import (
	"context"
	"fmt"
	"slices"

	"orch/roles/act/check"
	"orch/roles/act/ledger"
)

// confirm runs tests that were red in an earlier look at the task and are green
// now, alone. It says which of them is flaky; empty when all pass each time.
func (r *review) confirm(ctx context.Context, dir string, ch check.Check, suspects []ledger.Name) (flaky string, err error) {
	runs := r.e.Config.Checks.Confirm
	for i := range runs {
		v, l := r.w.Judged(ctx, dir, ch, suspects)
		r.e.Heart.Beat("tests that were red before")
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		for _, n := range suspects {
			if !passes(n, v, l) {
				return fmt.Sprintf("flaky, not fixed: %s failed in an earlier review of the task, passed now, and failed again in run %d of %d without a change between. %s", n, i+1, runs, v.Evidence), nil
			}
		}
	}
	return "", nil
}

// passes tells whether a test passed in a run. A command whose runner is not known
// is one test.
func passes(n ledger.Name, v check.Verdict, l ledger.Ledger) bool {
	if n.Suite == "" && !l.Known() {
		return v.Pass
	}
	return l.Of(n) == ledger.Passed
}

// failing are the tests that a red run names, or its command, where the runner is
// not known.
func failing(ch check.Check, v check.Verdict, l ledger.Ledger) []ledger.Name {
	if v.Pass || v.Class != check.Logical {
		return nil
	}
	if !l.Known() {
		return []ledger.Name{{Test: ch.Run.Command}}
	}
	return ledger.Leaves(l.All(ledger.Failed))
}

// reds are the tests that were red in earlier looks at a task, by criterion.
type reds map[string][]ledger.Name

// heed runs a check that names tests, and takes a green one for green only if
// nothing that was red before in this task is so by chance.
func (r *review) heed(ctx context.Context, dir string, id string, ch check.Check) (check.Verdict, ledger.Ledger, error) {
	v, l := r.w.Judged(ctx, dir, ch, nil)
	if ctx.Err() != nil || ch.Run == nil {
		return v, l, ctx.Err()
	}
	known := reds{}
	if _, err := r.w.Ledgers.Load(&known, "reds", string(r.task.ID)); err != nil {
		return v, l, err
	}
	var suspects []ledger.Name
	for _, n := range known[id] {
		if v.Pass && passes(n, v, l) {
			suspects = append(suspects, n)
		}
	}
	if len(suspects) > 0 {
		flaky, err := r.confirm(ctx, dir, ch, suspects)
		if err != nil {
			return v, l, err
		}
		if flaky != "" {
			v = check.Verdict{Class: check.Logical, Kind: check.KindNone, Evidence: flaky}
		}
	}
	if red := failing(ch, v, l); len(red) > 0 && v.Class == check.Logical {
		known[id] = union(known[id], red)
		return v, l, r.w.Ledgers.Save(known, "reds", string(r.task.ID))
	}
	return v, l, nil
}

func union(a, b []ledger.Name) []ledger.Name {
	for _, n := range b {
		if !slices.Contains(a, n) {
			a = append(a, n)
		}
	}
	return a
}
