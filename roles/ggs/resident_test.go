package ggs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"orch/blackboard"
	"orch/blackboard/journal"
	"orch/blackboard/message"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testGoal = message.GoalID("make_the_tests")

// stage is a real board with everybody who speaks before the controller.
type stage struct {
	t                          *testing.T
	root                       string
	clock                      journal.Clock // nil: the machine's
	people, executor, examiner *blackboard.Board
}

func newStage(t *testing.T) *stage { return stageAt(t, nil) }

func stageAt(t *testing.T, clock journal.Clock) *stage {
	s := &stage{t: t, root: t.TempDir(), clock: clock}
	s.people = s.open("human-1", true, message.Human, message.Perceiver, message.Planner, message.PlanValidator, message.MetaValidator, message.Supervisor)
	s.executor = s.open("executor-1", false, message.Executor, message.Supervisor)
	s.examiner = s.open("agent-validator-1", false, message.AgentValidator)
	return s
}

func (s *stage) open(agent message.AgentID, create bool, speaks ...message.Role) *blackboard.Board {
	s.t.Helper()
	open := blackboard.Open
	if create {
		open = blackboard.Init
	}
	b, err := open(s.root, blackboard.Options{Clock: s.clock, Identity: blackboard.Identity{Agent: agent, Speaks: speaks}, UnsafeFS: true})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		if err := b.Close(); err != nil {
			s.t.Error(err)
		}
	})
	return b
}

func (s *stage) say(b *blackboard.Board, m message.Message) message.Message {
	s.t.Helper()
	m.Goal = testGoal
	m, err := b.Append(s.t.Context(), m)
	if err != nil {
		s.t.Fatal(err)
	}
	return m
}

