package playbook

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"sort"
	"strings"

	"orch/blackboard/message"
	"orch/roles/think"
)

// situation is everything a plan is made from.
type situation struct {
	in     think.PlanInput
	book   *Playbook
	values Values
	dirs   []string // where detect found something
	facts  Facts
	past   past
}

// situate finds the playbook and its parameters in a workspace of these facts. What stands in the way of any
// plan is a *think.NoPlanError.
func (b *Backend) situate(in think.PlanInput, facts Facts) (*situation, error) {
	words := in.Spec.RawInput
	if words == "" {
		words = in.Spec.Intent
	}
	before := planned(in.Previous)
	p, err := b.opt.Library.For(cmp.Or(in.Playbook, before), words)
	var gone *UnknownError
	if errors.As(err, &gone) && gone.Name == before {
		return nil, &think.NoPlanError{Why: "the playbook that planned this goal is gone: " + before}
	}
	if err != nil {
		return nil, err
	}
	values, dirs, err := p.values(words, facts, builtinValues{Orch: b.opt.Orch, Goal: string(in.Goal), Home: b.opt.Home})
	if err != nil {
		return nil, &think.NoPlanError{Why: err.Error()}
	}
	return &situation{in: in, book: p, values: values, dirs: dirs, facts: facts, past: newPast(in)}, nil
}

// planned is the playbook that made the last plan of the goal: a goal stays with
// the playbook it began with, whatever has become of the rules of matching since.
func planned(previous []think.PreviousTask) string {
	if len(previous) == 0 {
		return ""
	}
	a, err := DecodeAction(previous[len(previous)-1].Action)
	if err != nil {
		return "" // a model planned it
	}
	name, _, _ := strings.Cut(a.Playbook, "@")
	return name
}

// Candidates lists every pair whose conditions hold, in the playbook's order.
func (b *Backend) Candidates(ctx context.Context, in think.PlanInput) ([]message.Pair, error) {
	s, err := b.situate(in, b.opt.Facts(in.Workspace))
	var none *think.NoPlanError
	if errors.As(err, &none) {
		return []message.Pair{}, nil // Plan will say why
	}
	if err != nil {
		return nil, err
	}
	pairs := []message.Pair{}
	seen := map[message.Pair]bool{}
	for _, t := range s.slots() {
		for _, o := range s.options(t).possible {
			if pair := o.pair(); !seen[pair] {
				seen[pair] = true
				pairs = append(pairs, pair)
			}
		}
	}
	return pairs, ctx.Err()
}

// Plan takes, for every slot that is not kept, the first approach that is
// applicable and allowed, as the directive says. Where only programs that are
// not installed stand in the way, the error is a *think.MissingToolError.
func (b *Backend) Plan(ctx context.Context, in think.PlanInput) (think.Proposal, error) {
	p, err := b.plan(ctx, in, b.opt.Facts(in.Workspace))
	if lacks := b.lacking(ctx, in, err); lacks != nil {
		return think.Proposal{}, lacks
	}
	return p, err
}

func (b *Backend) plan(ctx context.Context, in think.PlanInput, facts Facts) (think.Proposal, error) {
	s, err := b.situate(in, facts)
	if err != nil {
		return think.Proposal{}, err
	}
	slots := s.slots()
	if len(slots) == 0 {
		return think.Proposal{}, &think.NoPlanError{Why: "no part of the playbook " + s.book.Name + " applies to this workspace and intent"}
	}
	keep, redo := s.keep(slots)
	chosen, err := s.chooseAll(redo)
	if err != nil {
		return think.Proposal{}, err
	}
	out := think.Proposal{Keep: keep, Source: s.book.ID()}
	if out.TaskCriteria, err = s.criteria(s.book.TaskCriteria, s.values); err != nil {
		return think.Proposal{}, err
	}
	for i, t := range redo {
		task, err := s.task(t, chosen[i], slots)
		if err != nil {
			return think.Proposal{}, err
		}
		out.Tasks = append(out.Tasks, task)
	}
	return out, ctx.Err()
}

// slots are the subtasks whose condition holds, lower sequences first.
func (s *situation) slots() []Subtask {
	var list []Subtask
	for _, t := range s.book.Subtasks {
		if ok, _ := t.When.Holds(s.facts, s.values); ok {
			list = append(list, t)
		}
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].Sequence < list[j].Sequence })
	return list
}

