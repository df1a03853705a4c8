package prompt

import (
	"fmt"
	"strings"

	"orch/blackboard/message"
	"orch/roles/backend"
)

// codeGoal is what a goal of the coding profile has beside the rest.
func codeGoal(in backend.CodePlan) []Part {
	var open []string
	for _, r := range in.Raised {
		open = append(open, raised(r))
	}
	return []Part{
		{Inputs, nonEmpty("The spec the person named: "+in.SpecRef, "The spec"), in.Spec, true},
		{Inputs, "Found on the way, and not answered", bullets(open), true},
	}
}

func raised(r backend.Raised) string {
	line := fmt.Sprintf("%s by %s: %s", r.Kind, nonEmpty(r.By, "somebody"), oneLine(r.What))
	for _, more := range []struct{ label, text string }{{"severity", r.Severity}, {"in", r.Slot}, {"advice", oneLine(r.Advice)}} {
		if more.text != "" {
			line += ", " + more.label + " " + more.text
		}
	}
	return line
}

// ForPlanReviewer asks what is wrong with a plan.
func ForPlanReviewer(in backend.PlanReviewInput) (Prompt, error) {
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
	return Compose(PlanReviewer, in.Values, in, parts...)
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
