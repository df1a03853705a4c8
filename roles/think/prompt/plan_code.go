package prompt

import (
	"fmt"
	"strings"

	"orch/blackboard/message"
	"orch/roles/think"
)

// codeGoal is what a goal of the coding profile has beside the rest.
func codeGoal(in think.CodePlan) []Part {
	var open []string
	for _, r := range in.Raised {
		open = append(open, raised(r))
	}
	return []Part{
		{Inputs, nonEmpty("The spec the person named: "+in.SpecRef, "The spec"), in.Spec, true},
		{Inputs, "Found on the way, and not answered", bullets(open), true},
	}
}

func raised(r think.Raised) string {
	line := fmt.Sprintf("%s by %s: %s", r.Kind, nonEmpty(r.By, "somebody"), oneLine(r.What))
	for _, more := range []struct{ label, text string }{{"severity", r.Severity}, {"in", r.Slot}, {"advice", oneLine(r.Advice)}} {
		if more.text != "" {
			line += ", " + more.label + " " + more.text
		}
	}
	return line
}

// ForPlanReviewer asks what is wrong with a plan.
func ForPlanReviewer(in think.PlanReviewInput) (Prompt, error) {
	parts := append(goal(in.Spec, ""), codeGoal(in.Code)...)
	slots := map[message.TaskID]string{}
	for _, t := range in.Tasks {
		slots[t.ID] = t.Slot
	}
	var kept []string
	for _, t := range in.Kept {
		slots[t.ID] = t.Slot
		kept = append(kept, fmt.Sprintf("%s · %s on %s", t.Slot, t.Approach, t.Target))
	}
	parts = append(parts, Part{Inputs, "Criteria of the goal", criteria(in.TaskCriteria), true}, Part{Inputs, "Merged before, and kept", bullets(kept), true})
	for _, t := range in.Tasks {
		parts = append(parts, Part{Inputs, "Task " + t.Slot, draft(t, slots), true})
	}
	return Compose(PlanReviewer, in.Values, in, append(parts, word(in.Word))...)
}

// draft is a task in words.
func draft(t message.SubTask, slots map[message.TaskID]string) string {
	var needs []string
	for _, id := range t.DependsOn {
		needs = append(needs, nonEmpty(slots[id], string(id)))
	}
	var b strings.Builder
	for _, line := range []struct{ label, text string }{
		{"intent", t.Intent}, {"context", t.Context}, {"approach", t.Approach + " on " + nonEmpty(t.Target, "(no target)")},
		{"spec_ref", t.SpecRef}, {"done_when", t.DoneWhen}, {"scope", t.Scope}, {"depends_on", strings.Join(needs, ", ")},
		{"may change", strings.Join(t.Targets, ", ")}, {"tests", tests(t)}, {"criteria", "\n" + criteria(t.SuccessCriteria)},
	} {
		if strings.TrimSpace(line.text) != "" {
			b.WriteString(line.label + ": " + line.text + "\n")
		}
	}
	return b.String()
}

// ForWake asks what to do about one thing that woke the planner.
func ForWake(in think.WakeInput) (Prompt, error) {
	parts := append(goal(in.Spec, ""), Part{Section: Inputs, Label: "What came up: " + in.Kind, Text: "may: " + strings.Join(in.May, ", ")}, Part{Inputs, "Why", in.Why, true})
	if in.Task != nil {
		parts = append(parts, wakeTask(*in.Task)...)
	}
	if in.Raised != nil {
		parts = append(parts, Part{Inputs, "What was raised", raised(*in.Raised), true})
	}
	parts = append(parts, Part{Inputs, "What people said since", bullets(in.Said), true},
		Part{Inputs, nonEmpty("The spec: "+in.SpecRef, "The spec"), in.SpecText, true})
	var plan []string
	for _, p := range in.Plan {
		line := fmt.Sprintf("%s · %s · %s", p.Slot, p.Status, oneLine(p.Intent))
		if len(p.DependsOn) > 0 {
			line += " · after " + strings.Join(p.DependsOn, ", ")
		}
		plan = append(plan, line)
	}
	parts = append(parts, Part{Inputs, "The plan: slot · status · intent", bullets(plan), true},
		Part{Inputs, "How the plan changed before", bullets(in.Alignment), true})
	parts = append(parts, constraints(in.Constraint)...)
	parts = append(parts, Part{Section: Feedback, Label: "Code did not take your last answer; put this right", Text: in.Refused})
	return Compose(PlannerWake, in.Values, in, parts...)
}

// wakeTask is a task that needs its planner, with what happened to it.
func wakeTask(t think.WakeTask) []Part {
	var happened []string
	add := func(label, text string) {
		if text = oneLine(text); text != "" {
			happened = append(happened, label+": "+text)
		}
	}
	add("blocked", t.Reason)
	add("kind of block", t.BlockedKind)
	for _, q := range t.Questions {
		add("asks", q)
	}
	for _, a := range t.Attempted {
		add("tried", a)
	}
	for _, who := range t.FailedBy {
		add("was blocked", string(who))
	}
	for _, a := range t.Answered {
		add("you answered before", a)
	}
	if t.ReviewCycles > 0 {
		add("rejections", fmt.Sprint(t.ReviewCycles))
	}
	if t.Rescopes > 0 {
		add("it replaced a task; rescopes of this line", fmt.Sprint(t.Rescopes))
	}
	for _, a := range t.Anomalies {
		add("noted", a)
	}
	parts := []Part{{Inputs, "The task " + t.Slot, draft(t.SubTask, nil), true}, {Inputs, "What happened to it", bullets(happened), true},
		{Inputs, "What its review blocks on", blockers(t.Pending), true}, {Inputs, "Checks of its last review", verdicts(t.Checks), true}}
	if t.Handoff != nil {
		parts = append(parts, Part{Inputs, "What its coder handed on", handoff(*t.Handoff), true})
	}
	if f := t.Fix; f != nil {
		parts = append(parts, Part{Inputs, "Why it does not fit the integration branch", bullets([]string{"in conflict: " + nonEmpty(strings.Join(f.Conflict, ", "), "nothing"),
			"command: " + f.Command}) + f.Output, true})
	}
	return parts
}
