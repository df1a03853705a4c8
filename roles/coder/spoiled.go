package coder

import (
	"context"
	"errors"
	"fmt"

	"orch/blackboard/message"
	"orch/roles/act/workspace"
	"orch/roles/run/step"
)

// spoiled says why a worktree can not be gone on with, and where what was in it
// is kept.
type spoiled struct {
	why  string
	kept string // the commit that holds it; empty when there was nothing to keep
}

func (s spoiled) String() string {
	if s.kept == "" {
		return s.why + ". Nothing was left to keep"
	}
	return fmt.Sprintf("%s. What was there is kept as %.12s", s.why, s.kept)
}

// take brings what the worktree holds into the repository, and more of it than
// its head if the worktree can not be gone on with.
func (it *iteration) take(ctx context.Context) (done workspace.Harvested, bad *spoiled, err error) {
	path, ref, base := it.task.Work, it.ref(fmt.Sprint(it.task.Fence)), workspace.Commit(it.task.Base)
	left := workspace.Leftover{
		Message: fmt.Sprintf("Keep what %s left uncommitted\n\nTask: %s", it.task.Agent, it.task.ID), Name: string(it.task.Agent), Email: step.AuthorEmail(it.task.Agent),
	}
	done, err = it.w.Repo.Harvest(ctx, path, ref, base, left)
	var rewritten *workspace.RewrittenError
	var tampered *workspace.TamperedError
	switch {
	case errors.As(err, &rewritten):
		bad = &spoiled{fmt.Sprintf("%s rewrote the history its work builds on: %v", it.task.Agent, rewritten), string(done.Head)}
	case errors.As(err, &tampered):
		bad = &spoiled{why: fmt.Sprintf("%s broke the repository in its worktree: %s", it.task.Agent, tampered.What)}
		if done, err = it.w.Repo.Salvage(ctx, path, ref, base, left); err != nil {
			return done, nil, fmt.Errorf("keep what is in a broken worktree: %w", err)
		}
		bad.kept = string(done.Head)
	default:
		return done, nil, err
	}
	_, err = it.w.Repo.Others(ctx, path, ref)
	return done, bad, err
}

// anew ends an iteration whose worktree can not be gone on with. The worktree
// goes, so that the next iteration begins with one that is whole, and is told
// why. A coder that does so again and again is blocked.
func (it *iteration) anew(ctx context.Context, bad spoiled) error {
	n, err := it.refusals()
	if err != nil {
		return err
	}
	began, err := it.begin(ctx)
	if err != nil {
		return err
	}
	if err := workspace.Remove(it.task.Work); err != nil {
		return err
	}
	if limit := it.e.Config.Limits.Crashes; n+1 >= limit {
		return it.say(ctx, message.Blocked{
			Task: it.task.ID, Kind: message.BlockedEnvironment,
			BlockedReason:    fmt.Sprintf("%d times the worktree could not be taken, the last time: %s", n+1, bad),
			BlockedQuestions: []string{fmt.Sprintf("What makes %s change the history or the .git of its worktree, where it only has to add commits?", it.task.Agent)},
			Attempted:        []string{fmt.Sprintf("%d new worktrees, each time told why", n)},
		})
	}
	return it.say(ctx, message.Handoff{
		Task: it.task.ID, Refused: step.Cut(bad.String(), step.EvidenceBytes), Summary: "the work was not taken: " + step.Cut(bad.String(), step.EvidenceBytes),
		NextAction: nextAction(began, bad), Blockers: []string{}, FilesModified: []string{}, NextSteps: []string{},
	})
}

// nextAction tells the next iteration what its worktree is, and how to come by
// what was made before.
func nextAction(began workspace.Commit, bad spoiled) string {
	s := fmt.Sprintf("you are in a new worktree at %.12s: only add commits to its branch; no amend, rebase or reset beyond that commit, and leave .git as it is", began)
	if bad.kept != "" {
		s += fmt.Sprintf(". `git diff %.12s %.12s` shows what was made before, `git checkout %.12s -- PATH` takes a file of it", began, bad.kept, bad.kept)
	}
	return s
}

// refusals counts how often this coder's worktree could not be taken.
func (it *iteration) refusals() (n int, err error) {
	for m, err := range it.e.Board.Messages(it.task.Created.Seq) {
		if err != nil {
			return 0, fmt.Errorf("count how often the work was not taken: %w", err)
		}
		if h, ok := m.Body.(message.Handoff); ok && h.Task == it.task.ID && h.Refused != "" && m.Agent == it.task.Agent {
			n++
		}
	}
	return n, nil
}
