package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/loop"
	"orch/roles/memory"
	"orch/roles/run/config"
	"orch/roles/think"
)

// knownPair is what is known about one pair, and why.
type knownPair struct {
	Name      string            `json:"name"`
	Pair      memory.Pair       `json:"pair"`
	Potential message.Potential `json:"potential"`
	Effect    string            `json:"effect"` // what a plan makes of it
	Entries   []entryRow        `json:"entries"`
}

// effectOf says what a plan makes of what is known.
func effectOf(p memory.Pair, known message.Potential) string {
	if intent := pairName(p) == p.Space; intent {
		return "advice: an intent as a whole is never forbidden"
	}
	switch known.Action {
	case loop.Exploit:
		return "SHOULD PREFER"
	case loop.Avoid:
		return "MUST NOT"
	case loop.Caution:
		if known.Uncontested {
			return "planned last"
		}
		return "planned last, and what has an effect needs a person's yes"
	}
	return "left out: too little is known"
}

func know(s *memory.Store, p memory.Pair, now time.Time) (knownPair, error) {
	potential, err := s.QueryMK(p.Space, p.Entity)
	if err != nil {
		return knownPair{}, err
	}
	entries, err := s.Entries(p)
	return knownPair{Name: pairName(p), Pair: p, Potential: potential, Effect: effectOf(p, potential), Entries: entryRows(entries, now)}, err
}

func (a *app) printPairs(s *memory.Store, pairs []memory.Pair, now time.Time) error {
	known := []knownPair{}
	for _, p := range pairs {
		k, err := know(s, p, now)
		if err != nil {
			return err
		}
		known = append(known, k)
	}
	if a.asJSON {
		return a.printJSON(map[string]any{"version": 1, "as_of": now.UTC(), "pairs": known})
	}
	return a.writePairs(known, now)
}

// mostShown bounds the entries of a pair that are printed for people.
const mostShown = 8

func (a *app) writePairs(known []knownPair, now time.Time) error {
	for _, k := range known {
		say(a.out, "%-8s %s\n         attention %.2f  decision %s  → %s\n", k.Potential.Action, k.Name, k.Potential.Attention, strings.TrimSpace(signed(k.Potential.Decision)), k.Effect)
		for i, e := range k.Entries {
			if i == mostShown {
				say(a.out, "         and %d more: --json shows all\n", len(k.Entries)-i)
				break
			}
			if _, err := sayLine(a.out, "         "+entryLine(e.Entry, now)); err != nil {
				return err
			}
		}
	}
	return nil
}

func newMemoryWhy(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "why INTENT", Short: "show what a plan for an intent would be told, and the entries behind it", Args: cobra.ExactArgs(1),
		Long: `Show what the memory would answer the planner of a goal with this intent: the
intent itself and each approach and target it could use, the entries behind
them with what is left of their weight, the action that follows, and the
standing rules.`,
		Example: "  orch memory why \"make the tests pass\"\n  orch memory why \"make the tests pass\" --as-of 200d",
	}
	var book string
	asOf := asOfFlag(c)
	c.Flags().StringVar(&book, "playbook", "", "take the candidates from this playbook")
	c.RunE = func(c *cobra.Command, args []string) error { return a.memoryWhy(c.Context(), args[0], book, *asOf) }
	return c
}

func (a *app) memoryWhy(ctx context.Context, intent, book, asOf string) error {
	q, err := a.queryFor(ctx, intent, book)
	if err != nil {
		return err
	}
	return a.lookIn(ctx, asOf, func(s *memory.Store, now time.Time) error {
		answer, err := s.Answer(q)
		if err != nil {
			return err
		}
		pairs := []memory.Pair{{Space: q.Space, Entity: q.Entity}}
		seen := map[memory.Pair]bool{}
		var known, silent []knownPair
		for _, p := range q.Candidates {
			pairs = append(pairs, memory.PairOf(p))
		}
		for _, p := range pairs {
			if seen[p] {
				continue
			}
			seen[p] = true
			k, err := know(s, p, now)
			if err != nil {
				return err
			}
			if len(k.Entries) == 0 && p != pairs[0] {
				silent = append(silent, k)
				continue
			}
			known = append(known, k)
		}
		if a.asJSON {
			return a.printJSON(map[string]any{"version": 1, "as_of": now.UTC(), "intent": intent, "query": q, "pairs": append(known, silent...), "rules": answer.SOPs})
		}
		return a.printWhy(known, silent, answer.SOPs, now)
	})
}

