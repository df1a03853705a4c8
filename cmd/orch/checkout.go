package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"orch/blackboard"
	"orch/blackboard/journal"
	"orch/blackboard/message"
	"orch/blackboard/plainfile"
	"orch/roles/act/confine"
	"orch/roles/act/workspace"
	"orch/roles/run/config"
	"orch/roles/run/supervisor"
)

// mainCheckout is the name of the checkpoint at which a goal stops when the
// person's own checkout has changed.
const mainCheckout = "main-checkout-changed"

// checkoutLock names the lock of whoever writes down what the checkout looks like.
const checkoutLock message.Role = "checkout"

// checkoutGuard knows what the person's checkout looked like. What it knows is
// kept in the goal's folder, so that a supervisor that was killed does not take
// what happened meanwhile for what was always there.
type checkoutGuard struct {
	project *codeProject
	board   *blackboard.Board
	goal    message.GoalID
	apart   bool // no step can change the checkout, so a change is the person's own

	mu   sync.Mutex
	last workspace.Fingerprint
}

// keptApart tells whether the steps of a coding goal are confined so that none
// can change the person's checkout or its repository: they write to workspaces
// of their own, and the configuration opens nothing else to them.
func (a *app) keptApart(ctx context.Context, cfg config.Config, repo workspace.Repo) (bool, error) {
	if cfg.Confine == confineOff {
		return false, nil
	}
	layers, err := a.layers(ctx)
	if err != nil || !layers.Any() {
		return false, err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	for _, open := range (&keeper{home: home}).paths(repo.Dir, cfg.ConfineWrite) {
		if real, err := filepath.EvalSymlinks(open); err == nil {
			open = real
		}
		for _, place := range repo.Places() {
			if confine.Within(open, place) || confine.Within(place, open) {
				return false, nil
			}
		}
	}
	return true, nil
}

// newCheckoutGuard begins with what is there now; but while a coder's step of
// an earlier run is not closed, with what was known before that step. The
// caller's own step, if it has one, has not begun.
func newCheckoutGuard(ctx context.Context, p *codeProject, b *blackboard.Board, goal message.GoalID, own blackboard.ActivationKey) (*checkoutGuard, error) {
	g := &checkoutGuard{project: p, board: b, goal: goal}
	cut := false
	err := b.View(ctx, func(s *blackboard.State) error {
		for _, a := range s.LiveActivations() {
			cut = cut || a.Goal == goal && a.ActivationKey != own && (a.Role == message.Coder || a.Role == message.CodeReviewer)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if known, err := knownCheckout(p, b, goal); err != nil || cut && known != nil {
		return known, err
	}
	now, err := g.now(ctx)
	if err != nil {
		return nil, err
	}
	return g, g.keep(now)
}

// guardOf is the guard of a step that runs an agent of a coding goal; nil for
// other steps.
func (a *app) guardOf(ctx context.Context, b *blackboard.Board, cfg config.Config, c supervisor.Claim) (*checkoutGuard, error) {
	if role := c.Activation.Key.Role; role != message.Coder && role != message.CodeReviewer {
		return nil, nil
	}
	p, err := a.codeOf(ctx, b, cfg, c.Activation.Goal)
	if err != nil || p == nil {
		return nil, err
	}
	return a.checkoutGuard(ctx, cfg, p, b, c.Activation.Goal, c.Activation.Key)
}

// checkoutGuard is the guard of a goal whose steps are confined as the
// configuration and the machine let them be.
func (a *app) checkoutGuard(ctx context.Context, cfg config.Config, p *codeProject, b *blackboard.Board, goal message.GoalID, own blackboard.ActivationKey) (*checkoutGuard, error) {
	g, err := newCheckoutGuard(ctx, p, b, goal, own)
	if err != nil {
		return nil, err
	}
	g.apart, err = a.keptApart(ctx, cfg, p.repo)
	return g, err
}

// branchGuard looks at what the goal merges into, for who is about to use it; nil
// if no guard of the goal has written down anything yet.
func (a *app) branchGuard(ctx context.Context, cfg config.Config, p *codeProject, b *blackboard.Board, goal message.GoalID) (*checkoutGuard, error) {
	g, err := knownCheckout(p, b, goal)
	if err != nil || g == nil {
		return nil, err
	}
	g.apart, err = a.keptApart(ctx, cfg, p.repo)
	return g, err
}

// knownCheckout is what an earlier guard of the goal wrote down; nil if none did.
func knownCheckout(p *codeProject, b *blackboard.Board, goal message.GoalID) (*checkoutGuard, error) {
	g := &checkoutGuard{project: p, board: b, goal: goal}
	raw, err := plainfile.Read(g.file())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &g.last)
	}
	if err != nil {
		return nil, fmt.Errorf("read what the checkout was: %w", err)
	}
	return g, nil
}

func (g *checkoutGuard) file() string { return filepath.Join(g.board.GoalDir(g.goal), "checkout.json") }

func (g *checkoutGuard) now(ctx context.Context) (workspace.Fingerprint, error) {
	f, err := g.project.repo.Fingerprint(ctx, func(ref string) bool { return ref == g.project.ref })
	if err != nil {
		return f, err
	}
	f.Refs[g.project.ref], err = g.integration(ctx)
	return f, err
}

// asMerged stands for an integration branch that is where the log says.
const asMerged = "as merged"

// integration is where somebody else moved the integration branch, or asMerged.
// The branch may be moved by a merge between the looks at it and at the log, so
// a difference is looked at again.
func (g *checkoutGuard) integration(ctx context.Context) (string, error) {
	start, err := g.project.repo.At(ctx, workspace.StartRef(g.goal))
	if err != nil {
		return "", err
	}
	var at workspace.Commit
	for range 5 {
		if at, err = g.project.repo.At(ctx, g.project.ref); err != nil {
			return "", err
		}
		expected, err := mergedAt(ctx, g.board, string(start))
		if err != nil {
			return "", err
		}
		if slices.Contains(expected, string(at)) {
			return asMerged, nil
		}
	}
	return string(at), nil
}

// mergedAt are the commits the integration branch may be at, as the log has it:
// the last merge, or where the goal began when there was none since, and a
// merge that has begun.
func mergedAt(ctx context.Context, b *blackboard.Board, start string) (expected []string, err error) {
	last := start
	err = b.View(ctx, func(s *blackboard.State) error {
		for t := range s.Merging() {
			expected = append(expected, t.Review.Merge.To)
		}
		if merged := s.LastMerged(); merged != "" {
			last = merged
		}
		return nil
	})
	return append(expected, last), err
}

func (g *checkoutGuard) keep(f workspace.Fingerprint) error {
	raw, err := json.Marshal(f)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(g.file()), 0o755); err != nil {
		return err
	}
	// Another supervisor of the goal may be doing the same.
	lock := residentLock(g.board.Root(), checkoutLock)
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("note what the checkout is: %w", err)
	}
	err = journal.WriteFileAtomic(journal.OSFS{}, g.file(), raw, 0o644)
	if err := errors.Join(err, lock.Unlock()); err != nil {
		return fmt.Errorf("note what the checkout is: %w", err)
	}
	g.last = f
	return nil
}

