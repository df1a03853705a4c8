package auditor

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"orch/blackboard/journal"
	"orch/blackboard/message"
	"orch/roles/run/config"
)

// script is a log in the making.
type script struct {
	t       testing.TB
	records []journal.Record
	now     time.Time
	goal    message.GoalID
}

func newScript(t testing.TB) *script {
	return &script{t: t, now: time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC), goal: "g"}
}

// said is what a line of a script says beyond its body.
type said struct {
	from, to message.Role
	agent    message.AgentID
	subject  string
	fence    message.Fence
	board    bool            // about no goal
	raw      json.RawMessage // instead of the body
}

// say adds a message as the journal would write it, and returns its seq.
func (s *script) say(body message.Body, w said) uint64 {
	s.t.Helper()
	payload := w.raw
	if payload == nil {
		raw, err := message.Encode(body)
		if err != nil {
			s.t.Fatal(err)
		}
		payload = raw
	}
	if w.to == "" {
		w.to = message.DefaultTo(body.Type())
	}
	if w.agent == "" && w.from != message.Board {
		w.agent = message.AgentID(w.from) + "-1"
	}
	s.now = s.now.Add(time.Second)
	seq := uint64(len(s.records) + 1)
	goal := s.goal
	if w.board {
		goal = ""
	}
	s.records = append(s.records, journal.Record{
		Seq: seq, TS: s.now, ID: fmt.Sprintf("id-%d", seq), From: string(w.from), To: string(w.to), Type: string(body.Type()), Goal: string(goal),
		Subject: w.subject, Agent: string(w.agent), Fence: uint64(w.fence), Payload: payload, Hash: fmt.Sprintf("%064x", seq),
	})
	return seq
}

func (s *script) wait(d time.Duration) { s.now = s.now.Add(d) }

// audit reads the script from its first message, and again from a snapshot taken
// again and again: what is found must not depend on where reading stopped.
func (s *script) audit(p config.Audit) []Finding {
	s.t.Helper()
	whole := New(p, Window{})
	parts := New(p, Window{})
	every := 1 + len(s.records)/200
	for i, r := range s.records {
		whole.ObserveRecord(r)
		if i%every != 0 {
			parts.ObserveRecord(r)
			continue
		}
		raw, err := parts.Save()
		if err != nil {
			s.t.Fatal(err)
		}
		if parts, err = Load(p, raw); err != nil {
			s.t.Fatal(err)
		}
		parts.ObserveRecord(r)
	}
	if got, want := describe(parts.Findings()), describe(whole.Findings()); got != want {
		s.t.Errorf("read in parts:\n%s\nas a whole:\n%s", got, want)
	}
	if got, want := describe(s.decoded(p).Findings()), describe(whole.Findings()); !slices.ContainsFunc(whole.Findings(), func(f Finding) bool { return f.Kind == MalformedMessage }) && got != want {
		s.t.Errorf("decoded messages:\n%s\nrecords:\n%s", got, want)
	}
	return whole.Findings()
}

// decoded observes the script as decoded messages, as far as they can be decoded.
func (s *script) decoded(p config.Audit) *Auditor {
	a := New(p, Window{})
	for _, r := range s.records {
		body, err := message.Decode(message.Type(r.Type), r.Payload)
		if err != nil {
			a.ObserveRecord(r) // what no board would take
			continue
		}
		a.Observe(message.Message{Seq: r.Seq, TS: r.TS, ID: message.ID(r.ID), From: message.Role(r.From), To: message.Role(r.To),
			Goal: message.GoalID(r.Goal), Subject: r.Subject, Agent: message.AgentID(r.Agent), Fence: message.Fence(r.Fence), Body: body})
	}
	return a
}

func describe(list []Finding) string {
	var lines []string
	for _, f := range list {
		lines = append(lines, fmt.Sprintf("%s %s %s %d %s", f.ID, f.Kind, f.Severity, f.Seqs, f.Message))
	}
	return strings.Join(lines, "\n")
}

// expect wants exactly one finding: of this kind, with this evidence.
func expect(t *testing.T, found []Finding, kind Kind, seqs ...uint64) {
	t.Helper()
	if len(found) != 1 || found[0].Kind != kind || !slices.Equal(found[0].Seqs, seqs) {
		t.Errorf("found:\n%s\nwant one %s, proved by %d", describe(found), kind, seqs)
	}
}

func expectNone(t *testing.T, found []Finding) {
	t.Helper()
	if len(found) > 0 {
		t.Errorf("found in a clean log:\n%s", describe(found))
	}
}

// The parts of a round.

