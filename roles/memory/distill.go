package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"orch/blackboard/message"
)

// Evidence is what a new rule is made of.
type Evidence struct {
	Pair    Pair
	For     bool             // the rule recommends; otherwise it warns
	Sources int              // how many memories it is made of
	First   time.Time        // when the oldest of them was made
	Last    time.Time        // and the newest
	Samples []message.Megram // the strongest of those that agree with it, strongest first
}

// Distill says in a sentence what the evidence has in common, and what that
// cost. It may call a model; the memory waits for it with no lock held.
type Distill func(context.Context, Evidence) (message.MegramContent, []message.Spent, error)

const ruleTags = 8

// FromEvidence is the Distill that needs no model: the lesson most of the
// sources have, or else the strongest, and how often it was seen.
func FromEvidence(_ context.Context, e Evidence) (message.MegramContent, []message.Spent, error) {
	c := message.MegramContent{Category: categoryConstraint}
	if e.For {
		c.Category = categoryProcedure
	}
	lessons, tags := newCounter(), newCounter()
	for _, m := range e.Samples {
		lessons.add(m.Content.Lesson)
		for _, tag := range m.Content.Tags {
			tags.add(tag)
		}
	}
	lesson := e.Pair.String()
	if common := lessons.most(1); len(common) > 0 && common[0] != "" {
		lesson = common[0]
	}
	c.Lesson = e.Seen(lesson)
	c.Tags = tags.most(ruleTags)
	return c, nil, nil
}

// Seen is a lesson with how often and when its evidence was made.
func (e Evidence) Seen(lesson string) string {
	times := "seen once"
	if e.Sources != 1 {
		times = fmt.Sprintf("seen %d times", e.Sources)
	}
	return fmt.Sprintf("%s (%s, %s to %s)", lesson, times, e.First.UTC().Format(time.DateOnly), e.Last.UTC().Format(time.DateOnly))
}

// counter counts strings, and remembers which came first.
type counter struct {
	order []string
	n     map[string]int
}

func newCounter() *counter { return &counter{n: map[string]int{}} }

func (c *counter) add(s string) {
	if c.n[s]++; c.n[s] == 1 {
		c.order = append(c.order, s)
	}
}

// most is the most frequent, of equals the first.
func (c *counter) most(limit int) []string {
	list := slices.Clone(c.order)
	slices.SortStableFunc(list, func(a, b string) int { return cmp.Compare(c.n[b], c.n[a]) })
	return list[:min(limit, len(list))]
}

// evidence reads what a rule about a pair would be made of, and their ids.
func (d *dreamer) evidence(t tally) (Evidence, []string, error) {
	e := Evidence{Pair: t.pair, For: t.freshDecision > 0, Sources: t.sources}
	now, towards := d.s.o.Now(), sign(t.freshDecision)
	var ids []string
	var strongest []row
	weight := func(r row) float64 { return towards * r.weights().Decision(now) }
	err := d.s.rows(d.s.db, t.pair, func(r row) error {
		if !isSource(r.record) || r.seq > t.at {
			return nil
		}
		ids = append(ids, r.id)
		since := r.weights().Since
		if e.First.IsZero() || since.Before(e.First) {
			e.First = since
		}
		if since.After(e.Last) {
			e.Last = since
		}
		if weight(r) <= 0 {
			return nil
		}
		i, _ := slices.BinarySearchFunc(strongest, r, func(a, b row) int { return cmp.Compare(weight(b), weight(a)) })
		strongest = slices.Insert(strongest, i, r)
		strongest = strongest[:min(len(strongest), evidenceMax)]
		return nil
	})
	if err != nil {
		return e, nil, err
	}
	for _, r := range strongest {
		m, _, err := d.s.find(d.s.db, r.id)
		if err != nil {
			return e, nil, err
		}
		e.Samples = append(e.Samples, m)
	}
	return e, ids, nil
}