// look compares the checkout with what it was. A difference that a step could
// have made stops the goal at a checkpoint; once it is said, what is there now is
// what is expected, so that orch resume goes on from there.
func (g *checkoutGuard) look(ctx context.Context, c supervisor.Claim) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	now, err := g.now(ctx)
	if err != nil {
		return fmt.Errorf("look at the main checkout: %w", err)
	}
	if now.Refs[g.project.ref] == asMerged {
		g.last.Refs[g.project.ref] = asMerged // a merge on top of what a person was asked about is no drift
	} else if known, err := knownCheckout(g.project, g.board, g.goal); err == nil && known != nil && known.last.Refs[g.project.ref] == now.Refs[g.project.ref] {
		g.last.Refs[g.project.ref] = now.Refs[g.project.ref] // whoever was to merge has asked already
	}
	drift := g.last.Drift(now)
	switch {
	case len(drift) == 0:
		return nil
	case g.apart:
		return g.keep(now) // of no step: to commit in one's own repository is a person's right
	}
	k := c.Activation.Key
	atWork, err := g.atWork(ctx, "worked on", blackboard.Activation{ActivationKey: k, Agent: c.Agent})
	if err != nil {
		return fmt.Errorf("look who changed the main checkout: %w", err)
	}
	why := fmt.Sprintf("the main checkout changed while %s: %s. If that was you: orch resume", atWork, strings.Join(drift, "; "))
	return errors.Join(g.stop(ctx, k.Cause, why), g.keep(now))
}

