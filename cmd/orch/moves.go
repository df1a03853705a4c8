package main

import (
	"context"
	"fmt"
	"strings"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/loop"
	"orch/roles/run/config"
	"orch/roles/think/agent"
	"orch/roles/think/answer"
	"orch/roles/think/choose"
	"orch/roles/think/prompt"
)

// adviser asks a model, if one is configured for the controller, else the
// playbook that planned, what a person could do after a goal was given up. The
// controller decides without it: any failure here leaves the moves that follow
// from the evidence.
func (a *app) adviser(b *blackboard.Board, cfg config.Config, w agent.World) func(context.Context, blackboard.Goal, message.FinalResult) ([]string, []message.Spent) {
	return func(ctx context.Context, g blackboard.Goal, f message.FinalResult) ([]string, []message.Spent) {
		chain := choose.Chain(cfg, g.Input, message.GGS)
		if len(chain) == 0 {
			return a.bookMoves(cfg, w.Workspace, g, f), nil
		}
		if g.Spec == nil {
			return nil, nil
		}
		ctx, cancel := context.WithTimeout(ctx, loop.AdviceWait)
		defer cancel()
		ctx, stop := context.WithCancelCause(ctx)
		defer stop(nil)
		m := a.meter(cfg, stop)
		m.Purse = a.purse(b, cfg, loop.Activation{Key: blackboard.ActivationKey{Role: message.GGS, Subject: string(g.ID)}, Goal: g.ID})
		if before := g.Advice; before != nil {
			m.Carry(before.Spent, before.Model, before.Reserved)
		}
		moves, err := a.advice(ctx, cfg, chain, m, w, givenUp(g, f))
		if err != nil && m.Short() == nil {
			say(a.err, "no next moves from a model: %v\n", err)
		}
		return moves, m.Spent()
	}
}

// bookMoves is the advice of the playbook that planned a goal.
func (a *app) bookMoves(cfg config.Config, root string, g blackboard.Goal, f message.FinalResult) []string {
	if g.Input.Profile == codeProfile || len(choose.Chain(cfg, g.Input, message.Planner)) > 0 {
		return nil
	}
	b, _, err := a.playbooks(root)
	if err != nil {
		say(a.err, "no next moves from a playbook: %v\n", err)
		return nil
	}
	return b.NextMoves(g.Input, failures(g, f))
}

// failures is what the last round that ran something and the result say of what
// failed, one text a line or more.
func failures(g blackboard.Goal, f message.FinalResult) string {
	var said []string
	for i := len(g.Rounds) - 1; i >= 0; i-- {
		if p := g.Rounds[i].PlanFailure; p != nil {
			for _, v := range p.Violations {
				said = append(said, v.What, v.Because)
			}
		}
		if r := g.Rounds[i].Request; r != nil {
			for _, o := range r.Outcomes {
				if o.FailureReason != nil {
					said = append(said, *o.FailureReason)
				}
			}
			break
		}
	}
	for _, v := range f.UnmetCriteria {
		said = append(said, v.Evidence)
	}
	return strings.Join(said, "\n")
}

func (a *app) advice(ctx context.Context, cfg config.Config, chain []choose.Entry, m *choose.Meter, w agent.World, in prompt.GivenUp) ([]string, error) {
	links, err := a.links(cfg, chain, w)
	if err != nil {
		return nil, err
	}
	p, err := prompt.ForNextMoves(in)
	if err != nil {
		return nil, err
	}
	got, err := choose.NewClient(m, links).Complete(ctx, p.Request())
	if err != nil {
		return nil, err
	}
	var said struct {
		Moves []string `json:"next_moves"`
	}
	if err := answer.Parse(got.Text, p.Schema, &said); err != nil {
		return nil, err
	}
	return said.Moves, nil
}

// givenUp is what a model is told of an abandoned goal.
func givenUp(g blackboard.Goal, f message.FinalResult) prompt.GivenUp {
	in := prompt.GivenUp{Spec: *g.Spec, Accomplished: f.Accomplished, Unmet: f.UnmetCriteria, Why: f.Rationale}
	for _, p := range g.Plans {
		for _, t := range p.Tasks {
			if !t.Kept {
				in.Tried = append(in.Tried, fmt.Sprintf("%s: %s on %s", t.Slot, t.Approach, t.Target))
			}
		}
	}
	return in
}

// residentKeeps names the secret variables that a resident's models need, over
// all open goals. The auditor and who merges ask none.
func (a *app) residentKeeps(b *blackboard.Board, cfg config.Config, role message.Role) []string {
	if role != message.GGS && role != message.Memory {
		return nil
	}
	inputs := []message.UserInput{{}}
	err := b.View(context.Background(), func(st *blackboard.State) error {
		for _, g := range st.OpenGoals() {
			inputs = append(inputs, g.Input)
		}
		return nil
	})
	if err != nil {
		a.warn(err)
	}
	var names []string
	for _, in := range inputs {
		names = append(names, keepsOf(choose.Chain(cfg, in, role))...)
	}
	return names
}
