package memory

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"orch/blackboard/message"
)

func TestEnoughSuccessesMakeARule(t *testing.T) {
	for _, c := range []struct {
		f, sigma float64
		n        int
	}{{0.90, 1, 6}, {0.80, 1, 7}, {0.75, 1, 7}, {0.85, -1, 6}, {0.95, -1, 6}} {
		w := newWorld(t)
		for range c.n - 1 {
			w.megram(pairA, c.f, c.sigma, 0.05)
		}
		if did := w.dream(); did.Created != 0 || len(w.rules(pairA)) != 0 {
			t.Errorf("%d of %g: %+v", c.n-1, c.f, did)
		}
		w.megram(pairA, c.f, c.sigma, 0.05)
		did := w.dream()
		if did.Created != 1 || did.Consolidated != c.n {
			t.Errorf("%d of %g: %+v", c.n, c.f, did)
		}
		rules := w.rules(pairA)
		if len(rules) != 1 || rules[0].F != c.f || rules[0].Sigma != c.sigma || !strings.Contains(rules[0].Lesson, fmt.Sprintf("seen %d times", c.n)) {
			t.Errorf("%d of %g: %+v", c.n, c.f, rules)
		}
		if p := w.potential(pairA); p.Attention != c.f || p.Decision != c.f*c.sigma {
			t.Errorf("%d of %g: the sources count on: %+v", c.n, c.f, p)
		}
		if again := w.dream(); again.Created+again.Demoted+again.Deleted != 0 {
			t.Errorf("a second pass did %+v", again)
		}
		w.now = w.now.Add(5000 * day)
		if did := w.dream(); did.Deleted != c.n {
			t.Errorf("the sources are not forgotten: %+v", did)
		}
		if p := w.potential(pairA); p.Attention != c.f {
			t.Errorf("a rule faded: %+v", p)
		}
	}
}

func TestARuleIsTheMeanOfItsSources(t *testing.T) {
	w := newWorld(t)
	for range 5 {
		w.megram(pairA, 0.9, 1, 0.05)
	}
	w.megram(pairA, 0.85, -1, 0.05)
	w.megram(pairA, 0.3, 0, 0.2)
	if did := w.dream(); did.Created != 1 || did.Consolidated != 7 { // attention 5.65, decision 3.65
		t.Fatalf("did %+v", did)
	}
	if r := w.rules(pairA)[0]; r.F != round((5*0.9+0.85+0.3)/7) || r.Sigma != 1 || r.Category != categoryProcedure {
		t.Errorf("got %+v", r)
	}
}

// What is said while a pass runs is no source, and not lost.
func TestLateWordsAreNoSources(t *testing.T) {
	w := newWorld(t)
	for range 6 {
		w.megram(pairA, 0.9, 1, 0.05)
	}
	late := false
	_, err := w.s.Dream(context.Background(), Pass{Say: func(ctx context.Context, b message.Body) error {
		if _, ok := b.(message.Megram); ok && !late {
			late = true
			w.megram(pairA, 0.85, -1, 0.05)
		}
		return w.sayIt(ctx, b)
	}})
	w.must(err)
	if p := w.potential(pairA); p.Attention != 1.75 || p.Decision != round(0.9-0.85) {
		t.Errorf("got %+v", p)
	}
}

func TestANewRuleTakesThePlaceOfTheOld(t *testing.T) {
	w := newWorld(t)
	for range 2 {
		for range 6 {
			w.megram(pairA, 0.9, 1, 0.05)
		}
		w.dream()
	}
	if got := w.rules(pairA); len(got) != 1 {
		t.Errorf("rules %+v", got)
	}
	if p := w.potential(pairA); p.Attention != 0.9 {
		t.Errorf("got %+v", p)
	}
}

