package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/act/tool"
	"orch/roles/loop"
	"orch/roles/run/config"
	"orch/roles/run/step"
	"orch/roles/run/supervisor"
	"orch/roles/think"
	"orch/roles/think/agent"
	"orch/roles/think/choose"
	"orch/roles/think/playbook"
	"orch/roles/think/prompt"
	"orch/roles/think/thinker"
)

// thoughts are the backends of one role. A role finds in them what it needs;
// the others may be nil.
type thoughts struct {
	perceiver think.Perceiver
	planner   think.Planner
	executor  think.Executor
	judge     think.Judge
	merger    think.Merger
	planned   string // name of the planner's backend, for the manifest
}

// meter counts what models take, and stops what runs under ctx's cancel.
func (a *app) meter(cfg config.Config, stop context.CancelCauseFunc) *choose.Meter {
	return &choose.Meter{Config: cfg, Now: time.Now, Stop: stop,
		Log: func(format string, args ...any) { say(a.err, format+"\n", args...) }}
}

// stepMeter is the meter of a step: it knows which accounts are paused and what
// the caps leave.
func (a *app) stepMeter(ctx context.Context, b *blackboard.Board, cfg config.Config, c supervisor.Claim, stop context.CancelCauseFunc) (*choose.Meter, message.UserInput, error) {
	m := a.meter(cfg, stop)
	m.OnLimit = func(l message.LimitReached) { a.sayLimit(ctx, b, c, l) }
	m.Purse = a.purse(b, cfg, c.Activation)
	var in message.UserInput
	err := b.View(ctx, func(st *blackboard.State) error {
		if g, ok := st.Goal(c.Activation.Goal); ok {
			in = g.Input
		}
		m.Paused = st.Limits()
		return nil
	})
	return m, in, err
}

// purse keeps the caps of a step, or of the controller about a goal.
func (a *app) purse(b *blackboard.Board, cfg config.Config, at loop.Activation) choose.Purse {
	policy := loop.PolicyOf(cfg)
	policy.Thinks = thinksOf(cfg)
	return &step.Purse{Board: b, Policy: policy, Activation: at}
}

// sayLimit notes at once that an account is used up, since what this step said
// before may have started the next one already.
func (a *app) sayLimit(ctx context.Context, b *blackboard.Board, c supervisor.Claim, l message.LimitReached) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	k := c.Activation.Key
	_, err := b.Append(ctx, message.Message{From: k.Role, To: message.All, Subject: k.Subject, Cause: k.Cause, Agent: c.Agent, Body: l})
	if err != nil {
		a.warn(fmt.Errorf("note that %s is used up: %w", l.Account, err))
	}
}

// thinking puts together what a role of a goal thinks and acts with.
func (a *app) thinking(cfg config.Config, in message.UserInput, role message.Role, m *choose.Meter, w agent.World) (thoughts, error) {
	chain := choose.Chain(cfg, in, role)
	if len(chain) == 0 {
		return a.byPlaybook(cfg, in, role, w.Workspace)
	}
	if role == message.Executor {
		acts, err := a.executorOf(cfg, chain, m, w)
		return thoughts{executor: acts}, err
	}
	links, err := a.links(cfg, chain, w)
	if err != nil {
		return thoughts{}, err
	}
	client := choose.NewClient(m, links)
	mind, err := thinker.New(client, thinkerOptions(cfg))
	if err != nil {
		return thoughts{}, fmt.Errorf("think as %s: %w", role, err)
	}
	judges, err := a.judgeOf(cfg, in, role, m, links)
	return thoughts{perceiver: mind, planner: mind, judge: judges, merger: mind, planned: client.Model()}, err
}

// judgeOf lets those entries of a role judge whose tier is enough, each in a
// conversation of its own.
func (a *app) judgeOf(cfg config.Config, in message.UserInput, role message.Role, m *choose.Meter, links []choose.Link) (think.Judge, error) {
	var judging []choose.Judging
	for _, e := range choose.Chain(cfg, in, role) {
		for _, l := range links {
			if l.Name != e.Name {
				continue
			}
			mind, err := thinker.New(choose.NewInnerClient(m, l), thinkerOptions(cfg))
			if err != nil {
				return nil, fmt.Errorf("judge as %s: %w", role, err)
			}
			judging = append(judging, choose.Judging{Entry: e, Judge: mind})
		}
	}
	if len(judging) == 0 {
		return nil, nil
	}
	return choose.NewJudge(m, judging), nil
}

