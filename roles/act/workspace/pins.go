package workspace

import (
	"context"
	"fmt"
	"strings"

	"orch/blackboard/message"
)

// Pins are the refs below refs/orch that keep commits of a goal.
type Pins struct {
	Spare []Pin // their commits are on one of the branches: nothing is lost without them
	Kept  int   // the others: nothing else keeps their commits
}

// Pin is one ref.
type Pin struct {
	Ref    string
	Commit Commit
}

// Pins parts the refs of a goal by whether one of the branches has their
// commits. A branch that is not there has nothing.
func (r Repo) Pins(ctx context.Context, goal message.GoalID, branches ...string) (Pins, error) {
	const format = "--format=%(objectname) %(refname)"
	below := "refs/orch/" + string(goal) + "/"
	all, err := git(ctx, r.Dir, "for-each-ref", format, below)
	if err != nil {
		return Pins{}, fmt.Errorf("list the refs of %s: %w", goal, err)
	}
	var p Pins
	spare := map[string]bool{}
	for _, b := range branches {
		at, err := r.At(ctx, b)
		if err != nil {
			return p, err
		}
		if at == "" {
			continue
		}
		on, err := git(ctx, r.Dir, "for-each-ref", "--merged="+string(at), format, below)
		if err != nil {
			return p, fmt.Errorf("list the refs of %s: %w", goal, err)
		}
		for line := range strings.Lines(on) {
			spare[strings.TrimSpace(line)] = true
		}
	}
	for line := range strings.Lines(all) {
		line = strings.TrimSpace(line)
		if hash, ref, ok := strings.Cut(line, " "); ok && spare[line] {
			p.Spare = append(p.Spare, Pin{ref, Commit(hash)})
		} else if ok {
			p.Kept++
		}
	}
	return p, nil
}

// Unpin removes refs that are still where they were seen; all of them, or none.
func (r Repo) Unpin(ctx context.Context, pins []Pin) error {
	if len(pins) == 0 {
		return nil
	}
	var said strings.Builder
	for _, p := range pins {
		if !strings.HasPrefix(p.Ref, "refs/orch/") {
			return fmt.Errorf("unpin %.12s: %q is not below refs/orch/", p.Commit, p.Ref)
		}
		fmt.Fprintf(&said, "delete %s %s\n", p.Ref, p.Commit)
	}
	if _, err := (call{dir: r.Dir, stdin: strings.NewReader(said.String()), args: []string{"update-ref", "--stdin"}}).run(ctx); err != nil {
		return fmt.Errorf("remove %d refs: %w", len(pins), err)
	}
	return nil
}
