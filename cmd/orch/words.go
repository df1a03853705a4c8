package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/blackboard/plainfile"
	"orch/roles/run/step"
)

// valuesFor is what a role is told of the person: values.md, and their words
// about the goal.
func valuesFor(ctx context.Context, b *blackboard.Board, goal message.GoalID, role message.Role) (string, error) {
	values, err := plainfile.Read(filepath.Join(b.Dir(), "values.md"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("read values.md: %w", err)
	}
	var g blackboard.Goal
	err = b.View(ctx, func(st *blackboard.State) error { g, _ = st.Goal(goal); return nil })
	return step.Values(string(values), g, role), err
}
