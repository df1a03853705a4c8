package memory

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"orch/blackboard/message"
)

func TestWhatIsWrittenIsFound(t *testing.T) {
	w := newWorld(t)
	m := w.megram(pairA, 0.85, -1, 0.05)
	w.megram(pairB, 0.8, 1, 0.05)
	if p := w.potential(pairA); p.Attention != 0.85 || p.Decision != -0.85 || p.Action != string(Avoid) || p.Pair != (message.Pair{Tool: "a", Target: "x"}) {
		t.Errorf("got %+v", p)
	}
	if p := w.potential(pairB); p.Action != string(Exploit) {
		t.Errorf("got %+v", p)
	}
	e, err := w.s.Get(m.ID)
	if err != nil || e.Level != LevelM || e.Megram.Content.Lesson != m.Content.Lesson || e.Seq != 1 {
		t.Errorf("got %+v, %v", e, err)
	}
	if _, err := w.s.Get("nobody"); !errors.Is(err, ErrUnknown) {
		t.Errorf("got %v", err)
	}
}

func TestApplyTwiceIsApplyOnce(t *testing.T) {
	w := newWorld(t)
	w.megram(pairA, 0.85, -1, 0.05)
	w.must(w.s.Apply(context.Background(), w.log))
	w.must(w.s.Apply(context.Background(), append(w.log, w.log...)))
	if p := w.potential(pairA); p.Attention != 0.85 {
		t.Errorf("got %+v", p)
	}
	again := w.log[0].Body.(message.Megram)
	again.F = 0.1
	w.say(message.GGS, again) // another message with the id of the first
	if p := w.potential(pairA); p.Attention != 0.85 {
		t.Errorf("the first does not count: %+v", p)
	}
}

func TestAnotherLogIsNoticed(t *testing.T) {
	w := newWorld(t)
	w.megram(pairA, 0.85, -1, 0.05)
	other := w.log[0]
	other.Hash = "another"
	var corrupt *CorruptError
	if err := w.s.Apply(context.Background(), []message.Message{other}); !errors.As(err, &corrupt) || corrupt.Hint() == "" {
		t.Errorf("got %v", err)
	}
	w.log = nil
	if err := w.s.CatchUp(context.Background(), w.read); !errors.As(err, &corrupt) {
		t.Errorf("a log that ends before: %v", err)
	}
}

func TestLeftOutMessagesAreNoticed(t *testing.T) {
	w := newWorld(t)
	w.megram(pairA, 0.85, -1, 0.05)
	w.write(message.Human, message.HumanNote{})
	third := w.write(message.Human, message.HumanNote{})
	var gap *GapError
	if err := w.s.Apply(context.Background(), []message.Message{third}); !errors.As(err, &gap) || gap.At != 1 || gap.Got != 3 {
		t.Errorf("got %v", err)
	}
}

// What is about other things costs no write, yet is not read again for ever.
func TestThePlaceInTheLogIsKept(t *testing.T) {
	w := newWorld(t)
	w.megram(pairA, 0.85, -1, 0.05)
	w.say(message.Human, message.HumanNote{})
	if w.s.persisted.Seq != 1 || w.s.At().Seq != 2 {
		t.Errorf("at %v, written %v", w.s.At(), w.s.persisted)
	}
	for range lazyHead {
		w.say(message.Human, message.HumanNote{})
	}
	if w.s.persisted.Seq < lazyHead {
		t.Errorf("written %v", w.s.persisted)
	}
	w.say(message.Human, message.HumanNote{})
	at := w.s.At()
	w.close()
	w.open()
	if w.s.At() != at || at.Seq != lazyHead+3 {
		t.Errorf("at %v, was %v", w.s.At(), at)
	}
}

func TestOneProcessAtATime(t *testing.T) {
	w := newWorld(t)
	var held *HeldError
	if _, err := Open(w.dir, w.o); !errors.As(err, &held) || held.Hint() == "" {
		t.Errorf("open: %v", err)
	}
	if _, _, err := Rebuild(context.Background(), w.dir, w.o, w.read); !errors.As(err, &held) {
		t.Errorf("rebuild: %v", err)
	}
	w.close()
	w.must(w.s.Close())
	w.open()
}

