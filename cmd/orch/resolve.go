package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/loop"
	"orch/roles/run/config"
	"orch/roles/think/choose"
	"orch/roles/think/playbook"
)

// rolesOf are the roles of a goal's profile that think or act with a backend:
// those that make the plan, and those that work on it and judge it.
func rolesOf(in message.UserInput) (plan, work []message.Role) {
	plan = []message.Role{message.Perceiver, message.Planner}
	if in.Profile == codeProfile {
		return plan, []message.Role{message.Coder, message.CodeReviewer, message.MetaValidator}
	}
	return plan, []message.Role{message.Executor, message.AgentValidator, message.MetaValidator}
}

// allRoles are both of rolesOf.
func allRoles(in message.UserInput) []message.Role {
	plan, work := rolesOf(in)
	return slices.Concat(plan, work)
}

// resolve settles what a new goal is thought about with, before anything is
// written: what the configuration says, what is found on the machine where it
// says nothing, a playbook otherwise.
func (a *app) resolve(ctx context.Context, root string, cfg config.Config, in message.UserInput) (message.UserInput, error) {
	declares := in.Playbook == "" && in.Profile != codeProfile && playbook.Declares(in.Text) // to remember it takes no thinking
	if in.Playbook == "" && !declares && !choose.Configured(cfg) {
		if found := look(ctx); len(found) > 0 {
			in = a.take(cfg, in, found[0])
		}
	}
	if err := checkModels(cfg, in); err != nil || declares {
		return in, err
	}
	if in.Profile == codeProfile {
		return in, codeIsPossible(cfg, in)
	}
	return a.checkPlaybook(root, cfg, in)
}

// take lets a goal think with what was found, under a cap, and says so.
func (a *app) take(cfg config.Config, in message.UserInput, f choose.Finding) message.UserInput {
	in.Found = &f.Found
	e := choose.EntryOf(f.Found)
	note := fmt.Sprintf("nothing is configured, so every role uses %s", f.How)
	if in.Budget.MaxCost == 0 && cfg.Budget.MaxCost == 0 && cfg.Budget.FoundCap > 0 && choose.Paid(cfg, e) {
		in.Budget.MaxCost = cfg.Budget.FoundCap
		note += fmt.Sprintf(", up to $%g for this goal", cfg.Budget.FoundCap)
	}
	if !choose.Bounded(cfg, e) {
		note += "; what it costs is not known before it is asked, so no cap can be kept on it"
	}
	a.note(note + " (models in .orch/config.yaml, or --playbook, say otherwise)")
	return in
}

// note says something in one line that is not part of a command's output.
func (a *app) note(text string) { sayLine(a.err, "note: "+text) }

// checkModels refuses an assignment that can not work, before anything is
// written: a validator weaker than the planner it checks, a second opinion by
// the same model, a cap on what nobody knows the price of.
func checkModels(cfg config.Config, in message.UserInput) error {
	if err := choose.CheckTiers(cfg, in); err != nil {
		return &exitError{exitUsage, err}
	}
	if err := choose.CheckOthers(cfg, in); err != nil {
		return &exitError{exitUsage, err}
	}
	for _, role := range allRoles(in) {
		if err := chainUsable(cfg, choose.Chain(cfg, in, role)); err != nil {
			return &exitError{exitUsage, err}
		}
	}
	if len(choose.Chain(cfg, in, message.Planner)) > 0 {
		_, work := rolesOf(in)
		for _, role := range work {
			if len(choose.Chain(cfg, in, role)) == 0 {
				return usagef("set models.default in .orch/config.yaml",
					"the planner thinks with a model, and the %s has none: what a model plans only a model can work on and judge", role)
			}
		}
	}
	return checkCaps(cfg, in)
}