func (s *stage) goal() (g blackboard.Goal) {
	s.t.Helper()
	err := s.people.View(s.t.Context(), func(st *blackboard.State) error {
		g, _ = st.Goal(testGoal)
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return g
}

func (s *stage) start(declarative bool) {
	const text = "make the tests pass"
	s.say(s.people, message.Message{Body: message.UserInput{Text: text, Profile: "task"}})
	s.say(s.people, message.Message{Body: message.TaskSpec{TaskID: testGoal, Intent: text, RawInput: text, Declarative: declarative}})
}

// refusePlans has three plans refused, which is a round for the controller.
func (s *stage) refusePlans() {
	for attempt := 1; attempt <= 3; attempt++ {
		s.say(s.people, message.Message{Body: message.PlanRejected{
			PlanID: message.PlanID(fmt.Sprintf("refused-%d-%d", len(s.goal().Rounds), attempt)), Attempt: attempt,
			Violations: []message.Violation{{Rule: "must_not", What: "rerun is blocked"}},
		}})
	}
}

// failRound plans one task for each approach, lets them run and fail, and asks the controller.
func (s *stage) failRound(approaches ...string) {
	s.say(s.people, message.Message{Body: s.runPlan(approaches...)})
}

// passPlan is runPlan with tasks that match.
func (s *stage) passPlan(approaches ...string) message.OutcomeSummary {
	r := s.run(message.Pass, approaches...)
	return message.OutcomeSummary{TaskID: r.TaskID, PlanID: r.PlanID, Outcomes: r.Outcomes}
}

// runPlan plans one task for each approach, lets them run and fail, and is what
// the controller is to be told.
func (s *stage) runPlan(approaches ...string) message.ReplanRequest {
	return s.run(message.Fail, approaches...)
}

func (s *stage) run(verdict string, approaches ...string) message.ReplanRequest {
	g := s.goal()
	n := len(g.Rounds)
	plan := message.PlanID(fmt.Sprint("plan-", n))
	manifest := message.DispatchManifest{PlanID: plan, TaskID: testGoal, Fingerprint: string(plan), TaskSpec: *g.Spec}
	request := message.ReplanRequest{TaskID: testGoal, PlanID: plan, Recommendation: "replan"}
	for i, approach := range approaches {
		id := message.TaskID(fmt.Sprintf("task-%d-%d", n, i))
		task := message.SubTask{ID: id, PlanID: plan, ParentTaskID: testGoal, Intent: approach, Slot: fmt.Sprint("slot-", i), Approach: approach, Target: "x",
			ReadOnly: true, Priority: 100, SuccessCriteria: []message.Criterion{{ID: "c", Criterion: "it works", Mode: message.Verifiable, Required: true}}}
		s.say(s.people, message.Message{Body: task})
		manifest.SubtaskIDs = append(manifest.SubtaskIDs, id)
		judged := message.Verdict{CriterionID: "c", Criterion: "it works", Mode: message.Verifiable, Required: true, Verdict: verdict, Evidence: "no", By: message.ByCode}
		outcome := message.SubTaskOutcome{SubtaskID: id, ParentTaskID: testGoal, Slot: task.Slot, Approach: approach, Target: "x", Status: message.Matched, Attempts: 1}
		if verdict == message.Fail {
			judged.FailureClass, outcome.Status = message.Logical, message.Failed
			request.FailedSubtasks = append(request.FailedSubtasks, id)
		}
		outcome.CriteriaVerdicts = []message.Verdict{judged}
		request.Outcomes = append(request.Outcomes, outcome)
	}
	s.say(s.people, message.Message{Cause: g.PlanCause.ID, Body: manifest})
	for i, id := range manifest.SubtaskIDs {
		lease := message.Lease{Boot: "b", AwakeMS: 1, ExpiresAt: time.Now().Add(time.Hour)}
		s.say(s.executor, message.Message{Subject: string(id), Body: message.Claimed{Task: id, Agent: "executor-1", Fence: 1, Lease: lease}})
		s.say(s.executor, message.Message{Subject: string(id), Fence: 1, Body: message.ExecutionResult{SubtaskID: id, Attempt: 1, Status: message.Completed}})
		s.say(s.examiner, message.Message{Subject: string(id), Body: request.Outcomes[i]})
	}
	return request
}

func (s *stage) resident(b Board) *Resident {
	return &Resident{Board: b, NewID: ids(), Now: func() time.Time { return noon }, Setup: func(blackboard.Goal) (string, Params, error) {
		return message.LikeForLike, Defaults(message.LikeForLike), nil
	}}
}

func (s *stage) ggs() *blackboard.Board { return s.open("ggs-1", false, message.GGS) }

// said counts what the controller has said about the round of a cause, by type and ordinal.
func (s *stage) said(cause message.ID) map[string]int {
	s.t.Helper()
	out := map[string]int{}
	for m, err := range s.people.Messages(0) {
		if err != nil {
			s.t.Fatal(err)
		}
		if m.From != message.GGS || m.Cause != cause {
			continue
		}
		name := string(m.Type())
		if g, ok := m.Body.(message.Megram); ok {
			name = fmt.Sprintf("%s:%d", name, g.Ordinal)
		}
		out[name]++
	}
	return out
}

func (s *stage) wantOnce(cause message.ID, names ...string) {
	s.t.Helper()
	got := s.said(cause)
	if len(got) != len(names) {
		s.t.Fatalf("said %v, want each of %v once", got, names)
	}
	for _, n := range names {
		if got[n] != 1 {
			s.t.Fatalf("said %v, want each of %v once", got, names)
		}
	}
}

func lastRound(g blackboard.Goal) blackboard.Round { return g.Rounds[len(g.Rounds)-1] }

func TestResidentAnswersWhatWasOpenAndWhatComes(t *testing.T) {
	s := newStage(t)
	s.start(false)
	s.failRound("a", "b")
	first := lastRound(s.goal()).Ref.ID
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.resident(s.ggs()).Run(ctx) }()
	s.await(t, 1)
	s.wantOnce(first, "Megram:1", "Megram:2", "PlanDirective")
	for round := 2; s.goal().Status != blackboard.GoalEnded; round++ {
		if round > Defaults(message.LikeForLike).Bound() {
			t.Fatal("the goal does not end")
		}
		s.refusePlans()
		s.await(t, round)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("run ended with %v", err)
	}
	g := s.goal()
	if g.Final == nil || g.Final.Directive != message.Abandon || len(g.Rounds) != 8 || len(g.Final.UnmetCriteria) == 0 {
		t.Errorf("final %+v after %d rounds", g.Final, len(g.Rounds))
	}
	s.wantOnce(lastRound(g).Ref.ID, "Megram:1", "FinalResult")
}

// await follows the log until the controller has answered so many rounds.
func (s *stage) await(t *testing.T, rounds int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	answers := 0
	for m, err := range s.people.Watch(ctx, 0) {
		if err != nil {
			t.Fatal(err)
		}
		switch m.Body.(type) {
		case message.PlanDirective, message.FinalResult:
			answers++
		}
		if answers == rounds {
			return
		}
	}
	t.Fatalf("%d answers, waited for %d", answers, rounds)
}

var errKilled = errors.New("killed")

// mortal is a board whose process dies before, or right after, an append.
type mortal struct {
	Board
	left  int // appends before death
	after bool
}

func (m *mortal) Append(ctx context.Context, msg message.Message, o ...blackboard.AppendOption) (message.Message, error) {
	if m.left == 0 {
		if m.after {
			if _, err := m.Board.Append(ctx, msg, o...); err != nil {
				return message.Message{}, err
			}
		}
		return message.Message{}, errKilled
	}
	m.left--
	return m.Board.Append(ctx, msg, o...)
}

// A person may give a goal up at any time: before anything was perceived, and
// while a round waits. The answer says what was reached and teaches nothing.
func TestResidentEndsAGoalThatAPersonGaveUp(t *testing.T) {
	for _, rounds := range []int{0, 1} {
		s := newStage(t)
		s.start(false)
		if rounds == 1 {
			s.failRound("a")
		}
		word := s.say(s.people, message.Message{Body: message.GiveUp{Reason: "solved by hand."}})
		r := s.resident(s.ggs())
		for range 2 { // a second answer says nothing
			if err := r.Answer(t.Context(), testGoal); err != nil {
				t.Fatal(err)
			}
		}
		s.wantOnce(word.ID, "FinalResult")
		g := s.goal()
		if g.Status != blackboard.GoalEnded || g.Final.Directive != message.Abandon || len(g.Final.UnmetCriteria) != rounds {
			t.Errorf("%s, %+v", g.Status, g.Final)
		}
		if !strings.Contains(g.Final.Summary, "solved by hand. No criterion") {
			t.Errorf("the summary is %q", g.Final.Summary)
		}
	}
}

// A deadline that has passed ends the goal by its name, and not as if a person
// had changed their mind.
func TestResidentEndsAGoalWhoseDeadlinePassed(t *testing.T) {
	s := newStage(t)
	s.start(false)
	s.failRound("a")
	s.say(s.people, message.Message{From: message.Supervisor, Body: message.GiveUp{Reason: "the deadline has passed", Deadline: &noon}})
	if err := s.resident(s.ggs()).Answer(t.Context(), testGoal); err != nil {
		t.Fatal(err)
	}
	f := s.goal().Final
	if f == nil || f.Directive != message.Abandon || !strings.Contains(f.Rationale, "2026-01-02T12:00:00Z") || !strings.HasPrefix(f.Summary, "Out of time: ") || len(f.UnmetCriteria) == 0 {
		t.Errorf("got %+v", f)
	}
	if strings.Contains(fmt.Sprint(f), "person") {
		t.Errorf("it blames a person: %+v", f)
	}
}

func TestResidentKilledAtAnyPointSaysEverythingOnce(t *testing.T) {
	for left := range 3 {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("after %d appends, durable %v", left, after), func(t *testing.T) {
				s := newStage(t)
				s.start(false)
				s.failRound("a", "b")
				cause := lastRound(s.goal()).Ref.ID
				b := s.ggs()
				if err := s.resident(&mortal{Board: b, left: left, after: after}).Answer(t.Context(), testGoal); !errors.Is(err, errKilled) {
					t.Fatalf("got %v", err)
				}
				for range 2 { // the second time there is nothing left to do
					if err := s.resident(b).Answer(t.Context(), testGoal); err != nil {
						t.Fatal(err)
					}
				}
				s.wantOnce(cause, "Megram:1", "Megram:2", "PlanDirective")
			})
		}
	}
}

