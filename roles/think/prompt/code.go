package prompt

import (
	"fmt"
	"slices"
	"strings"

	"orch/blackboard/message"
	"orch/roles/think"
)

// ForCoder asks for one iteration on a task.
func ForCoder(in think.CodeInput) (Prompt, error) {
	t := in.Task
	parts := []Part{
		{Section: Inputs, Label: "Your task", Text: t.Intent},
		{Section: Inputs, Label: "Done when", Text: t.DoneWhen},
		{Section: Inputs, Label: "In scope", Text: t.Scope},
		{Section: Inputs, Label: "Tests", Text: tests(t)},
		{Section: Inputs, Label: "Criteria it will be judged by", Text: criteria(t.SuccessCriteria)},
		{Section: Inputs, Label: "Context", Text: t.Context},
		{Section: Inputs, Label: "Where you are", Text: fmt.Sprintf("iteration %d, in a worktree of your own that began at %s. `orch submit` ends the iteration for review; `orch note` notes what must be noted.", in.Iteration, in.Base)},
		{Inputs, nonEmpty("The spec: "+t.SpecRef, "The spec"), in.Spec, true},
	}
	if f := in.Fix; f != nil {
		parts = append(parts, Part{Section: Feedback, Label: "Your approved work does not fit the integration branch", Text: fixText(f)},
			Part{Feedback, "What went wrong there", f.Output, true})
	}
	parts = append(parts, Part{Feedback, "The review rejected this; each point binds", blockers(in.Pending), true},
		Part{Feedback, "Checks of the last review", verdicts(in.Checks), true})
	if h := in.Handoff; h != nil {
		parts = append(parts, Part{Feedback, "Handed on to you", handoff(*h), true})
	}
	parts = append(parts, Part{Feedback, "Said about the task since", bullets(in.Answers), true})
	return Compose(Coder, in.Values, in, parts...)
}

func tests(t message.SubTask) string {
	if t.ExemptFromTests {
		return "this task is exempt from tests"
	}
	return "tests that show done_when are part of the task"
}

func fixText(f *think.CodeFix) string {
	s := fmt.Sprintf("Only make it fit: `git merge %s` here, solve what does not fit, commit, and change nothing else.", f.Integration)
	if len(f.Conflict) > 0 {
		s += "\nIn conflict: " + strings.Join(f.Conflict, ", ")
	}
	if f.Command != "" && len(f.Conflict) == 0 {
		s += "\nIt fails on the merged tree: " + f.Command
	}
	return s
}

func handoff(h message.Handoff) string {
	lines := []string{"summary: " + h.Summary, "next action: " + h.NextAction}
	if h.Approach != "" {
		lines = append(lines, "approach: "+h.Approach)
	}
	for _, s := range h.NextSteps {
		lines = append(lines, "then: "+s)
	}
	for _, b := range h.Blockers {
		lines = append(lines, "in the way: "+b)
	}
	return bullets(lines)
}

func blockers(all []message.Blocker) string {
	var lines []string
	for _, b := range all {
		line := b.Name() + "\n  fix: " + b.Fix
		if b.SpecRef != "" {
			line += "\n  spec: " + b.SpecRef
		}
		lines = append(lines, line)
	}
	return bullets(lines)
}

func verdicts(all []message.Verdict) string {
	var lines []string
	for _, v := range all {
		lines = append(lines, fmt.Sprintf("%s: %s — %s", v.Verdict, v.Criterion, oneLine(v.Evidence)))
	}
	return bullets(lines)
}

// ForReviewer asks for the verdict on one commit.
func ForReviewer(in think.ReviewInput) (Prompt, error) {
	t := in.Task
	commit := fmt.Sprintf("commit %s by %s, on top of %s. %s", in.Commit, in.Coder, in.Base, seen(in.Dir))
	if in.SpecChanged {
		commit += " The spec changed since the work began: judge by what it says now."
	}
	if in.Second {
		commit += " Somebody approved it; look for what speaks against that."
	}
	parts := []Part{
		{Section: Inputs, Label: "The task", Text: t.Intent},
		{Section: Inputs, Label: "Done when", Text: t.DoneWhen},
		{Section: Inputs, Label: "In scope", Text: t.Scope},
		{Section: Inputs, Label: "Tests", Text: tests(t)},
		{Section: Inputs, Label: "What you judge", Text: commit},
		{Section: Inputs, Label: "Criteria no check decides: give a verdict on each by its id", Text: undecided(t, in.Checks)},
		{Inputs, nonEmpty("The spec as it is now: "+t.SpecRef, "The spec"), in.Spec, true},
		{Inputs, "Checks that were run", verdicts(in.Checks), true},
		{Inputs, "Found by code in the change: accept by its ID what the task itself demands", findings(in.Findings), true},
		{Inputs, "What the coder says", in.Notes, true},
		{Inputs, "The change", in.Diff, true},
		{Feedback, "Blockers of earlier reviews: say of each what became of it, by exactly this name", names(in.Pending), true},
		{Feedback, "Your verdict on this was given back, because it does not bind; give a whole one", in.Refused, true},
		word(in.Word),
	}
	return Compose(CodeReviewer, in.Values, in, parts...)
}

// seen says what a reviewer has of a commit.
func seen(dir string) string {
	if dir == "" {
		return "You see the change below, and no other file: what it does not show you can not be sure of."
	}
	return "You are in a checkout of it."
}

// undecided are the criteria that a reviewer is asked about. One whose words a
// check decides is asked about for what the check does not show, so that nothing
// is both decided and open.
func undecided(t message.SubTask, run []message.Verdict) string {
	var lines []string
	for _, c := range t.SuccessCriteria {
		switch {
		case c.HasCheck():
		case slices.ContainsFunc(run, func(v message.Verdict) bool {
			return v.CriterionID != c.ID && oneLine(v.Criterion) == oneLine(c.Criterion)
		}):
			line := c.ID + ": the change itself brings about what the check of the same words shows"
			if !t.ExemptFromTests {
				line += ", and tests that would fail without it show it too"
			}
			lines = append(lines, line)
		default:
			lines = append(lines, c.ID+": "+c.Criterion)
		}
	}
	return bullets(lines)
}

func findings(all []think.CodeFinding) string {
	var lines []string
	for _, f := range all {
		line := fmt.Sprintf("%s %s %s: %s", f.ID, f.Place(), f.Kind, f.What)
		switch {
		case f.Let:
			line += " (a person accepted it)"
		case f.Sure:
			line += " (a blocker unless accepted)"
		}
		lines = append(lines, line)
	}
	return bullets(lines)
}

func names(all []message.Blocker) string {
	var lines []string
	for _, b := range all {
		lines = append(lines, b.Name())
	}
	return bullets(lines)
}
