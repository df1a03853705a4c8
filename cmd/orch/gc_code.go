package main

import (
	"context"
	"path/filepath"
	"time"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/integrator"
	"orch/roles/run/config"
)

// worktrees are those of coding goals that a collection found.
type worktrees struct {
	Removed int              // of goals and tasks that have ended; with a dry run, what would be looked at
	Open    []message.GoalID // goals whose worktrees stay, because they are not over
	Refs    []string         // of goals that ended long ago, whose commits are on a branch
	Kept    int              // refs of such goals that nothing else keeps the commits of
}

// collectWorktrees removes the worktrees that a killed run left of what has
// ended. What they hold is brought into the repository first.
func (a *app) collectWorktrees(ctx context.Context, b *blackboard.Board, cfg config.Config, dry bool) (w worktrees, err error) {
	coding, ended, board := false, map[message.GoalID]bool{}, ""
	var old []message.GoalID
	long := time.Now().AddDate(0, 0, -cfg.Code.KeepRefsDays)
	err = b.View(ctx, func(s *blackboard.State) error {
		board = s.BoardID()
		for _, g := range s.Goals() {
			coding = coding || isCode(g)
			ended[g.ID] = g.Status == blackboard.GoalEnded
			if isCode(g) && ended[g.ID] && !g.FinalRef.TS.After(long) {
				old = append(old, g.ID)
			}
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
	if !dry {
		if w.Removed, err = integrator.Tidy(ctx, b, p.repo, p.place, p.name, p.email); err != nil {
			return w, err
		}
	}
	return w, p.collectRefs(ctx, old, dry, &w)
}

// collectRefs removes the refs of goals that ended long ago. A commit that is
// neither on the integration branch nor on the one the person is on stays
// under its ref for ever.
func (p *codeProject) collectRefs(ctx context.Context, old []message.GoalID, dry bool, w *worktrees) error {
	for _, g := range old {
		pins, err := p.repo.Pins(ctx, g, p.ref, "HEAD")
		if err != nil {
			return err
		}
		w.Kept += pins.Kept
		for _, pin := range pins.Spare {
			w.Refs = append(w.Refs, pin.Ref)
		}
		if dry {
			continue
		}
		if err := p.repo.Unpin(ctx, pins.Spare); err != nil {
			return err
		}
	}
	return nil
}
