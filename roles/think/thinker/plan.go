package thinker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"orch/blackboard/message"
	"orch/roles/act/check"
	"orch/roles/act/tool"
	"orch/roles/think"
	"orch/roles/think/prompt"
)

// maxCandidates bounds what the memory is asked about.
const maxCandidates = 40

type candidates struct {
	Candidates []message.Pair `json:"candidates"`
}

// Candidates implements think.Planner: what the model would consider, and
// what earlier plans of the goal used. A model whose list can not be read
// leaves the latter: the memory is asked about less, and planning goes on.
func (t *Thinker) Candidates(ctx context.Context, in think.PlanInput) ([]message.Pair, error) {
	p, err := prompt.ForCandidates(in, t.survey(in.Workspace))
	if err != nil {
		return nil, err
	}
	v, err := object[candidates](ctx, t.talk(p), nil)
	var unusable *think.UnusableError
	if err != nil && !errors.As(err, &unusable) {
		return nil, err
	}
	pairs := []message.Pair{}
	add := func(p message.Pair) {
		p.Tool, p.Target = strings.TrimSpace(p.Tool), strings.TrimSpace(p.Target)
		if p.Tool != "" && len(pairs) < maxCandidates && !slices.Contains(pairs, p) {
			pairs = append(pairs, p)
		}
	}
	for _, before := range in.Previous {
		add(message.Pair{Tool: before.Approach, Target: before.Target})
	}
	for _, pair := range v.Candidates {
		add(pair)
	}
	return pairs, nil
}

func (t *Thinker) survey(workspace string) string {
	if t.o.Survey == nil {
		return ""
	}
	return t.o.Survey(workspace)
}

type criterion struct {
	Criterion string          `json:"criterion"`
	Mode      message.Mode    `json:"mode"`
	Required  *bool           `json:"required"`
	Check     json.RawMessage `json:"check"`
}

type plannedTask struct {
	Slot      string      `json:"slot"`
	Intent    string      `json:"intent"`
	Context   string      `json:"context"`
	Approach  string      `json:"approach"`
	Target    string      `json:"target"`
	Criteria  []criterion `json:"criteria"`
	Sequence  int         `json:"sequence"`
	DependsOn []string    `json:"depends_on"`
	Tools     []string    `json:"tools"`
	Targets   []string    `json:"targets"`
	ReadOnly  bool        `json:"read_only"`
	Priority  int         `json:"priority"`

	SpecRef  string `json:"spec_ref"`
	DoneWhen string `json:"done_when"`
	Scope    string `json:"scope"`
	Exempt   bool   `json:"exempt_from_tests"`
}

type planned struct {
	TaskCriteria []criterion   `json:"task_criteria"`
	Tasks        []plannedTask `json:"tasks"`
	Keep         []string      `json:"keep"`
	SpecGaps     []string      `json:"spec_gaps"`
	NoPlan       string        `json:"no_plan"`
}

// Plan implements think.Planner. What the plan validator would refuse for
// certain is sent back to the model at once, once. A second plan that it would
// refuse is returned: the validator names the rules it breaks.
func (t *Thinker) Plan(ctx context.Context, in think.PlanInput) (think.Proposal, error) {
	p, err := prompt.ForPlanner(in, t.survey(in.Workspace))
	if err != nil {
		return think.Proposal{}, err
	}
	c := t.talk(p)
	var readable *planned // the last answer that is a plan
	v, err := object(ctx, c, func(v *planned) error {
		err := v.check(in)
		if err != nil && len(v.Tasks) > 0 {
			readable = v
		}
		return err
	})
	if _, unusable := errors.AsType[*think.UnusableError](err); unusable && readable != nil {
		return readable.proposal(in, t.client.Model(), c.usage), nil
	}
	if err != nil {
		return think.Proposal{Usage: c.usage}, err
	}
	if len(v.Tasks) == 0 {
		return think.Proposal{Usage: c.usage}, &think.NoPlanError{Slots: openSlots(in.Previous), Why: v.NoPlan}
	}
	return v.proposal(in, t.client.Model(), c.usage), nil
}