// chainUsable refuses a chain of which nothing can be asked.
func chainUsable(cfg config.Config, chain []choose.Entry) error {
	var first error
	for _, e := range chain {
		err := usable(cfg, e)
		if err == nil {
			return nil
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// checkCaps refuses a cap that can not be kept. The one on what was found by
// itself is only warned about, where it is announced.
func checkCaps(cfg config.Config, in message.UserInput) error {
	capped := cfg.Budget.MaxCost > 0 || cfg.Budget.Task > 0 || len(cfg.Budget.Role) > 0 || in.Budget.MaxCost > 0 && in.Found == nil
	if !capped {
		return nil
	}
	for _, e := range choose.Unbounded(cfg, in, paidRoles(cfg, in)) {
		name := e.Model.Name
		if name == "" {
			name = "its model"
		}
		return usagef(fmt.Sprintf("add prices.%s: {in: …, out: …} in US dollars a million tokens to .orch/config.yaml", name),
			"a cap on cost can not be kept: what %s (models.%s) costs is not known before it is asked", e.Title(), e.Name)
	}
	return nil
}

// paidRoles are all whom a goal may ask for money.
func paidRoles(cfg config.Config, in message.UserInput) []message.Role {
	all := append(allRoles(in), message.GGS)
	if in.Profile == codeProfile && cfg.Code.PlanReview == planReviewModel {
		all = append(all, choose.PlanReviewer)
	}
	if in.Profile == codeProfile && cfg.Code.Crosscheck {
		all = append(all, message.Crosscheck)
	}
	return all
}

// checkPlaybook makes sure that a role which thinks with a playbook has one
// that fits. Where nothing but words it does not know speaks against one, a
// person at the terminal may say that it is meant all the same.
func (a *app) checkPlaybook(root string, cfg config.Config, in message.UserInput) (message.UserInput, error) {
	if len(choose.Chain(cfg, in, message.Planner)) > 0 {
		return in, nil
	}
	_, lib, err := a.playbooks(root)
	if err != nil {
		return in, err
	}
	_, err = lib.For(in.Playbook, in.Text)
	var none *playbook.NoMatchError
	if !errors.As(err, &none) {
		if err != nil {
			err = &exitError{exitUsage, err}
		}
		return in, err
	}
	if doubtful, ok := none.Doubtful(); ok && a.asks() && a.confirms(doubtful) {
		in.Playbook = doubtful.Book.Name
		return in, nil
	}
	if !choose.Configured(cfg) {
		return in, &exitError{exitUsage, nothingUsable{none}}
	}
	return in, &exitError{exitUsage, none}
}

// confirms asks the person at the terminal whether a playbook is meant although
// it does not know every word. Only a clear yes is one.
func (a *app) confirms(f playbook.Fit) bool {
	say(a.out, "? The playbook %s does %q, and does not know these words: %s\n  Take it anyway? [y/N] ",
		f.Book.Name, f.Book.Describe, strings.Join(f.Unknown, ", "))
	line, err := bufio.NewReader(a.in).ReadString('\n')
	if err != nil && line == "" {
		say(a.out, "\n")
		return false
	}
	word := strings.ToLower(strings.TrimSpace(line))
	return word == "y" || word == "yes"
}

// nothingUsable says that neither a model nor a playbook is there, and how to
// get each.
type nothingUsable struct{ *playbook.NoMatchError }

func (e nothingUsable) Error() string {
	return "nothing here can think about this goal: no model, no agent, no key, and " + e.NoMatchError.Error()
}

func (e nothingUsable) Unwrap() error { return e.NoMatchError }

// Hint names every way, the nearest first.
func (e nothingUsable) Hint() string {
	ways := choose.HowToGet()
	if near := e.NearHint(); near != "" {
		ways = append([]string{"a playbook: " + near}, ways...)
	}
	return "any of these will do; orch doctor shows what is found\n  " + strings.Join(ways, "\n  ")
}

// thinksOf says for a policy what the roles of a goal think with.
func thinksOf(cfg config.Config) func(blackboard.Goal, message.Role) loop.Thinks {
	return func(g blackboard.Goal, role message.Role) loop.Thinks {
		var t loop.Thinks
		for _, e := range choose.Chain(cfg, g.Input, role) {
			t.Accounts = append(t.Accounts, e.Account())
		}
		for _, e := range asks(cfg, g.Input, role) {
			paid := choose.Paid(cfg, e)
			t.Paid, t.Runs = t.Paid || paid, t.Runs || paid && e.IsAgent()
		}
		return t
	}
}
