package runner

import (
	"context"
	"fmt"
	"slices"

	"orch/roles/act/check"
	"orch/roles/act/ledger"
)

// Run runs one command, of some tests only if any are named.
type Run func(ctx context.Context, only []ledger.Name) (check.Verdict, ledger.Ledger)

// Heeder takes green runs for green only if nothing in them is so by chance.
type Heeder struct {
	Store   Store
	Confirm int  // runs of tests that were red before and are green now
	Named   bool // only tests with names run again, and no command as a whole
}

// Heed runs a command, and takes a green run for green only if nothing in it is
// so by chance: tests that an earlier run in the same matter saw red and that are
// green now run alone, and must pass each time. What is red is kept in the store, by words
// that name the matter.
func (h Heeder) Heed(ctx context.Context, command string, run Run, matter ...string) (check.Verdict, ledger.Ledger, error) {
	v, l := run(ctx, nil)
	if ctx.Err() != nil || h.Named && !l.Known() {
		return v, l, ctx.Err()
	}
	var known []ledger.Name
	if _, err := h.Store.Load(&known, matter...); err != nil {
		return v, l, err
	}
	var suspects []ledger.Name
	for _, n := range known {
		if v.Pass && passes(n, v, l) {
			suspects = append(suspects, n)
		}
	}
	red := failing(command, v, l)
	if len(suspects) > 0 {
		if chance := alone(ctx, suspects, h.Confirm, run); chance != "" {
			v = check.Verdict{Class: check.Logical, Kind: check.KindNone, Evidence: chance}
		}
		return v, l, ctx.Err()
	}
	if len(red) == 0 {
		return v, l, nil
	}
	for _, n := range red {
		if !slices.Contains(known, n) {
			known = append(known, n)
		}
	}
	return v, l, h.Store.Save(known, matter...)
}

// alone runs tests alone, and says which of them is flaky; empty when all pass
// each time.
func alone(ctx context.Context, suspects []ledger.Name, confirm int, run Run) string {
	for i := range confirm {
		v, l := run(ctx, suspects)
		if ctx.Err() != nil {
			return ""
		}
		for _, n := range suspects {
			if !passes(n, v, l) {
				return fmt.Sprintf("flaky, not fixed: %s was red in an earlier run, is green now, and was red again in run %d of %d alone, without a change between. %s", n, i+1, confirm, v.Evidence)
			}
		}
	}
	return ""
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
// not known. What the world was in the way of is no test that failed.
func failing(command string, v check.Verdict, l ledger.Ledger) []ledger.Name {
	if v.Pass || v.Class != check.Logical {
		return nil
	}
	if !l.Known() {
		return []ledger.Name{{Test: command}}
	}
	return ledger.Leaves(l.All(ledger.Failed))
}