func TestFeedbackBankruptsARule(t *testing.T) {
	for _, sigma := range []float64{1, -1} {
		w := newWorld(t)
		for range 7 {
			w.megram(pairA, 0.8, sigma, 0.05)
		}
		w.dream()
		rule := w.rules(pairA)[0]
		if did := w.dream(); did.Demoted != 0 {
			t.Fatalf("σ %g: bankrupt without a word against it: %+v", sigma, did)
		}
		w.now = w.now.Add(300 * day) // a rule keeps its strength, a word against it is as strong whenever it comes
		w.say(message.Memory, message.MemoryAnswer{Recalled: []string{rule.ID}})
		w.now = w.now.Add(2 * day)
		w.say(message.Planner, message.NegativeFeedback{RuleID: rule.ID, Content: "it failed"})
		if p := w.potential(pairA); p.Decision != round(sigma*(0.8-1)) {
			t.Errorf("σ %g: %+v", sigma, p)
		}
		if did := w.dream(); did.Demoted != 1 {
			t.Errorf("σ %g: %+v", sigma, did)
		}
		e, err := w.s.Get(rule.ID)
		w.must(err)
		if e.Level != LevelK || e.Weights.K != 0.05 || !e.Weights.Since.Equal(w.now.Add(-2*day)) || len(w.rules(pairA)) != 0 {
			t.Errorf("σ %g: %+v", sigma, e)
		}
		w.now = w.now.Add(60 * day) // 0.8·exp(-3.1) and exp(-3) are below 0.1 together
		if did := w.dream(); did.Deleted < 2 || w.potential(pairA).Attention != 0 {
			t.Errorf("σ %g: %+v, left %+v", sigma, did, w.potential(pairA))
		}
	}
}

// A person's word stands against any number of words against it.
func TestAFactOutlivesAllWordsAgainstIt(t *testing.T) {
	w := newWorld(t)
	fact := w.say(message.Human, message.MemoryFact{Text: "use yarn"})
	for range 5 {
		w.say(message.Planner, message.NegativeFeedback{RuleID: string(fact.ID), Content: "no"})
	}
	if did := w.dream(); did.Demoted+did.Deleted != 0 {
		t.Errorf("did %+v", did)
	}
	a, err := w.s.Answer(message.MemoryQuery{Space: intent.Space, Entity: intent.Entity})
	w.must(err)
	if len(a.SOPs) != 1 || a.SOPs[0].Lesson != "use yarn" {
		t.Errorf("told %+v", a.SOPs)
	}
}

func TestTheNewerRuleWins(t *testing.T) {
	w := newWorld(t)
	rule := func(sigma float64) message.Megram {
		m := message.Megram{ID: w.id(), Level: LevelC, CreatedAt: w.now, Space: pairA.Space, Entity: pairA.Entity, F: 0.9, Sigma: sigma}
		w.say(message.GGS, m)
		return m
	}
	old := rule(1)
	newer := rule(-1)
	if got := w.rules(pairA); len(got) != 1 || got[0].ID != newer.ID {
		t.Errorf("before the pass: %+v", got)
	}
	if did := w.dream(); did.Created != 1 || did.Demoted != 1 {
		t.Errorf("did %+v", did)
	}
	if e, err := w.s.Get(old.ID); err != nil || e.Level != LevelK {
		t.Errorf("got %+v, %v", e, err)
	}
	if p := w.potential(pairA); p.Action != string(Avoid) {
		t.Errorf("got %+v", p)
	}
	if did := w.dream(); did.Created+did.Demoted != 0 {
		t.Errorf("again: %+v", did)
	}
}

func TestForgettingGoesByThePair(t *testing.T) {
	w := newWorld(t)
	w.megram(pairA, 0.85, -1, 0.05)
	w.megram(pairB, 0.10, 0.5, 0.5)
	w.megram(pairB, 0.10, 0.5, 0.5)
	w.now = w.now.Add(day) // 0.2·exp(-0.5) is 0.121
	if did := w.dream(); did.Deleted != 0 {
		t.Errorf("after a day: %+v", did)
	}
	w.now = w.now.Add(day) // 0.2·exp(-1) is 0.074
	if did := w.dream(); did.Deleted != 2 || w.potential(pairB).Attention != 0 {
		t.Errorf("after two: %+v", did)
	}
	w.now = w.now.Add(198 * day)
	if p := w.potential(pairA); p.Action != string(Ignore) {
		t.Errorf("after 200 days: %+v", p)
	}
	if did := w.dream(); did.Deleted != 1 {
		t.Errorf("after 200 days: %+v", did)
	}
}

