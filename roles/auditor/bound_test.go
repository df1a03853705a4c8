package auditor

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"orch/blackboard/message"
	"orch/roles/run/config"
)

// What only time brings to light is the same finding whether somebody ticked, or
// a later message came, or both.
func TestTimeFindsTheSameAsMessages(t *testing.T) {
	usual := config.Default().Audit
	for name, d := range detections() {
		if !slices.Contains([]Kind{Stall, OrphanedRejection, ForgottenPause, StaleDraft}, d.kind) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			s := newScript(t)
			d.fault(s)
			want := describe(s.audit(usual))
			ticked := New(usual, Window{})
			for i, r := range s.records {
				if i > 0 { // just before every message
					ticked.Tick(r.TS.Add(-time.Millisecond))
				}
				ticked.ObserveRecord(r)
			}
			if got := describe(ticked.Findings()); got != want {
				t.Errorf("with ticks:\n%s\nwithout:\n%s", got, want)
			}
			cut := New(usual, Window{})
			for _, r := range s.records[:len(s.records)-1] { // the message that ends it never comes
				cut.ObserveRecord(r)
			}
			cut.Tick(s.now)
			if got := describe(cut.Findings()); d.kind != Stall && got != want {
				t.Errorf("without an end:\n%s\nwith one:\n%s", got, want)
			}
		})
	}
}

// Whoever floods the log with faults is reported, and bounded.
func TestFindingsOfOneKindAreBounded(t *testing.T) {
	usual := config.Default().Audit
	s := newScript(t)
	s.begin()
	for n := range 10 * usual.Listed {
		s.say(message.BoundaryViolation{By: "executor-1", From: message.Executor, Why: fmt.Sprint(n)}, said{from: message.Board, subject: fmt.Sprint(n)})
	}
	s.draft("t1", "p")
	last := s.draft("t1", "p")
	a := New(usual, Window{})
	for _, r := range s.records {
		a.ObserveRecord(r)
	}
	found := a.Findings()
	if len(found) != usual.Listed+2 || found[usual.Refusals].Kind != RepeatedRefusals || a.Uncounted()[BoundaryViolation] != 9*usual.Listed {
		t.Errorf("%d findings, not listed: %v", len(found), a.Uncounted())
	}
	if f := found[len(found)-1]; f.Kind != DuplicateTask || f.Seqs[1] != last {
		t.Errorf("the fault behind the flood is hidden: %+v", f)
	}
}

func TestAnomaliesBeyondTheBoundAreReported(t *testing.T) {
	s := newScript(t)
	r := rand.New(rand.NewPCG(1, 2))
	for range maxCompared + 10 {
		text := make([]byte, 40)
		for i := range text {
			text[i] = 'a' + byte(r.IntN(26))
		}
		s.anomaly(message.CodeReviewer, "workaround", "what", string(text))
		s.wait(time.Minute)
	}
	a := New(config.Default().Audit, Window{})
	for _, rec := range s.records {
		a.ObserveRecord(rec)
	}
	expect(t, a.Findings(), UncomparedAnomalies, maxCompared+1)
	if n := len(a.s.Clusters[WorkaroundPattern]); n > maxClusters {
		t.Errorf("%d clusters", n)
	}
}

// A pattern that was reported begins anew: the next three are another finding.
func TestAPatternTripsOncePerEvidence(t *testing.T) {
	s := newScript(t)
	s.begin()
	for range 7 {
		s.anomaly(message.Executor, "retry_loop", "error_pattern", "timeout")
	}
	found := s.audit(config.Default().Audit)
	if len(found) != 2 || !found[0].Trips || !slices.Equal(found[0].Seqs, []uint64{4, 5, 6}) || !slices.Equal(found[1].Seqs, []uint64{7, 8, 9}) {
		t.Errorf("found:\n%s", describe(found))
	}
	if found[0].Severity != Architecture || found[0].Goal != "g" {
		t.Errorf("%+v", found[0])
	}
}