func TestTwoResidentsAnswerOnce(t *testing.T) {
	s := newStage(t)
	s.start(false)
	s.failRound("a", "b", "c")
	var all sync.WaitGroup
	for range 4 {
		r := s.resident(s.ggs())
		all.Go(func() {
			if err := r.Answer(t.Context(), testGoal); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	s.wantOnce(lastRound(s.goal()).Ref.ID, "Megram:1", "Megram:2", "Megram:3", "PlanDirective")
}

func TestResidentAcceptsAFactToRemember(t *testing.T) {
	s := newStage(t)
	s.start(true)
	b := s.ggs()
	for range 2 {
		if err := s.resident(b).Answer(t.Context(), testGoal); err != nil {
			t.Fatal(err)
		}
	}
	g := s.goal()
	if g.Status != blackboard.GoalEnded || g.Final.Directive != message.Accept {
		t.Fatalf("goal %+v", g)
	}
	s.wantOnce(g.SpecRef.ID, "Megram:1", "FinalResult")
	for m, err := range s.people.Messages(0) {
		if err != nil {
			t.Fatal(err)
		}
		if f, ok := m.Body.(message.Megram); ok && (f.Level != "C" || f.K != 0 || f.Content.Lesson != "make the tests pass" || f.Space != "fact:make the tests pass") {
			t.Errorf("megram %+v", f)
		}
	}
}

func TestResidentHasNothingToSay(t *testing.T) {
	s := newStage(t)
	s.start(false)
	b := s.ggs()
	for _, id := range []message.GoalID{testGoal, "no_such_goal"} {
		if err := s.resident(b).Answer(t.Context(), id); err != nil {
			t.Error(err)
		}
	}
	for m, err := range s.people.Messages(0) {
		if err != nil {
			t.Fatal(err)
		}
		if m.From == message.GGS {
			t.Errorf("said %s", m.Type())
		}
	}
}

func TestResidentReportsAGoalItCanNotSetUp(t *testing.T) {
	s := newStage(t)
	s.start(false)
	s.refusePlans()
	bad := errors.New("no such policy")
	r := s.resident(s.ggs())
	r.Setup = func(blackboard.Goal) (string, Params, error) { return "", Params{}, bad }
	if err := r.Run(t.Context()); !errors.Is(err, bad) {
		t.Errorf("got %v", err)
	}
	r.Setup = func(blackboard.Goal) (string, Params, error) { return "v9", Defaults("v9"), nil }
	var unknown *PolicyError
	if err := r.Answer(t.Context(), testGoal); !errors.As(err, &unknown) {
		t.Errorf("got %v", err)
	}
}

func TestALargeOutputStillEndsTheGoal(t *testing.T) {
	r := summary(one("a", "x", 2, 0, 0))
	r.Summary.MergedOutput = string(make([]byte, 900<<10))
	f := decide(t, message.LikeForLike, Defaults(message.LikeForLike), history(r)).Final
	if len(f.Output) > maxOutputBytes+100 {
		t.Errorf("%d bytes", len(f.Output))
	}
}