// A pair that is always in use does not keep what no longer weighs anything.
func TestABusyPairForgetsItsOldest(t *testing.T) {
	w := newWorld(t)
	for range 400 {
		w.now = w.now.Add(day)
		w.megram(pairA, 0.8, 1, 0.05)
		w.megram(pairA, 0.8, -1, 0.05)
	}
	w.dream()
	entries, err := w.s.Entries(pairA)
	w.must(err)
	if n := len(entries); n < 200 || n > 270 { // 0.8·exp(-0.05·134) is 0.001
		t.Errorf("%d entries", n)
	}
}

func TestReportsSayEverything(t *testing.T) {
	w := newWorld(t)
	for i := range 3 * reportIDs {
		w.megram(Pair{fmt.Sprint("tool:", i), "path:x"}, 0.1, 0.5, 0.5)
	}
	w.now = w.now.Add(30 * day)
	before := len(w.log)
	if did := w.dream(); did.Deleted != 3*reportIDs {
		t.Errorf("did %+v", did)
	}
	deleted, scanned, last := 0, int64(0), 0
	for _, m := range w.log[before:] {
		r := m.Body.(message.DreamReport)
		deleted += len(r.Deleted)
		scanned += r.Scanned
		if len(r.Deleted) > reportIDs {
			t.Errorf("a report of %d", len(r.Deleted))
		}
		if r.Last {
			last++
		}
	}
	if deleted != 3*reportIDs || last != 1 || scanned != 4*3*reportIDs {
		t.Errorf("deleted %d, scanned %d, %d say it is the last", deleted, scanned, last)
	}
	quiet := len(w.log)
	w.dream()
	if len(w.log) != quiet {
		t.Errorf("a pass that does nothing said %+v", w.log[quiet:])
	}
	_, err := w.s.Dream(context.Background(), Pass{Say: w.sayIt, Answer: true})
	w.must(err)
	if r, ok := w.log[quiet].Body.(message.DreamReport); !ok || !r.Last || len(w.log) != quiet+1 {
		t.Errorf("asked for, it said %+v", w.log[quiet:])
	}
}

func TestAPassEndsWithWhatItIsTold(t *testing.T) {
	w := newWorld(t)
	for range 6 {
		w.megram(pairA, 0.9, 1, 0.05)
	}
	_, err := w.s.Dream(context.Background(), Pass{Say: func(context.Context, message.Body) error { return errStop }})
	if !errors.Is(err, errStop) {
		t.Errorf("got %v", err)
	}
	if _, err := w.s.Dream(context.Background(), Pass{Phases: []Phase{"nap"}, Say: w.sayIt}); err == nil || !strings.Contains(err.Error(), "nap") {
		t.Errorf("got %v", err)
	}
	if did := w.dream(); did.Created != 1 {
		t.Errorf("did %+v", did)
	}
}

func TestALessonIsDistilledByWhoeverCan(t *testing.T) {
	w := newWorld(t)
	w.o.Distill = func(_ context.Context, e Evidence) (message.MegramContent, []message.Spent, error) {
		return message.MegramContent{Lesson: fmt.Sprintf("%s %v %d %d", e.Pair, e.For, e.Sources, len(e.Samples)), Category: "fact"}, []message.Spent{{Model: "m", Cost: 0.5}}, nil
	}
	w.close()
	w.open()
	for range 6 {
		w.megram(pairA, 0.9, -1, 0.05)
	}
	w.dream()
	if got := w.rules(pairA)[0].Lesson; got != "tool:a path:x false 6 6" {
		t.Errorf("got %q", got)
	}
}