// Anomalies of a goal that has ended stop no other goal.
func TestAnomaliesOfAnEndedGoalAreForgotten(t *testing.T) {
	s := goodRun(t)
	late := newScript(t)
	late.records, late.now = s.records[:len(s.records)-1], s.now
	late.anomalies("retry_loop", "error_pattern", "timeout", "timeout")
	late.final(message.FinalResult{Directive: message.Accept, Accomplished: []string{"a"}})
	late.goal = "h"
	late.anomalies("retry_loop", "error_pattern", "timeout")
	expectNone(t, late.audit(config.Default().Audit))
}

// Nothing is kept of goals that have ended, whatever they were.
func TestMemoryDoesNotGrowWithTheLog(t *testing.T) {
	a := New(config.Default().Audit, Window{})
	size := func() int {
		raw, err := a.Save()
		if err != nil {
			t.Fatal(err)
		}
		return len(raw)
	}
	records, n := goodRun(t).records, 0
	observe := func(goals int) {
		for range goals {
			n++
			for _, r := range records {
				r.Goal, r.TS = fmt.Sprintf("g%d", n), r.TS.Add(time.Duration(n)*time.Minute)
				for _, task := range []string{"t1", "t2"} {
					r.Payload = bytes.ReplaceAll(r.Payload, []byte(`"`+task+`"`), fmt.Appendf(nil, `"%s-%d"`, task, n))
				}
				a.ObserveRecord(r)
			}
		}
	}
	observe(8_500) // until everything that is bounded is full
	expectNone(t, a.Findings())
	if len(a.s.Goals) > 1 || len(a.s.Live) > 0 {
		t.Errorf("%d goals and %d steps are remembered", len(a.s.Goals), len(a.s.Live))
	}
	before := size()
	observe(1_500)
	if after := size(); after > before+before/3 {
		t.Errorf("%d bytes after 8,500 goals, %d after 10,000", before, after)
	}
}

func TestWindowFilters(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	list := []Finding{{ID: "old", LastTS: at}, {ID: "g", Goal: "g", LastTS: at.Add(time.Hour)}, {ID: "h", Goal: "h", LastTS: at.Add(time.Hour)}, {ID: "board", LastTS: at.Add(time.Hour)}}
	var got []string
	for _, f := range (Window{Since: at.Add(time.Minute), Goal: "g"}).Filter(list) {
		got = append(got, f.ID)
	}
	if !slices.Equal(got, []string{"g", "board"}) {
		t.Errorf("got %v", got)
	}
}

func TestFiguresOfAWindow(t *testing.T) {
	s := newScript(t)
	s.begin()
	s.step(message.Planner, message.EndDone, 1, 10)
	s.directive(message.Refine, 0.5)
	middle := s.now.Add(500 * time.Millisecond)
	s.step(message.Planner, message.EndDone, 2, 20)
	s.directive(message.Refine, 0.4)
	a := New(config.Default().Audit, Window{Since: middle})
	for _, r := range s.records {
		a.ObserveRecord(r)
	}
	f := a.Figures()
	if f.Messages != 3 || len(f.Steps) != 1 || f.Steps[0].Start.IsZero() || len(f.Spend) != 1 || f.Spend[0].Cost != 2 || f.Spend[0].InputTokens != 20 ||
		len(f.Loss) != 1 || len(f.Loss[0].Points) != 1 || f.Loss[0].Points[0].Loss.D != 0.4 {
		t.Errorf("%+v", f)
	}
}

// Of a goal with very many rounds the latest are kept, how it ended among them,
// and the others are counted.
func TestTheLatestRoundsAreKept(t *testing.T) {
	s := newScript(t)
	s.begin()
	const rounds = 3 * maxPoints
	var early Figures
	a := New(config.Default().Audit, Window{})
	for n := range rounds {
		s.directive(message.Refine, float64(n)/rounds)
	}
	s.final(message.FinalResult{Directive: message.Abandon})
	for i, r := range s.records {
		if a.ObserveRecord(r); i == maxPoints {
			early = a.Figures()
		}
	}
	first := early.Loss[0].Points[0]
	got := a.Figures().Loss[0]
	if n := len(got.Points); n > maxPoints || n < maxPoints/2 || got.Gone+n != rounds+1 || !got.Points[n-1].Final {
		t.Errorf("%d points, %d gone, the last %+v", n, got.Gone, got.Points[n-1])
	}
	if early.Loss[0].Points[0] != first || first.Seq >= got.Points[0].Seq {
		t.Error("figures that were given out have changed")
	}
}