func (s *script) begin() {
	s.say(message.Registered{Agent: "supervisor-1", Role: message.Supervisor}, said{from: message.Supervisor, board: true, subject: "supervisor-1"})
	s.say(message.UserInput{Text: "x", Profile: "task"}, said{from: message.Human, subject: "g"})
	s.say(message.TaskSpec{TaskID: "g", Intent: "x", RawInput: "x"}, said{from: message.Perceiver, subject: "g"})
}

func criterion(id string) message.Criterion {
	return message.Criterion{ID: id, Criterion: "it is " + id, Mode: message.Verifiable, Required: true}
}

func pass(id string) message.Verdict {
	return message.Verdict{CriterionID: id, Criterion: "it is " + id, Mode: message.Verifiable, Required: true, Verdict: message.Pass, Evidence: "exit 0", By: message.ByCode}
}

func fail(id string) message.Verdict {
	v := pass(id)
	v.Verdict, v.Evidence, v.FailureClass = message.Fail, "exit 1", message.Logical
	return v
}

func (s *script) draft(id message.TaskID, plan message.PlanID) uint64 {
	return s.say(message.SubTask{ID: id, PlanID: plan, Intent: "do", SuccessCriteria: []message.Criterion{criterion("c")}}, said{from: message.Planner, subject: string(id)})
}

func (s *script) dispatch(plan message.PlanID, ids ...message.TaskID) uint64 {
	return s.say(message.DispatchManifest{PlanID: plan, TaskID: "g", SubtaskIDs: ids, Fingerprint: "f"}, said{from: message.Planner, subject: string(plan)})
}

func (s *script) claim(id message.TaskID, fence message.Fence) uint64 {
	return s.say(message.Claimed{Task: id, Agent: "executor-1", Fence: fence}, said{from: message.Supervisor, subject: string(id), fence: fence})
}

func (s *script) result(id message.TaskID, fence message.Fence) uint64 {
	return s.say(message.ExecutionResult{SubtaskID: id, Attempt: int(fence), Status: message.Completed}, said{from: message.Executor, subject: string(id), fence: fence})
}

func outcomeOf(id message.TaskID, status string, verdicts ...message.Verdict) message.SubTaskOutcome {
	return message.SubTaskOutcome{SubtaskID: id, Status: status, Slot: "s", CriteriaVerdicts: verdicts}
}

func (s *script) judge(o message.SubTaskOutcome) uint64 {
	return s.say(o, said{from: message.AgentValidator, subject: string(o.SubtaskID)})
}

func (s *script) correct(id message.TaskID) uint64 {
	return s.say(message.CorrectionSignal{SubtaskID: id, AttemptNumber: 1, FailedCriterion: "c", WhatWasWrong: "no", WhatToDo: "yes", Verdicts: []message.Verdict{fail("c")}},
		said{from: message.AgentValidator, subject: string(id)})
}

// work claims a task, works on it once, and has it approved.
func (s *script) work(id message.TaskID) {
	s.claim(id, 1)
	s.result(id, 1)
	s.judge(outcomeOf(id, message.Matched, pass("c")))
}

func (s *script) planned(ids ...message.TaskID) {
	for _, id := range ids {
		s.draft(id, "p")
	}
	s.dispatch("p", ids...)
}

func (s *script) summary(outcomes ...message.SubTaskOutcome) uint64 {
	return s.say(message.OutcomeSummary{TaskID: "g", PlanID: "p", TaskVerdicts: []message.Verdict{pass("g")}, Outcomes: outcomes}, said{from: message.MetaValidator, subject: "g"})
}

func (s *script) replan(outcomes ...message.SubTaskOutcome) uint64 {
	return s.say(message.ReplanRequest{TaskID: "g", PlanID: "p", Outcomes: outcomes}, said{from: message.MetaValidator, subject: "g"})
}

func (s *script) directive(kind message.Directive, d float64) uint64 {
	return s.say(message.PlanDirective{TaskID: "g", Directive: kind, Loss: message.Loss{D: d, L: d}}, said{from: message.GGS, subject: "g"})
}

func (s *script) final(f message.FinalResult) uint64 {
	f.TaskID = "g"
	return s.say(f, said{from: message.GGS, subject: "g"})
}

// goodRun is a whole goal without a fault.
func goodRun(t testing.TB) *script {
	s := newScript(t)
	s.begin()
	s.planned("t1", "t2")
	s.work("t1")
	s.work("t2")
	s.summary(outcomeOf("t1", message.Matched, pass("c")), outcomeOf("t2", message.Matched, pass("c")))
	s.final(message.FinalResult{Directive: message.Accept, Accomplished: []string{"a", "b", "c"}})
	return s
}

func TestAGoodRunIsClean(t *testing.T) {
	expectNone(t, goodRun(t).audit(config.Default().Audit))
}