// byPlaybook is thinking for a role that no model was chosen for. Only who
// reads the person's words or plans needs the playbooks themselves: to read and
// check all of them takes longer than the rest of a step's start.
func (a *app) byPlaybook(cfg config.Config, in message.UserInput, role message.Role, root string) (thoughts, error) {
	if role != message.Perceiver && role != message.Planner {
		b, err := a.playbookBackend(&playbook.Library{})
		return thoughts{executor: b, merger: b}, err
	}
	b, lib, err := a.playbooks(root)
	if err != nil {
		return thoughts{}, err
	}
	t := thoughts{perceiver: b, planner: b, planned: playbook.Name}
	if _, err := lib.For(in.Playbook, in.Text); (err != nil || in.Profile == codeProfile) && len(choose.Chain(cfg, in, message.Planner)) > 0 {
		t.perceiver = plainPerceiver{}
	}
	return t, nil
}

func (a *app) links(cfg config.Config, chain []choose.Entry, w agent.World) ([]choose.Link, error) {
	var links []choose.Link
	for _, e := range chain {
		c, err := newClient(cfg, e, w)
		if err != nil {
			return nil, choose.Missing(e, err)
		}
		links = append(links, choose.Link{Entry: e, Client: c})
	}
	return links, nil
}

// executorOf lets models act through the tools and agents by themselves. Models
// alone share one conversation, in which a fallback goes on where the other
// stopped; an agent starts the attempt anew.
func (a *app) executorOf(cfg config.Config, chain []choose.Entry, m *choose.Meter, w agent.World) (think.Executor, error) {
	agents := false
	for _, e := range chain {
		agents = agents || e.IsAgent()
	}
	if !agents {
		links, err := a.links(cfg, chain, w)
		if err != nil {
			return nil, err
		}
		return thinker.New(choose.NewClient(m, links), thinkerOptions(cfg))
	}
	var acting []choose.Acting
	for _, e := range chain {
		one, err := a.acting(cfg, e, m, w)
		if err != nil {
			return nil, choose.Missing(e, err)
		}
		acting = append(acting, one)
	}
	return choose.NewExecutor(m, acting), nil
}

func (a *app) acting(cfg config.Config, e choose.Entry, m *choose.Meter, w agent.World) (choose.Acting, error) {
	if e.IsAgent() {
		x, err := newAgent(e, w)
		return choose.Acting{Entry: e, Executor: x}, err
	}
	c, err := newClient(cfg, e, w)
	if err != nil {
		return choose.Acting{}, err
	}
	x, err := thinker.New(choose.NewInnerClient(m, choose.Link{Entry: e, Client: c}), thinkerOptions(cfg))
	return choose.Acting{Entry: e, Executor: x, Metered: true}, err
}

// thinkerOptions are the bounds of a conversation. What it takes is counted
// where the questions are asked, so nothing is counted here.
func thinkerOptions(cfg config.Config) thinker.Options {
	o := thinker.Options{Turns: cfg.Limits.ModelTurns, Survey: func(root string) string { return prompt.Survey(os.DirFS(root)) },
		Spend: func(message.Usage, *float64) {}}
	for _, name := range tool.Names() {
		if name != tool.WebSearch || cfg.Search.Command+cfg.Search.Endpoint != "" {
			o.Tools = append(o.Tools, name)
		}
	}
	return o
}

// plainPerceiver takes a person's words as they are, where a model plans and
// no playbook reads them.
type plainPerceiver struct{}

func (plainPerceiver) Perceive(_ context.Context, in think.PerceiveInput) (think.Perception, error) {
	return think.Perception{Intent: strings.Join(strings.Fields(in.Input.Text), " "), Tags: []string{}}, nil
}

// keeps names the secret variables that the models of a step's role need. Every
// other secret is kept from it.
func (a *app) keeps(b *blackboard.Board, cfg config.Config, c supervisor.Claim) []string {
	var in message.UserInput
	err := b.View(context.Background(), func(st *blackboard.State) error {
		g, _ := st.Goal(c.Activation.Goal)
		in = g.Input
		return nil
	})
	if err != nil {
		a.warn(err)
	}
	return keepsOf(asks(cfg, in, c.Activation.Key.Role))
}

// asks are all whom the step of a role asks.
func asks(cfg config.Config, in message.UserInput, role message.Role) []choose.Entry {
	chain := choose.Chain(cfg, in, role)
	switch {
	case role == message.Planner && cfg.Code.PlanReview == planReviewModel && in.Profile == codeProfile:
		chain = append(chain, choose.Chain(cfg, in, choose.PlanReviewer)...)
	case role == message.CodeReviewer && cfg.Code.Crosscheck:
		chain = append(chain, choose.Chain(cfg, in, message.Crosscheck)...)
	}
	return chain
}

func keepsOf(chain []choose.Entry) (names []string) {
	for _, e := range chain {
		if key := e.KeyEnv(); key != "" {
			names = append(names, key)
		}
		names = append(names, agentKeeps(e)...)
	}
	return names
}
