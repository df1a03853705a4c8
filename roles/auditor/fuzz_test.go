package auditor

import (
	"testing"
	"time"
	"unicode/utf8"

	"orch/blackboard/journal"
	"orch/blackboard/message"
	"orch/roles/run/config"
)

// Whatever a line says, it is taken in; and what is found does not depend on
// where reading stopped in between.
func FuzzObserveRecord(f *testing.F) {
	s := goodRun(f)
	s.ended(message.FinalResult{Directive: message.Success})
	s.anomalies("retry_loop", "error_pattern", "a", "a", "a")
	s.reviews(1, func(int) bool { return true })
	for _, r := range s.records {
		f.Add(r.Type, r.From, r.Agent, r.Goal, r.Subject, []byte(r.Payload), int64(1))
	}
	f.Add("TaskAdded", "human", "human-1", "", "t", []byte(`{"tasks":[{"id":"t1"},{"id":"t1"}]}`), int64(1)<<40)
	f.Add("HumanEdit", "human", "human-1", "g", "t1", []byte(`{"edits":[{"task":"t1","field":"status","new":"ABANDONED"}]}`), int64(-5))
	f.Fuzz(func(t *testing.T, typ, from, agent, goal, subject string, payload []byte, seconds int64) {
		for _, text := range []string{typ, from, agent, goal, subject} {
			if !utf8.ValidString(text) {
				return // a line that is not UTF-8 is damage, and is never observed
			}
		}
		p := config.Default().Audit
		whole := New(p, Window{})
		records := append(goodRun(t).records, journal.Record{Seq: 99, TS: time.Unix(seconds%(1<<34), 0).UTC(), Type: typ, From: from, To: "all", Agent: agent, Goal: goal, Subject: subject, Payload: payload})
		records = append(records, records[5])
		for _, r := range records {
			whole.ObserveRecord(r)
		}
		raw, err := whole.Save()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Load(p, raw)
		if err != nil {
			t.Fatal(err)
		}
		now := records[0].TS.Add(1000 * time.Hour)
		whole.Tick(now)
		again.Tick(now)
		if got, want := describe(again.Findings()), describe(whole.Findings()); got != want {
			t.Errorf("from a snapshot:\n%s\nwithout one:\n%s", got, want)
		}
	})
}
