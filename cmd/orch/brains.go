package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/prompts"
	"orch/roles/ggs"
	"orch/roles/loop"
	"orch/roles/run/config"
	"orch/roles/think"
	"orch/roles/think/choose"
	"orch/roles/think/playbook"
)

// playbooks is the embedded backend with the project's own playbooks.
func (a *app) playbooks(root string) (*playbook.Backend, *playbook.Library, error) {
	own := os.DirFS(filepath.Join(root, blackboard.DirName, blackboard.BooksDir))
	lib, err := playbook.Load(prompts.Playbooks(), own)
	if err != nil {
		return nil, nil, &exitError{exitUsage, err}
	}
	b, err := a.playbookBackend(lib)
	return b, lib, err
}

// playbookBackend makes a backend of playbooks that were read.
func (a *app) playbookBackend(lib *playbook.Library) (*playbook.Backend, error) {
	exe, err := executable()
	if err != nil {
		return nil, err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	return playbook.New(playbook.Options{Library: lib, Orch: exe, Home: home})
}

// planOnce perceives and plans without a board, for a dry run.
func (a *app) planOnce(ctx context.Context, root string, cfg config.Config, in message.UserInput) (spec message.TaskSpec, plan think.Proposal, m *choose.Meter, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	m = a.meter(cfg, stop)
	m.Purse = choose.Fixed{Limit: cmp.Or(in.Budget.MaxCost, cfg.Budget.MaxCost)}
	w, done, err := a.agentWorld(ctx, cfg, root)
	if err != nil {
		return spec, plan, m, err
	}
	defer done()
	sees, err := a.thinking(cfg, in, message.Perceiver, m, w)
	if err != nil {
		return spec, plan, m, err
	}
	plans, err := a.thinking(cfg, in, message.Planner, m, w)
	if err != nil {
		return spec, plan, m, err
	}
	seen, err := sees.perceiver.Perceive(ctx, think.PerceiveInput{Goal: "dry_run", Input: in})
	if err != nil {
		return spec, plan, m, err
	}
	spec = message.TaskSpec{TaskID: "dry_run", Intent: seen.Intent, RawInput: in.Text, Constraints: seen.Constraints, Tags: seen.Tags}
	if spec.Intent == "" {
		spec.Intent = in.Text // it would ask first
	}
	input := think.PlanInput{Goal: "dry_run", Spec: spec, Playbook: in.Playbook, Workspace: root, Strict: in.Strict}
	answer, err := a.remembered(ctx, cfg, plans.planner, input)
	if err != nil {
		return spec, plan, m, err
	}
	input.Constraint = loop.ConstraintsOf(blackboard.Goal{Calibration: blackboard.Calibration{Answer: answer}})
	input.Facts, input.Lessons = loop.Lessons(answer)
	plan, err = plans.planner.Plan(ctx, input)
	return spec, plan, m, err
}

// dryRun shows the plan that would be made, and writes nothing. A model that
// plans is asked for it.
func (a *app) dryRun(ctx context.Context, root string, cfg config.Config, in message.UserInput) error {
	in.Strict = in.Strict || cfg.Strict
	if in.Playbook == "" && playbook.Declares(in.Text) {
		return a.report(map[string]any{"version": 1, "declarative": true}, "dry run     a fact to remember: nothing is planned, nothing is written")
	}
	spec, plan, meter, err := a.planOnce(ctx, root, cfg, in)
	if err != nil {
		return err
	}
	p, err := paramsOf(cfg, in)
	if err != nil {
		return err
	}
	used, usd := meter.Total()
	if a.asJSON {
		return a.printJSON(map[string]any{"version": 1, "playbook": plan.Source, "spec": spec, "plan": plan,
			"spent":    map[string]any{"model_calls": used.ModelCalls, "cost_usd": usd, "by_model": append([]message.Spent{}, meter.Spent()...)},
			"estimate": map[string]any{"model_calls": callsOf(cfg, in, plan), "max_cost_usd": in.Budget.MaxCost, "max_replans": p.MaxReplans, "time_budget_ms": p.TimeBudgetMS}})
	}
	d := newDisplay(painting(a.out), cfg)
	sayLine(a.out, d.head("dry run", plan.Source+": nothing is written"))
	for _, t := range plan.Tasks {
		sayLine(a.out, d.head(fmt.Sprintf("task %d", t.Sequence), fmt.Sprintf("%s/%s  %s", t.Slot, t.Approach, oneLine(t.Intent, 90))))
		for _, c := range t.Criteria {
			sayLine(a.out, d.cont("must hold: "+oneLine(c.Text, 100)))
		}
	}
	for _, c := range plan.TaskCriteria {
		sayLine(a.out, d.head("in the end", oneLine(c.Text, 100)))
	}
	return a.printEstimate(d, cfg, in, plan, p, used, usd)
}

func (a *app) printEstimate(d *display, cfg config.Config, in message.UserInput, plan think.Proposal, p ggs.Params, used message.Usage, usd float64) error {
	cost := "no model calls, $0"
	if n := callsOf(cfg, in, plan); n > 0 {
		cost = fmt.Sprintf("at least %d model calls a round", n)
		if in.Budget.MaxCost > 0 {
			cost += fmt.Sprintf(", at most $%g", in.Budget.MaxCost)
		}
	}
	if used.ModelCalls > 0 {
		sayLine(a.out, d.head("spent", fmt.Sprintf("%s, $%.4f, for this plan", count(used.ModelCalls, "model call"), usd)))
	}
	_, err := sayLine(a.out, d.head("estimate", fmt.Sprintf("%s; at most %d replans and %d s of active time", cost, p.MaxReplans, p.TimeBudgetMS/1000)))
	return err
}

// callsOf is the least number of model calls a round of the plan takes: one for
// each attempt, and two for each criterion that no check decides.
func callsOf(cfg config.Config, in message.UserInput, plan think.Proposal) (n int) {
	asks := func(role message.Role) bool { return len(choose.Chain(cfg, in, role)) > 0 }
	unchecked := func(all []think.CriterionSpec) (n int) {
		for _, c := range all {
			if len(c.Check) == 0 {
				n++
			}
		}
		return n
	}
	for _, t := range plan.Tasks {
		if asks(message.Executor) {
			n++
		}
		if asks(message.AgentValidator) {
			n += 2 * unchecked(t.Criteria)
		}
	}
	if asks(message.MetaValidator) {
		n += 1 + 2*unchecked(plan.TaskCriteria) // the merge, and each criterion twice
	}
	return n
}