func TestAPersonsFactIsARuleAtOnce(t *testing.T) {
	w := newWorld(t)
	fact := w.say(message.Human, message.MemoryFact{Text: "Always use yarn", Tags: []string{"js"}})
	again := w.say(message.Human, message.MemoryFact{Text: " Always use yarn\n"})
	other := w.say(message.Human, message.MemoryFact{Text: "always use yarn: version 4"})
	a, err := w.s.Answer(message.MemoryQuery{Space: intent.Space, Entity: intent.Entity})
	w.must(err)
	if len(a.SOPs) != 2 || a.SOPs[0].ID != string(other.ID) || a.SOPs[1].ID != string(again.ID) || len(a.Recalled) != 2 {
		t.Errorf("got %+v", a)
	}
	e, err := w.s.Get(string(fact.ID))
	w.must(err)
	if e.Level != LevelC || e.Weights.K != 0 || e.Megram.Space != "fact:Always use yarn" || e.Megram.Content.Category != "fact" {
		t.Errorf("got %+v", e)
	}
}

// TestAllFactsAreToldFirst: no rule, however many, takes the place of what a
// person said, and facts that differ in a letter, in case or in a sign are two.
func TestAllFactsAreToldFirst(t *testing.T) {
	w := newWorld(t)
	var q message.MemoryQuery
	q.Space, q.Entity, q.Tags = intent.Space, intent.Entity, []string{"js"}
	facts := []string{"use go_flags", "use GO_FLAGS", "use go flags", "use go flags.", "use go flags!", strings.Repeat("long ", 4000)}
	for i := range 20 {
		facts = append(facts, fmt.Sprintf("fact %d", i))
	}
	for i, fact := range facts {
		w.say(message.Human, message.MemoryFact{Text: fact, Tags: []string{"js"}})
		p := Pair{fmt.Sprintf("tool:t%d", i), "path:p"}
		w.say(message.GGS, message.Megram{ID: w.id(), Level: LevelC, CreatedAt: w.now, Space: p.Space, Entity: p.Entity, F: 0.9, Sigma: 1,
			Content: message.MegramContent{Lesson: "rule", Tags: []string{"js"}}})
		q.Candidates = append(q.Candidates, p.message())
	}
	// One of before, in the space that both had then.
	for _, words := range []string{"Always X", "always x"} {
		w.say(message.GGS, message.Megram{ID: w.id(), Level: LevelC, CreatedAt: w.now, Space: "fact:always_x", Entity: "env:local", F: 1, Sigma: 1,
			Content: message.MegramContent{Lesson: words, Category: "fact"}})
		facts = append(facts, words)
	}
	for _, candidates := range [][]message.Pair{q.Candidates, nil} {
		q.Candidates = candidates
		a, err := w.s.Answer(q)
		w.must(err)
		if len(a.SOPs) != len(facts)+10 || len(a.Recalled) != len(a.SOPs) {
			t.Fatalf("%d entries for %d facts", len(a.SOPs), len(facts))
		}
		for i, fact := range facts {
			if got := a.SOPs[len(facts)-1-i].Lesson; got != fact {
				t.Errorf("told %.40q, want %.40q", got, fact)
			}
		}
		for _, r := range a.SOPs[len(facts):] {
			if r.Lesson != "rule" {
				t.Errorf("told %+v", r)
			}
		}
	}
}

func TestForgetIsComplete(t *testing.T) {
	w := newWorld(t)
	m := w.megram(pairA, 0.85, -1, 0.05)
	w.say(message.Human, message.MemoryForget{IDs: []string{m.ID, "nobody", m.ID}})
	w.must(w.s.persist())
	it := w.s.db.NewIterator(nil, nil)
	defer it.Release()
	var keys []string
	for it.Next() {
		keys = append(keys, string(it.Key()))
	}
	if len(keys) != 2 || keys[0] != atKey || keys[1] != formatKey {
		t.Errorf("left: %q", keys)
	}
}

func TestWeightsOutOfRangeAreBounded(t *testing.T) {
	w := newWorld(t)
	w.megram(pairA, 1e9, -1e9, -1)
	if p := w.potential(pairA); p.Attention != 1 || p.Decision != -1 {
		t.Errorf("got %+v", p)
	}
}

// What is removed may be said again under the same id, as the Dreamer does with
// a contradiction that a person forgot. Indexed one by one or all at once, it
// is there afterwards.
func TestWhatIsSaidAgainAfterItWasRemovedIsThere(t *testing.T) {
	w := newWorld(t)
	m := w.megram(pairA, 0.9, 1, 0.05)
	w.say(message.Human, message.MemoryForget{IDs: []string{m.ID}})
	w.say(message.GGS, m)
	before := w.export()
	if got := w.potential(pairA); got.Attention != 0.9 {
		t.Fatalf("indexed one by one: %+v", got)
	}
	w.close()
	w.rebuild()
	if after := w.export(); after != before {
		t.Errorf("made again from the log:\n%s\nwas\n%s", after, before)
	}
}
