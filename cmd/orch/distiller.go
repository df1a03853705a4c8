package main

import (
	"context"
	"time"

	"orch/blackboard/message"
	"orch/roles/memory"
	"orch/roles/run/config"
	"orch/roles/think/choose"
	"orch/roles/think/prompt"
	"orch/roles/think/thinker"
)

// distilWait bounds how long a rule waits to be put into words by a model.
const distilWait = 2 * time.Minute

// distiller puts rules into words with the memory's model. Without one, or
// where it fails, the words come from the evidence: a pass waits for nobody.
func (a *app) distiller(cfg config.Config, root string) memory.Distill {
	chain := choose.Chain(cfg, message.UserInput{}, message.Memory)
	if len(chain) == 0 {
		return memory.FromEvidence
	}
	return func(ctx context.Context, e memory.Evidence) (message.MegramContent, []message.Spent, error) {
		content, _, err := memory.FromEvidence(ctx, e)
		if err != nil {
			return content, nil, err
		}
		asking, cancel := context.WithTimeout(ctx, distilWait)
		defer cancel()
		asking, stop := context.WithCancelCause(asking)
		defer stop(nil)
		m := a.meter(cfg, stop)
		rule, err := a.distil(asking, cfg, root, chain, m, e)
		if err != nil {
			say(a.err, "a rule is not put into words by a model: %v\n", err)
			return content, m.Spent(), ctx.Err()
		}
		content.Lesson, content.Category = e.Seen(rule.Lesson), rule.Category
		return content, m.Spent(), nil
	}
}

func (a *app) distil(ctx context.Context, cfg config.Config, root string, chain []choose.Entry, m *choose.Meter, e memory.Evidence) (thinker.Rule, error) {
	w, done, err := a.agentWorld(ctx, cfg, root)
	if err != nil {
		return thinker.Rule{}, err
	}
	defer done()
	links, err := a.links(cfg, chain, w)
	if err != nil {
		return thinker.Rule{}, err
	}
	t, err := thinker.New(choose.NewClient(m, links), thinkerOptions(cfg))
	if err != nil {
		return thinker.Rule{}, err
	}
	in := prompt.Experiences{Space: e.Pair.Space, Entity: e.Pair.Entity, BestAvoid: !e.For, Occurrence: e.Sources}
	for _, s := range e.Samples {
		in.Lessons = append(in.Lessons, s.Content.Lesson)
	}
	rule, _, err := t.Distil(ctx, in)
	return rule, err
}
