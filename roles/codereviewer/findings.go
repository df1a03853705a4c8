package codereviewer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"orch/blackboard/message"
	"orch/roles/act/contents"
	"orch/roles/act/weaken"
	"orch/roles/act/workspace"
	"orch/roles/loop/code"
	"orch/roles/run/step"
	"orch/roles/think"
)

// finding is one finding with the content it was seen in.
type finding struct {
	weaken.Finding
	content string
}

// accepted is the finding as somebody accepted it.
func (f finding) accepted(by message.Role, reason string) message.AcceptedFinding {
	b := f.Blocker("")
	return message.AcceptedFinding{Finding: f.ID(), Content: f.content, What: step.Cut(b.Name(), step.EvidenceBytes), Reason: reason, By: by}
}

// find looks at the change with all that code has to look with.
func (r *review) find(ctx context.Context, diff []byte) error {
	t := r.task
	found, err := weaken.Inspect(diff, t.ExemptFromTests)
	if err != nil {
		return fmt.Errorf("look at what the change does to tests: %w", err)
	}
	changed, err := r.w.Repo.Changed(ctx, workspace.Commit(t.Base), r.commit)
	if err != nil {
		return err
	}
	found = append(found, weaken.OwnFiles(changed)...)
	found = append(found, outOfScope(r.goal, changed)...)
	head, err := r.w.Repo.Intact(ctx, r.goal.ID, r.w.Integration)
	if err != nil {
		return err
	}
	change, err := r.w.Repo.Contents(ctx, workspace.Commit(t.Base), r.commit, head)
	if err != nil {
		return err
	}
	found = append(found, contents.Inspect(change, step.IsCoder, r.e.Config.Code.LargeFileBytes)...)
	entries, err := r.protected(ctx, change)
	if err != nil {
		return err
	}
	if err := r.digests(ctx, change); err != nil {
		return err
	}
	r.add(append(found, entries...))
	return nil
}

// digests makes out which contents the change has.
func (r *review) digests(ctx context.Context, change contents.Change) error {
	before, err := r.w.Repo.Tree(ctx, workspace.Commit(r.task.Base))
	if err != nil {
		return err
	}
	after, err := r.w.Repo.Tree(ctx, r.commit)
	if err != nil {
		return err
	}
	r.whole, r.files = digest("tree", before, after), map[string]string{}
	for _, e := range change.Entries {
		r.files[e.Path] = digest(e.Old, e.Was, e.New, e.Is)
	}
	return nil
}

// add binds findings to the content they were seen in, and shows them: their
// file before and after, or both trees where they are about more than that. An
// acceptance holds for that content alone.
func (r *review) add(found []weaken.Finding) {
	for _, f := range found {
		content, single := r.files[f.File]
		if f.Whole || !single {
			content = r.whole
		}
		r.found = append(r.found, finding{f, content})
	}
	r.show()
}

// contentBytes of a digest are enough to tell contents apart that somebody chose.
const contentBytes = 20

func digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, " ")))
	return hex.EncodeToString(sum[:contentBytes])
}

// show makes the findings what a reviewer is shown.
func (r *review) show() {
	r.in.Findings = []think.CodeFinding{}
	for _, f := range r.found {
		r.in.Findings = append(r.in.Findings, think.CodeFinding{ID: f.ID(), File: f.File, Line: f.Line, Kind: string(f.Kind), What: f.What, Sure: f.Sure, Let: r.let(f)})
	}
}

// let tells whether a person lets a finding stand, as it is seen now.
func (r *review) let(f finding) bool {
	return slices.ContainsFunc(r.task.Review.Accepted, f.accepted(message.Human, "").Same)
}

// hearPerson looks whether a person accepted something while a reviewer was thinking.
func (r *review) hearPerson(ctx context.Context) error {
	t, _, err := r.e.ReadTask(ctx)
	if err == nil {
		r.task.Review.Accepted = t.Review.Accepted
	}
	return err
}

// named tells whether a reviewer accepted a finding.
func named(f finding, accepted []think.Acceptance) bool {
	return slices.ContainsFunc(accepted, func(a think.Acceptance) bool { return a.Finding == f.ID() })
}

// unacceptable says what is wrong with how a reviewer accepts findings; empty
// when nothing is.
func (r *review) unacceptable(accepted []think.Acceptance) string {
	var wrong []string
	for _, a := range accepted {
		if !slices.ContainsFunc(r.found, func(f finding) bool { return f.ID() == a.Finding }) {
			wrong = append(wrong, fmt.Sprintf("accepted_findings names %q, which was not found in this change", a.Finding))
		} else if why := code.ReasonProblem(a.Reason); why != "" {
			wrong = append(wrong, fmt.Sprintf("the reason for accepting %s, %s", a.Finding, why))
		}
	}
	return strings.Join(wrong, "; ")
}

// unanswered are the sure findings that nobody accepted by name, as blockers.
func (r *review) unanswered(accepted []think.Acceptance) (open []message.Blocker) {
	for _, f := range r.found {
		if f.Sure && !named(f, accepted) && !r.let(f) {
			b := f.Blocker(r.task.SpecRef)
			b.Finding, b.Content = f.ID(), f.content
			open = append(open, b)
		}
	}
	return open
}

// standing are the IDs of findings that block as long as nobody accepts them.
func (r *review) standing() (ids []string) {
	for _, b := range r.unanswered(nil) {
		ids = append(ids, b.Finding)
	}
	return ids
}

// mostNoted bounds what a verdict notes.
const mostNoted = 50

// noted are the findings that a reviewer was shown and did not have to answer,
// in words for the record.
func (r *review) noted(accepted []think.Acceptance) (all []string) {
	for _, f := range r.found {
		if !f.Sure && !named(f, accepted) && len(all) < mostNoted {
			b := f.Blocker("")
			all = append(all, step.Cut(b.Name(), step.EvidenceBytes))
		}
	}
	return all
}

// accepted are the findings that stand by name, for the record.
func (r *review) accepted(by []think.Acceptance) (all []message.AcceptedFinding) {
	for _, f := range r.found {
		switch i := slices.IndexFunc(by, func(a think.Acceptance) bool { return a.Finding == f.ID() }); {
		case r.let(f):
			all = append(all, f.accepted(message.Human, ""))
		case i >= 0:
			all = append(all, f.accepted(message.CodeReviewer, step.Cut(by[i].Reason, step.EvidenceBytes)))
		}
	}
	return all
}