func (a *app) printWhy(known, silent []knownPair, rules []message.SOPRecord, now time.Time) error {
	if err := a.writePairs(known, now); err != nil {
		return err
	}
	for _, r := range rules {
		if loop.IsFact(r.Space, r.Category) {
			say(a.out, "fact     %s  %s\n", short(r.ID), under(19, r.Lesson)) // as it is told: in full
			continue
		}
		say(a.out, "rule     %s  %s: %s\n", short(r.ID), r.Category, oneLine(r.Lesson, 140))
	}
	if len(silent) == 0 {
		return nil
	}
	var names []string
	for _, k := range silent {
		names = append(names, k.Name)
	}
	_, err := say(a.out, "nothing  is known about %s\n", oneLine(strings.Join(names, "; "), 300))
	return err
}

// queryFor is the question a planner would ask for this intent now. What the
// candidates are only the planner's backend knows; a goal of the same words
// that has run tells what they were.
func (a *app) queryFor(ctx context.Context, intent, book string) (message.MemoryQuery, error) {
	root, err := a.root()
	if err != nil {
		return message.MemoryQuery{}, err
	}
	q := message.MemoryQuery{Space: loop.IntentSpace(intent), Entity: loop.LocalEntity}
	mind, _, err := a.playbooks(root)
	if err != nil {
		return q, err
	}
	input := message.UserInput{Text: intent, Profile: "task", Playbook: book}
	seen, err := mind.Perceive(ctx, think.PerceiveInput{Input: input})
	if err == nil {
		q.Tags = seen.Tags
		q.Candidates, err = mind.Candidates(ctx, think.PlanInput{
			Spec: message.TaskSpec{Intent: seen.Intent, RawInput: intent, Tags: seen.Tags}, Playbook: book, Workspace: root,
		})
	}
	if err != nil && book != "" {
		return q, err
	}
	return q, a.askedBefore(ctx, &q)
}

// remembered is what the memory would tell a planner, without writing anything;
// nil if there is none.
func (a *app) remembered(ctx context.Context, cfg config.Config, mind think.Planner, in think.PlanInput) (*message.MemoryAnswer, error) {
	if cfg.Memory.Off {
		return nil, nil
	}
	b, err := a.read()
	if errors.Is(err, blackboard.ErrNoBoard) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer b.Close()
	q := message.MemoryQuery{Space: loop.IntentSpace(in.Spec.Intent), Entity: loop.LocalEntity, Tags: in.Spec.Tags}
	if q.Candidates, err = mind.Candidates(ctx, in); err != nil {
		return nil, err
	}
	var answer message.MemoryAnswer
	err = lookAtCopy(ctx, b, memoryOptions(cfg, time.Now), func(s *memory.Store) (err error) {
		answer, err = s.Answer(q)
		return err
	})
	return &answer, err
}

// askedBefore adds the candidates of the latest question about the same intent.
func (a *app) askedBefore(ctx context.Context, q *message.MemoryQuery) error {
	b, err := a.read()
	if err != nil {
		return err
	}
	defer b.Close()
	return b.View(ctx, func(s *blackboard.State) error {
		var last *message.MemoryQuery
		for _, g := range s.Goals() {
			if c := g.Calibration; c.Query != nil && c.Query.Space == q.Space {
				last = c.Query
			}
		}
		if last != nil {
			q.Candidates = append(q.Candidates, last.Candidates...)
			if len(q.Tags) == 0 {
				q.Tags = last.Tags
			}
		}
		return nil
	})
}