// atWork names the coders and reviewers whose steps have not ended, coders
// first, and those of its arguments; empty if there is none. Whoever ended
// before was looked at then, so of this goal it was one of them.
func (g *checkoutGuard) atWork(ctx context.Context, verb string, also ...blackboard.Activation) (string, error) {
	steps := also
	err := g.board.View(ctx, func(s *blackboard.State) error {
		for _, a := range s.LiveActivations() {
			known := slices.ContainsFunc(also, func(b blackboard.Activation) bool { return a.ActivationKey == b.ActivationKey })
			if !known && (a.Role == message.Coder || a.Role == message.CodeReviewer) {
				steps = append(steps, a)
			}
		}
		return nil
	})
	if err != nil || len(steps) == 0 {
		return "", err
	}
	slices.SortFunc(steps, func(a, b blackboard.Activation) int {
		return cmp.Or(cmp.Compare(b.Role, a.Role), cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Subject, b.Subject)) // "coder" is after "code-reviewer"
	})
	names := make([]string, len(steps))
	for i, a := range steps {
		names[i] = fmt.Sprintf("%s on %s", a.Agent, a.Subject)
	}
	names[0] = fmt.Sprintf("%s %s %s", steps[0].Agent, verb, steps[0].Subject)
	last := len(names) - 1
	if last == 0 {
		return names[0], nil
	}
	return strings.Join(names[:last], ", ") + " and " + names[last], nil
}

// lookAtBranch compares where the integration branch is with where it was,
// before something is done with it. drift says how it differs, after the goal
// was stopped for it; where no step could have moved it, that was a person, and
// nothing is said. A branch that lost work is for whoever uses it to name.
func (g *checkoutGuard) lookAtBranch(ctx context.Context, cause message.ID, before string) (drift string, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, err := g.project.Base(ctx, g.goal); err != nil {
		return "", nil
	}
	at, err := g.integration(ctx)
	if err != nil {
		return "", fmt.Errorf("look at the integration branch: %w", err)
	}
	if at == asMerged || at == g.last.Refs[g.project.ref] {
		return "", nil
	}
	now := g.last
	now.Refs = maps.Clone(now.Refs)
	now.Refs[g.project.ref] = at
	if g.apart {
		return "", g.keep(now)
	}
	atWork, err := g.atWork(ctx, "works on")
	if err != nil {
		return "", fmt.Errorf("look who moved the integration branch: %w", err)
	}
	if atWork != "" {
		before += ", while " + atWork
	}
	drift = fmt.Sprintf("%s is at %.12s, where no merge of this goal put it, and %s. If that was you: orch resume", strings.TrimPrefix(g.project.ref, "refs/heads/"), at, before)
	return drift, errors.Join(g.stop(ctx, cause, drift), g.keep(now))
}

// stop suspends the goal until a person has looked.
func (g *checkoutGuard) stop(ctx context.Context, cause message.ID, why string) error {
	_, err := g.board.Append(ctx, message.Message{From: message.Supervisor, To: message.All, Goal: g.goal, Subject: string(g.goal),
		Cause: cause, Body: message.CheckpointReached{Name: mainCheckout, Reason: why}})
	if err != nil && !supervisor.Refused(err) {
		return fmt.Errorf("say that the main checkout changed: %w", err)
	}
	return nil
}
