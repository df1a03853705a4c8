package prompt

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"orch/blackboard/message"
	"orch/roles/think"
)

// ForExecutor asks for one attempt at a task.
func ForExecutor(in think.ExecuteInput) (Prompt, error) {
	t := in.Task
	parts := []Part{
		{Section: Inputs, Label: "Your task", Text: t.Intent},
		{Section: Inputs, Label: "Context", Text: t.Context},
		{Section: Inputs, Label: "How", Text: how(t)},
		{Section: Inputs, Label: "Criteria it will be judged by", Text: criteria(t.SuccessCriteria)},
		{Section: Inputs, Label: "The goal it belongs to", Text: in.Spec.Intent},
	}
	for _, slot := range slices.Sorted(maps.Keys(in.Inputs)) {
		parts = append(parts, Part{Inputs, "Output of " + slot, in.Inputs[slot], true})
	}
	parts = append(parts, mustNot(in.MustNot))
	if len(in.Done) > 0 {
		parts = append(parts,
			Part{Section: Inputs, Label: "Done already", Text: think.GoOn},
			Part{Inputs, "Calls with their results, oldest first", think.Told(in.Done), true})
	}
	if c := in.Correction; c != nil {
		parts = append(parts,
			Part{Section: Feedback, Label: fmt.Sprintf("Attempt %d failed; this is attempt %d", c.AttemptNumber, in.Attempt), Text: "Criterion not met: " + c.FailedCriterion},
			Part{Feedback, "What was wrong", c.WhatWasWrong, true},
			Part{Feedback, "What would put it right", c.WhatToDo, true})
	}
	return Compose(Executor, in.Values, in, parts...)
}

func how(t message.SubTask) string {
	lines := []string{"approach: " + nonEmpty(t.Approach, "yours to choose")}
	if t.Target != "" {
		lines = append(lines, "target: "+t.Target)
	}
	switch {
	case t.ReadOnly:
		lines = append(lines, "it changes nothing in the project")
	case len(t.Targets) > 0:
		lines = append(lines, "it may change: "+strings.Join(t.Targets, ", "))
	}
	if len(t.Tools) > 0 {
		lines = append(lines, "tools it was planned with: "+strings.Join(t.Tools, ", "))
	}
	if t.Deadline != nil {
		lines = append(lines, "done by: "+t.Deadline.UTC().Format("2006-01-02 15:04 MST"))
	}
	return bullets(lines)
}

func criteria(all []message.Criterion) string {
	var lines []string
	for _, c := range all {
		line := c.Criterion
		if c.HasCheck() {
			line += " — decided by code: " + cut(oneLine(string(c.Check)), 500)
		}
		lines = append(lines, line)
	}
	return bullets(lines)
}

// ForJudge asks for the verdict on one criterion. A second judgement says
// nothing of the first.
func ForJudge(in think.JudgeInput) (Prompt, error) {
	role, source := AgentValidator, "The task"
	if in.Sceptical {
		role, source = MetaValidator, "The goal"
	}
	parts := []Part{
		{Section: Inputs, Label: "The criterion", Text: in.Criterion.Criterion},
		{Inputs, source + " it belongs to", in.Intent, true},
		{Inputs, "The output: what the judged party says", in.Output, true},
		{Inputs, "Calls it reports of itself, which prove nothing", strings.Join(in.Observed, "\n"), true},
	}
	for _, r := range in.Records {
		parts = append(parts, Part{Inputs, "Record " + r.Name, strings.TrimSpace(r.What+"\n"+r.Asked) + "\n\n" + r.Text, true})
	}
	if len(in.Records) == 0 {
		parts = append(parts, Part{Section: Inputs, Label: "Records", Text: "There is none: orch saw nothing that was done."})
	}
	parts = append(parts, word(in.Word))
	if in.Second {
		parts = append(parts, Part{Section: Inputs, Label: "Note", Text: "Begin from the evidence against the criterion, then weigh the evidence for it."})
	}
	return Compose(role, in.Values, in, parts...)
}

// word asks a judge to repeat the word of its question. It stands at the end,
// outside all data.
func word(w string) Part {
	return Part{Section: Feedback, Label: "The word of this question", Text: w}
}

// ForMerger asks to join what several tasks produced.
func ForMerger(in think.MergeInput) (Prompt, error) {
	parts := []Part{
		{Section: Inputs, Label: "The goal", Text: in.Spec.Intent},
		{Inputs, "In the person's own words", in.Spec.RawInput, true},
	}
	for _, o := range in.Outcomes {
		parts = append(parts, Part{Inputs, "Output of " + o.Slot, o.Output, true})
	}
	return Compose(Merger, in.Values, in, parts...)
}

// Experiences are what the memory has seen of one way of working.
type Experiences struct {
	Space      string   `json:"space"`
	Entity     string   `json:"entity"`
	BestAvoid  bool     `json:"best_avoid"` // they speak against it
	Lessons    []string `json:"lessons"`    // one each, oldest first
	Occurrence int      `json:"occurrence"` // how many there were
}

// ForDistiller asks for one rule.
func ForDistiller(in Experiences) (Prompt, error) {
	tends := "it worked"
	if in.BestAvoid {
		tends = "it failed"
	}
	return Compose(Distiller, "", in,
		Part{Section: Inputs, Label: "The way of working", Text: fmt.Sprintf("%s, %s; seen %d times, mostly %s", in.Space, in.Entity, in.Occurrence, tends)},
		Part{Inputs, "Experiences", bullets(in.Lessons), true})
}

// GivenUp is a goal that was abandoned.
type GivenUp struct {
	Spec         message.TaskSpec  `json:"spec"`
	Accomplished []string          `json:"accomplished"`
	Unmet        []message.Verdict `json:"unmet"`
	Tried        []string          `json:"tried"` // approach on target
	Why          string            `json:"why"`
}

// ForNextMoves asks what a person could do after a goal was given up.
func ForNextMoves(in GivenUp) (Prompt, error) {
	var unmet []string
	for _, v := range in.Unmet {
		unmet = append(unmet, v.Criterion+": "+cut(oneLine(v.Evidence), 500))
	}
	return Compose(NextMoves, "", in,
		Part{Section: Inputs, Label: "The goal", Text: in.Spec.Intent},
		Part{Inputs, "In the person's own words", in.Spec.RawInput, true},
		Part{Inputs, "Reached", bullets(in.Accomplished), true},
		Part{Inputs, "Not reached, with the evidence", bullets(unmet), true},
		Part{Inputs, "Tried", bullets(in.Tried), true},
		Part{Section: Inputs, Label: "Why it was given up", Text: in.Why})
}