// keep splits the slots into those whose matched task still counts and those to
// be done. A matched task is done again when the controller names it, when what
// it depends on is done again, or when the files it rests on have changed.
func (s *situation) keep(slots []Subtask) (keep []message.TaskID, redo []Subtask) {
	again := map[string]bool{}
	for _, t := range slots {
		last, ok := s.past.last(t.Slot)
		if ok && last.Status == message.Matched && !s.stale(t, last, again) {
			keep = append(keep, last.ID)
			continue
		}
		again[t.Slot] = true
		redo = append(redo, t)
	}
	if len(redo) > 0 {
		return keep, redo
	}
	// Everything matched and yet a plan is asked for: a criterion of the whole
	// failed. What changed nothing can't be the reason, unless nothing else is there.
	keep = nil
	for _, t := range slots {
		if !t.ReadOnly {
			redo = append(redo, t)
			continue
		}
		last, _ := s.past.last(t.Slot)
		keep = append(keep, last.ID)
	}
	if len(redo) == 0 {
		return nil, slots
	}
	return keep, redo
}

func (s *situation) stale(t Subtask, last think.PreviousTask, again map[string]bool) bool {
	if _, named := s.past.directive(t.Slot); named {
		return true
	}
	for _, d := range t.DependsOn {
		if again[d] {
			return true
		}
	}
	if len(t.Inputs) == 0 || len(last.Action) == 0 {
		return false
	}
	a, err := DecodeAction(last.Action)
	return err != nil || a.Inputs != s.facts.Digest(t.Inputs)
}

// criteria puts the values into criteria whose condition holds.
func (s *situation) criteria(list []Criterion, v Values) ([]think.CriterionSpec, error) {
	var out []think.CriterionSpec
	for _, c := range list {
		if ok, _ := c.When.Holds(s.facts, v); !ok {
			continue
		}
		data, err := json.Marshal(v.render(c.Check))
		if err != nil {
			return nil, fmt.Errorf("write the check of %q: %w", c.Criterion, err)
		}
		out = append(out, think.CriterionSpec{Text: v.plain(c.Criterion), Mode: message.Verifiable, Required: c.Required, Check: data})
	}
	return out, nil
}

// task makes a proposal of a slot and the option chosen for it.
func (s *situation) task(t Subtask, o option, slots []Subtask) (think.ProposedTask, error) {
	action := Action{Version: actionVersion, Playbook: s.book.ID(), Slot: t.Slot, Approach: o.approach.Name, Target: o.target,
		When: o.approach.When, Dir: o.dir, WaitMS: o.waitMS, Output: o.approach.Output, Inputs: s.facts.Digest(t.Inputs), Params: map[string]string{}, Seconds: o.approach.Seconds}
	for name, value := range s.optionValues(o) {
		action.Params[name] = value.Text
	}
	tools := map[string]bool{}
	for _, variant := range o.variants() {
		av := ActionVariant{Name: variant.Name}
		v := s.optionValues(o).with(variant.Set)
		for i, step := range o.approach.Steps {
			rendered, err := renderStep(*o.approach, step, i, o.dir, v)
			if err != nil {
				return think.ProposedTask{}, err
			}
			tools[rendered.Tool] = true
			av.Steps = append(av.Steps, rendered)
		}
		action.Variants = append(action.Variants, av)
	}
	data, err := json.Marshal(action)
	if err != nil {
		return think.ProposedTask{}, fmt.Errorf("write the action of %s: %w", t.Slot, err)
	}
	v := s.optionValues(o)
	criteria, err := s.criteria(t.Criteria, v)
	if err != nil {
		return think.ProposedTask{}, err
	}
	task := think.ProposedTask{Slot: t.Slot, Intent: v.plain(t.Intent), Criteria: criteria, Context: s.context(o), Sequence: t.Sequence,
		Approach: o.approach.Name, Target: o.target, Action: data, ReadOnly: t.ReadOnly, Priority: 100}
	for tool := range tools {
		task.Tools = append(task.Tools, tool)
	}
	sort.Strings(task.Tools)
	for _, target := range t.Targets {
		if name := v.plain(target); !orchsOwn(name) {
			task.Targets = append(task.Targets, name)
		}
	}
	// What only writes into the goal's folder changes nothing in the workspace.
	task.ReadOnly = t.ReadOnly || len(t.Targets) > 0 && len(task.Targets) == 0
	for _, d := range t.DependsOn {
		if hasSlot(slots, d) {
			task.DependsOn = append(task.DependsOn, d)
		}
	}
	return task, nil
}

func (s *situation) optionValues(o option) Values {
	v := s.values.with(o.set)
	v["target"] = Value{Text: o.target, Type: StringParam, Own: true}
	return v
}

func (s *situation) context(o option) string {
	text := strings.TrimSpace(o.approach.Describe)
	if o.why != "" {
		if text != "" {
			text += "; "
		}
		text += "chosen because " + o.why
	}
	return text
}

// orchsOwn tells whether a path is in the folder that is no part of the workspace.
func orchsOwn(name string) bool {
	name = path.Clean(name)
	return name == ".orch" || strings.HasPrefix(name, ".orch/")
}

func hasSlot(slots []Subtask, name string) bool {
	for _, t := range slots {
		if t.Slot == name {
			return true
		}
	}
	return false
}