// check lists what makes a plan useless whatever else it says.
func (v *planned) check(in think.PlanInput) error {
	if len(v.Tasks) == 0 {
		if strings.TrimSpace(v.NoPlan) == "" {
			return errors.New("tasks is empty and no_plan does not say why")
		}
		return nil
	}
	var wrong []error
	add := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	if len(v.TaskCriteria) == 0 {
		add("task_criteria is empty: nothing says when the goal is reached")
	}
	criteria := slices.Clone(v.TaskCriteria)
	slots := map[string]bool{}
	for _, task := range v.Tasks {
		criteria = append(criteria, task.Criteria...)
		slot := strings.TrimSpace(task.Slot)
		if slots[slot] {
			add("two tasks have the slot %q", slot)
		}
		slots[slot] = true
		if ban, no := in.Constraint.Forbidden(slot, strings.TrimSpace(task.Approach), strings.TrimSpace(task.Target)); no {
			add("slot %q uses what it must not: %s on %s (%s)", slot, task.Approach, task.Target, ban.Because)
		}
	}
	for _, c := range criteria {
		if has(c.Check) {
			if _, err := check.Decode(c.Check); err != nil {
				add("the check of %q: %w", c.Criterion, err)
			}
		}
	}
	done := matched(in.Previous)
	for _, slot := range v.Keep {
		if _, ok := done[slot]; !ok {
			add("keep names %q, which is no matched slot of an earlier plan", slot)
		}
		if slots[slot] {
			add("slot %q is kept and planned again", slot)
		}
	}
	return errors.Join(wrong...)
}

func has(check json.RawMessage) bool { return message.Criterion{Check: check}.HasCheck() }

// matched is the latest matched task of each slot.
func matched(before []think.PreviousTask) map[string]message.TaskID {
	done := map[string]message.TaskID{}
	for _, t := range before {
		if t.Status == message.Matched {
			done[t.Slot] = t.ID
		}
	}
	return done
}

// openSlots are the slots that have been planned and never matched.
func openSlots(before []think.PreviousTask) []string {
	done := matched(before)
	var open []string
	for _, t := range before {
		if _, ok := done[t.Slot]; !ok && !slices.Contains(open, t.Slot) {
			open = append(open, t.Slot)
		}
	}
	return open
}

func (v *planned) proposal(in think.PlanInput, source string, usage message.Usage) think.Proposal {
	p := think.Proposal{TaskCriteria: specs(v.TaskCriteria), Source: source, SpecGaps: v.SpecGaps, Usage: usage}
	done := matched(in.Previous)
	for _, slot := range v.Keep {
		id, ok := done[slot]
		if !ok {
			id = message.TaskID(slot) // no task has it: the validator says so
		}
		if !slices.Contains(p.Keep, id) {
			p.Keep = append(p.Keep, id)
		}
	}
	for _, t := range v.Tasks {
		p.Tasks = append(p.Tasks, t.proposed())
	}
	return p
}

func (t plannedTask) proposed() think.ProposedTask {
	return think.ProposedTask{
		Slot: strings.TrimSpace(t.Slot), Intent: t.Intent, Context: t.Context, Approach: t.Approach, Target: strings.TrimSpace(t.Target),
		Criteria: specs(t.Criteria), Sequence: t.Sequence, DependsOn: t.DependsOn, Tools: knownTools(t.Tools), Targets: t.Targets,
		ReadOnly: t.ReadOnly, Priority: t.Priority,
		SpecRef: t.SpecRef, DoneWhen: t.DoneWhen, Scope: t.Scope, ExemptFromTests: t.Exempt,
	}
}

func specs(all []criterion) []think.CriterionSpec {
	out := []think.CriterionSpec{}
	for _, c := range all {
		spec := think.CriterionSpec{Text: c.Criterion, Mode: c.Mode, Required: c.Required}
		if has(c.Check) {
			spec.Check = c.Check
		}
		out = append(out, spec)
	}
	return out
}

// knownTools drops names that are no tool: they only describe the plan.
func knownTools(names []string) []string {
	var out []string
	for _, name := range names {
		if _, ok := toolTable()[tool.Name(name)]; ok {
			out = append(out, name)
		}
	}
	return out
}
