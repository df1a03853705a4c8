package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/prompts"
	"orch/roles"
	"orch/roles/backend"
	"orch/roles/backend/playbook"
	"orch/roles/config"
)

// playbooks is the embedded backend with the project's own playbooks.
func (a *app) playbooks(root string) (*playbook.Backend, *playbook.Library, error) {
	own := os.DirFS(filepath.Join(root, blackboard.DirName, blackboard.BooksDir))
	lib, err := playbook.Load(prompts.Playbooks(), own)
	if err != nil {
		return nil, nil, &exitError{exitUsage, err}
	}
	exe, err := executable()
	if err != nil {
		return nil, nil, err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	b, err := playbook.New(playbook.Options{Library: lib, Orch: exe, Home: home})
	return b, lib, err
}

// modelFor is what a role is configured to think with.
func modelFor(cfg config.Config, role message.Role) config.Model {
	for _, name := range []string{string(role), "default"} {
		if m, ok := cfg.Models[name]; ok {
			return m
		}
	}
	return config.Model{Backend: playbook.Name}
}

// checkModels refuses what this build cannot do, and a validator that is
// weaker than the planner it checks.
func checkModels(cfg config.Config) error {
	tiers := map[message.Role]int{}
	for _, c := range roles.Contracts() {
		m := modelFor(cfg, c.Role)
		if m.Backend != playbook.Name {
			return usagef("set models.default.backend to playbook, or remove models", "backend %q of %s is not part of this build", m.Backend, c.Role)
		}
		if m.Tier > 0 {
			tiers[c.Role] = m.Tier
		}
	}
	if err := roles.CheckTiers(tiers); err != nil {
		return &exitError{exitUsage, err}
	}
	return nil
}

// checkBackend makes sure that somebody can think about the goal, before
// anything is written.
func (a *app) checkBackend(root string, cfg config.Config, f runFlags, text string) error {
	if err := checkModels(cfg); err != nil {
		return err
	}
	_, lib, err := a.playbooks(root)
	if err != nil {
		return err
	}
	if f.playbook == "" && playbook.Declares(text) {
		return nil // to remember it takes no thinking
	}
	if _, err := lib.For(f.playbook, text); err != nil {
		return &exitError{exitUsage, err}
	}
	return nil
}

// dryRun shows the plan that would be made, and writes nothing.
func (a *app) dryRun(ctx context.Context, root string, cfg config.Config, f runFlags, text string) error {
	b, lib, err := a.playbooks(root)
	if err != nil {
		return err
	}
	if f.playbook == "" && playbook.Declares(text) {
		return a.report(map[string]any{"version": 1, "declarative": true}, "dry run     a fact to remember: nothing is planned, nothing is written")
	}
	book, err := lib.For(f.playbook, text)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	in := message.UserInput{Text: text, Profile: f.profile, Playbook: f.playbook, Strict: f.strict || cfg.Strict}
	seen, err := b.Perceive(ctx, backend.PerceiveInput{Goal: "dry_run", Input: in})
	if err != nil {
		return err
	}
	spec := message.TaskSpec{TaskID: "dry_run", Intent: seen.Intent, RawInput: text, Constraints: seen.Constraints, Tags: seen.Tags}
	input := backend.PlanInput{Goal: "dry_run", Spec: spec, Playbook: f.playbook, Workspace: root, Strict: in.Strict}
	if input.Constraint, err = a.remembered(ctx, cfg, b, input); err != nil {
		return err
	}
	plan, err := b.Plan(ctx, input)
	if err != nil {
		return err
	}
	p, err := paramsOf(cfg, message.UserInput{Profile: f.profile, Controller: f.controller,
		Budget: message.Budget{TimeMS: f.timeout.Milliseconds(), MaxReplans: f.maxReplans, MaxCost: f.maxCost}})
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.printJSON(map[string]any{"version": 1, "playbook": book.Name, "spec": spec, "plan": plan,
			"estimate": map[string]any{"model_calls": 0, "cost_usd": 0, "max_replans": p.MaxReplans, "time_budget_ms": p.TimeBudgetMS}})
	}
	d := newDisplay(painting(a.out))
	fmt.Fprintln(a.out, d.head("dry run", "playbook "+book.Name+": nothing is written"))
	for _, t := range plan.Tasks {
		fmt.Fprintln(a.out, d.head(fmt.Sprintf("task %d", t.Sequence), fmt.Sprintf("%s/%s  %s", t.Slot, t.Approach, oneLine(t.Intent, 90))))
		for _, c := range t.Criteria {
			fmt.Fprintln(a.out, d.cont("must hold: "+oneLine(c.Text, 100)))
		}
	}
	for _, c := range plan.TaskCriteria {
		fmt.Fprintln(a.out, d.head("in the end", oneLine(c.Text, 100)))
	}
	_, err = fmt.Fprintln(a.out, d.head("estimate", fmt.Sprintf("no model calls, $0; at most %d replans and %d s of active time", p.MaxReplans, p.TimeBudgetMS/1000)))
	return err
}
