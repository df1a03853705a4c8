package main

import (
	"context"
	"path/filepath"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/config"
	"orch/roles/integrator"
)

// worktrees are those of coding goals that a collection found.
type worktrees struct {
	Removed int              // of goals and tasks that have ended; with a dry run, what would be looked at
	Open    []message.GoalID // goals whose worktrees stay, because they are not over
}

// collectWorktrees removes the worktrees that a killed run left of what has
// ended. What they hold is brought into the repository first.
func (a *app) collectWorktrees(ctx context.Context, b *blackboard.Board, cfg config.Config, dry bool) (w worktrees, err error) {
	coding, ended, board := false, map[message.GoalID]bool{}, ""
	err = b.View(ctx, func(s *blackboard.State) error {
		board = s.BoardID()
		for _, g := range s.Goals() {
			coding = coding || isCode(g)
			ended[g.ID] = g.Status == blackboard.GoalEnded
		}
		return nil
	})
	if err != nil || !coding {
		return w, err
	}
	p, err := openCode(ctx, b.Root(), board, cfg.Code)
	if err != nil {
		return w, err
	}
	goals, err := p.place.Goals()
	if err != nil {
		return w, err
	}
	for _, g := range goals {
		over, known := ended[g]
		switch {
		case known && !over:
			w.Open = append(w.Open, g)
		case over && dry:
			made, err := filepath.Glob(filepath.Join(p.place.Root, string(g), "*", ".git"))
			if err != nil {
				return w, err
			}
			w.Removed += len(made)
		}
	}
	if dry {
		return w, nil
	}
	w.Removed, err = integrator.Tidy(ctx, b, p.repo, p.place, p.name, p.email)
	return w, err
}
