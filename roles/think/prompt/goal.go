package prompt

import (
	"fmt"
	"strings"

	"orch/blackboard/message"
	"orch/roles/think"
)

// ForPerceiver asks what a person's words say.
func ForPerceiver(in think.PerceiveInput) (Prompt, error) {
	parts := []Part{{Inputs, "The person's words", in.Input.Text, true}}
	var asked []string
	for _, qa := range in.Clarify {
		answer := strings.TrimSpace(qa.Answer)
		if answer == "" {
			answer = "(no answer: go on with the most reasonable reading)"
		}
		asked = append(asked, "Q: "+oneLine(qa.Question)+"\nA: "+answer)
	}
	parts = append(parts, Part{Inputs, "What was asked and answered", strings.Join(asked, "\n\n"), true})
	return Compose(Perceiver, in.Values, in, parts...)
}

// ForCandidates asks which ways a plan might take. survey lists what is in the
// project; it may be empty.
func ForCandidates(in think.PlanInput, survey string) (Prompt, error) {
	parts := goal(in.Spec, survey)
	if in.Code != nil {
		parts = append(parts, codeGoal(*in.Code)...)
	}
	return Compose(Candidates, in.Values, in, append(parts, previous(in)...)...)
}

// ForPlanner asks for a plan.
func ForPlanner(in think.PlanInput, survey string) (Prompt, error) {
	parts := append(facts(in.Facts), goal(in.Spec, survey)...)
	if in.Strict {
		parts = append(parts, Part{Section: Inputs, Label: "Strict", Text: "Every criterion is required."})
	}
	role := Planner
	if in.Code != nil {
		role, parts = PlannerCode, append(parts, codeGoal(*in.Code)...)
	}
	parts = append(parts, previous(in)...)
	parts = append(parts, constraints(in.Constraint)...)
	parts = append(parts, Part{Memory, "Lessons of earlier work", bullets(in.Lessons), true})
	parts = append(parts, directive(in.Directive)...)
	var wrong []string
	for _, v := range in.Violations {
		wrong = append(wrong, fmt.Sprintf("%s (%s): %s", v.Rule, v.What, v.Because))
	}
	parts = append(parts, Part{Section: Feedback, Label: "Code refused your last proposal of this round; put this right", Text: bullets(wrong)})
	return Compose(role, in.Values, in, parts...)
}

// facts are what the person told the memory, each in full.
func facts(list []string) []Part {
	var items []string
	for _, fact := range list {
		items = append(items, strings.ReplaceAll(strings.TrimSpace(fact), "\n", "\n  "))
	}
	return []Part{{Section: Facts, Label: "What the person told you to remember; it holds for every plan", Text: bullets(items)}}
}

func goal(spec message.TaskSpec, survey string) []Part {
	var bounds []string
	if s := spec.Constraints.Scope; s != nil && *s != "" {
		bounds = append(bounds, "only within: "+*s)
	}
	if d := spec.Constraints.Deadline; d != nil {
		bounds = append(bounds, "done by: "+d.UTC().Format("2006-01-02 15:04 MST"))
	}
	return []Part{
		{Section: Inputs, Label: "The goal", Text: spec.Intent},
		{Inputs, "In the person's own words", spec.RawInput, true},
		{Section: Inputs, Label: "Bounds", Text: bullets(bounds)},
		{Inputs, "What is in the project", survey, true},
	}
}

// previous tells what became of the tasks of earlier plans.
func previous(in think.PlanInput) []Part {
	var lines []string
	for _, t := range in.Previous {
		line := fmt.Sprintf("%s · %s on %s · %s", t.Slot, t.Approach, nonEmpty(t.Target, "(no target)"), t.Status)
		if t.Reason != "" && t.Status != message.Matched {
			line += ": " + cut(oneLine(t.Reason), 400)
		}
		lines = append(lines, line)
	}
	return []Part{{Inputs, "Tasks of earlier plans: slot · approach on target · what became of it", bullets(lines), true}}
}

func constraints(c think.Constraints) []Part {
	var prefer, careful []string
	for _, p := range c.Prefer {
		prefer = append(prefer, p.Tool+" on "+nonEmpty(p.Target, "any target"))
	}
	for _, p := range c.Caution {
		careful = append(careful, p.Tool+" on "+nonEmpty(p.Target, "any target"))
	}
	return []Part{
		mustNot(c.MustNot),
		{Section: Memory, Label: "PREFER", Text: bullets(prefer)},
		{Section: Memory, Label: "CAREFUL", Text: bullets(careful)},
	}
}

func mustNot(bans []think.Ban) Part {
	var must []string
	for _, b := range bans {
		must = append(must, fmt.Sprintf("%s%s (%s: %s)", what(b), where(b), b.Source, cut(oneLine(b.Because), 200)))
	}
	return Part{Section: Memory, Label: "MUST NOT", Text: bullets(must)}
}

func what(b think.Ban) string {
	switch {
	case b.Target == "":
		return "approach " + b.Approach
	case b.Approach == "":
		return "target " + b.Target
	}
	return b.Approach + " on " + b.Target
}

func where(b think.Ban) string {
	if b.Slot == "" {
		return ""
	}
	return " for slot " + b.Slot
}

// directive words the controller's order.
func directive(d *message.PlanDirective) []Part {
	if d == nil {
		return nil
	}
	var lines []string
	if d.Policy != message.LikeForLike {
		lines = append(lines, fmt.Sprintf("for the whole plan: %s", d.Directive))
	}
	for _, t := range d.TaskDirectives {
		lines = append(lines, order(t))
	}
	parts := []Part{{Section: Feedback, Label: fmt.Sprintf("Round %d fell short; the controller orders", d.Round), Text: bullets(lines)}}
	if d.FailedCriterion != "" {
		failed := d.FailedCriterion
		if d.FailureClass != "" {
			failed += " (" + string(d.FailureClass) + ")"
		}
		parts = append(parts, Part{Feedback, "The criterion that weighs most", failed, true})
	}
	return append(parts, Part{Feedback, "Why", d.Rationale, true})
}

func order(t message.TaskDirective) string {
	line := fmt.Sprintf("slot %s: %s", t.Slot, t.Directive)
	if t.Keep != nil {
		line += fmt.Sprintf(", stay with %s on %s", t.Keep.Tool, t.Keep.Target)
	}
	if t.ReturnTo != nil {
		line += fmt.Sprintf(", return to %s on %s", t.ReturnTo.Tool, t.ReturnTo.Target)
	}
	if t.Hint != "" {
		line += ", hint: " + t.Hint
	}
	if t.Because != "" {
		line += ", because " + cut(oneLine(t.Because), 300)
	}
	return line
}

func bullets(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString("- " + line + "\n")
	}
	return b.String()
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func nonEmpty(s, instead string) string {
	if s == "" {
		return instead
	}
	return s
}
