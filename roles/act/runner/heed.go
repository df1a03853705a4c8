package runner

import (
	"context"
	"errors"
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
	// Excused tells which of some tests are flaky at the base: they bind nobody.
	// Nil: none is known to be.
	Excused func(ctx context.Context, of []ledger.Name) ([]ledger.Name, error)
}

// Heed runs a command, and takes a green run for green only if nothing in it is
// so by chance: tests that an earlier run in the same matter saw red and that are
// green now run alone, and must pass each time. What is red is kept in the store,
// by words that name the matter. What is red a second time only by tests that are
// flaky at the base runs again as a whole.
func (h Heeder) Heed(ctx context.Context, command string, run Run, matter ...string) (check.Verdict, ledger.Ledger, error) {
	v, l := run(ctx, nil)
	if ctx.Err() != nil || h.Named && !l.Known() {
		return v, l, ctx.Err()
	}
	var known []ledger.Name
	if _, err := h.Store.Load(&known, matter...); err != nil {
		return v, l, err
	}
	red := failing(command, v, l)
	if len(red) > 0 && len(l.Broken()) == 0 && within(red, known) {
		excused, err := h.excused(ctx, red)
		if err != nil {
			return v, l, err
		}
		for i := 0; i < h.Confirm && !v.Pass && within(red, excused) && len(l.Broken()) == 0 && ctx.Err() == nil; i++ {
			v, l = run(ctx, nil)
			red = failing(command, v, l)
		}
	}
	if v.Pass {
		chance, err := h.alone(ctx, known, v, l, run)
		if chance != "" {
			v = check.Verdict{Class: check.Logical, Kind: check.KindNone, Evidence: chance}
		}
		return v, l, errors.Join(err, ctx.Err())
	}
	if within(red, known) {
		return v, l, ctx.Err()
	}
	for _, n := range red {
		if !slices.Contains(known, n) {
			known = append(known, n)
		}
	}
	return v, l, h.Store.Save(known, matter...)
}

func (h Heeder) excused(ctx context.Context, of []ledger.Name) ([]ledger.Name, error) {
	if h.Excused == nil {
		return nil, nil
	}
	return h.Excused(ctx, of)
}

func within(some, all []ledger.Name) bool {
	return !slices.ContainsFunc(some, func(n ledger.Name) bool { return !slices.Contains(all, n) })
}

// alone runs those of the tests that were red before, and are green in this run,
// alone. It says which of them is flaky; empty when all pass each time.
func (h Heeder) alone(ctx context.Context, known []ledger.Name, v check.Verdict, l ledger.Ledger, run Run) (string, error) {
	suspects := slices.DeleteFunc(slices.Clone(known), func(n ledger.Name) bool { return !Passes(n, v, l) })
	for i := 0; i < h.Confirm && len(suspects) > 0; i++ {
		v, l := run(ctx, suspects)
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		lost := slices.DeleteFunc(slices.Clone(suspects), func(n ledger.Name) bool { return Passes(n, v, l) })
		if len(lost) == 0 {
			continue
		}
		excused, err := h.excused(ctx, lost)
		if err != nil || !within(lost, excused) {
			lost = slices.DeleteFunc(lost, func(n ledger.Name) bool { return slices.Contains(excused, n) })
			return fmt.Sprintf("flaky, not fixed: %s was red in an earlier run, is green now, and was red again in run %d of %d alone, without a change between. %s", lost[0], i+1, h.Confirm, v.Evidence), err
		}
		suspects = slices.DeleteFunc(suspects, func(n ledger.Name) bool { return slices.Contains(excused, n) })
	}
	return "", nil
}

// Passes tells whether a test passed in a run. A command whose runner is not known
// is one test.
func Passes(n ledger.Name, v check.Verdict, l ledger.Ledger) bool {
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
