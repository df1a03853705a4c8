package memory

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/loop"
)

// stage is a real board, its planner and controller, and a resident on it.
type stage struct {
	t          *testing.T
	root       string
	others, me *blackboard.Board
	r          *Resident
}

func newStage(t *testing.T) *stage {
	s := &stage{t: t, root: t.TempDir()}
	s.others = s.open("human-1", blackboard.Init, message.Human, message.Perceiver, message.Planner, message.GGS, message.Supervisor)
	s.me = s.open("memory-1", blackboard.Open, message.Memory)
	s.r = &Resident{Board: s.me, Dir: filepath.Join(s.root, "memory"), SettleMS: 1, PartMS: 300_000}
	return s
}

func (s *stage) open(agent message.AgentID, open func(string, blackboard.Options) (*blackboard.Board, error), speaks ...message.Role) *blackboard.Board {
	s.t.Helper()
	b, err := open(s.root, blackboard.Options{Identity: blackboard.Identity{Agent: agent, Speaks: speaks}, UnsafeFS: true})
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

func (s *stage) say(goal message.GoalID, m message.Message) message.Message {
	s.t.Helper()
	m.Goal = goal
	m, err := s.others.Append(s.t.Context(), m)
	if err != nil {
		s.t.Fatal(err)
	}
	return m
}

// asks starts a goal whose planner asks about a pair.
func (s *stage) asks(goal message.GoalID, tool string) message.Message {
	s.t.Helper()
	text := "do " + string(goal)
	s.say(goal, message.Message{Body: message.UserInput{Text: text, Profile: "task"}})
	s.say(goal, message.Message{Body: message.TaskSpec{TaskID: goal, Intent: text, RawInput: text}})
	return s.say(goal, message.Message{From: message.Planner, To: message.Memory, Body: message.MemoryQuery{
		Space: loop.IntentSpace(text), Entity: loop.LocalEntity, Candidates: []message.Pair{{Tool: tool, Target: "x"}},
	}})
}

// learns ends a goal that is a fact to remember, with one Megram about a pair.
func (s *stage) learns(goal message.GoalID, id, tool string, sigma float64) {
	s.t.Helper()
	s.say(goal, message.Message{Body: message.UserInput{Text: string(goal), Profile: "task"}})
	spec := s.say(goal, message.Message{Body: message.TaskSpec{TaskID: goal, Intent: string(goal), RawInput: string(goal), Declarative: true}})
	s.say(goal, message.Message{From: message.GGS, To: message.Memory, Cause: spec.ID, Body: message.Megram{
		ID: id, Level: LevelM, CreatedAt: time.Now(), Space: "tool:" + tool, Entity: "path:x",
		Content: message.MegramContent{Lesson: id, Category: categoryProcedure}, F: 0.9, Sigma: sigma, K: 0.05, Ordinal: 1,
	}})
	s.say(goal, message.Message{From: message.GGS, Cause: spec.ID, Body: message.FinalResult{TaskID: goal, Directive: message.Accept}})
}

// while runs the resident until the work is done, and returns how it ended.
func (s *stage) while(work func()) error {
	s.t.Helper()
	ctx, stop := context.WithCancel(s.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.r.Run(ctx) }()
	work()
	stop()
	return <-ended
}

// await waits until somebody has said what fits.
func (s *stage) await(fits func(message.Message) bool) message.Message {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 5*time.Minute)
	defer cancel()
	for m, err := range s.others.Watch(ctx, 1) {
		if err != nil {
			s.t.Fatalf("nobody said it: %v", err)
		}
		if fits(m) {
			return m
		}
	}
	s.t.Fatal("nobody said it")
	return message.Message{}
}

func answers(q message.Message) func(message.Message) bool {
	return func(m message.Message) bool { return m.Type() == "MemoryAnswer" && m.Cause == q.ID }
}

func reports(cause message.ID) func(message.Message) bool {
	return func(m message.Message) bool {
		b, ok := m.Body.(message.DreamReport)
		return ok && b.Last && m.Cause == cause
	}
}

func (s *stage) count(typ message.Type) int {
	s.t.Helper()
	n := 0
	for m, err := range s.others.Messages(1) {
		if err != nil {
			s.t.Fatal(err)
		}
		if m.Type() == typ {
			n++
		}
	}
	return n
}

func stoppedWell(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
}

func TestEveryQuestionIsAnsweredOnce(t *testing.T) {
	s := newStage(t)
	s.learns("g0", "m1", "a", -1)
	before := s.asks("g1", "a")
	stoppedWell(t, s.while(func() {
		s.await(answers(before)) // asked while nobody was there
		after := s.asks("g2", "a")
		m := s.await(answers(after))
		a := m.Body.(message.MemoryAnswer)
		if len(a.Potentials) != 1 || a.Potentials[0].Action != loop.Avoid || m.Goal != "g2" {
			t.Errorf("answer %+v", a)
		}
	}))
	for range 3 {
		stoppedWell(t, s.while(func() {}))
	}
	if n := s.count("MemoryAnswer"); n != 2 {
		t.Errorf("%d answers to two questions", n)
	}
}

func TestAQuestionThatWasGivenUpOnIsNotAnswered(t *testing.T) {
	s := newStage(t)
	q := s.asks("g1", "a")
	s.say("g1", message.Message{From: message.Supervisor, To: message.Planner, Cause: q.ID, Body: message.MemoryTimeout{Reason: "slow"}})
	stoppedWell(t, s.while(func() { s.await(answers(s.asks("g2", "a"))) }))
	if n := s.count("MemoryAnswer"); n != 1 {
		t.Errorf("%d answers", n)
	}
}

func TestAPassFollowsTheEndOfAGoal(t *testing.T) {
	s := newStage(t)
	stoppedWell(t, s.while(func() {
		s.learns("g1", "m1", "a", 1)
		s.await(reports(""))
	}))
	if s.count("DreamReport") != 1 {
		t.Errorf("%d reports of one pass", s.count("DreamReport"))
	}
}

func TestWhoIsEndedByTheEndOfTheGoalMakesThePassFirst(t *testing.T) {
	s := newStage(t)
	s.r.SettleMS = 3_600_000
	stoppedWell(t, s.while(func() {
		s.learns("g1", "m1", "a", 1)
		s.await(answers(s.asks("g2", "a"))) // it has seen the end of g1
	}))
	if s.count("DreamReport") != 1 {
		t.Error("the pass was left to the next run")
	}
}

func TestAPassByTheClockThatDoesNothingSaysNothing(t *testing.T) {
	s := newStage(t)
	passes := make(chan struct{}, 100)
	s.r.EveryMS = 1
	s.r.Options.Now = func() time.Time {
		select {
		case passes <- struct{}{}:
		default:
		}
		return time.Now()
	}
	s.say("", message.Message{Body: message.MemoryFact{Text: "a fact"}})
	stoppedWell(t, s.while(func() {
		for range 20 {
			<-passes // the Dreamer looks at the clock in every pass
		}
	}))
	if n := s.count("DreamReport"); n != 0 {
		t.Errorf("%d reports of nothing: the log of an idle board grows", n)
	}
}

func TestRequestsForPassesAreServedInOrderEvenIfAskedBefore(t *testing.T) {
	s := newStage(t)
	for i, id := range []string{"m1", "m2", "m3", "m4", "m5", "m6"} {
		s.learns(message.GoalID([]string{"a", "b", "c", "d", "e", "f"}[i]), id, "a", 1)
	}
	first := s.say("", message.Message{From: message.Human, To: message.Memory, Body: message.DreamRequest{Phases: []string{message.DreamForget}}})
	second := s.say("", message.Message{From: message.Human, To: message.Memory, Body: message.DreamRequest{}})
	stoppedWell(t, s.while(func() {
		rule := s.await(func(m message.Message) bool { return m.Type() == "Megram" && m.From == message.Memory })
		if forgot := s.await(reports(first.ID)); rule.Seq < forgot.Seq {
			t.Error("a phase that was not asked for ran")
		}
		s.await(reports(second.ID))
	}))
	if n := s.count("Megram"); n != 7 {
		t.Errorf("%d Megrams: six successes make one rule", n)
	}
	q := s.asks("later", "a")
	stoppedWell(t, s.while(func() {
		a := s.await(answers(q)).Body.(message.MemoryAnswer)
		if len(a.SOPs) != 1 || len(a.Recalled) != 1 || a.SOPs[0].Category != categoryProcedure {
			t.Errorf("answer %+v", a)
		}
	}))
}

// The Dreamer may have to wait for a model. Nobody else does.
func TestAPassKeepsNoQuestionWaiting(t *testing.T) {
	s := newStage(t)
	for i, id := range []string{"m1", "m2", "m3", "m4", "m5", "m6"} {
		s.learns(message.GoalID([]string{"a", "b", "c", "d", "e", "f"}[i]), id, "a", 1)
	}
	thinking, goOn := make(chan struct{}), make(chan struct{})
	s.r.Options.Distill = func(ctx context.Context, e Evidence) (message.MegramContent, []message.Spent, error) {
		close(thinking)
		<-goOn
		return FromEvidence(ctx, e)
	}
	asked := s.say("", message.Message{From: message.Human, To: message.Memory, Body: message.DreamRequest{}})
	stoppedWell(t, s.while(func() {
		<-thinking
		s.await(answers(s.asks("now", "a")))
		close(goOn)
		s.await(reports(asked.ID))
	}))
}

func TestADamagedStoreIsMadeAgainAndSaysSo(t *testing.T) {
	s := newStage(t)
	s.learns("g1", "m1", "a", -1)
	stoppedWell(t, s.while(func() { s.await(reports("")) }))
	tables, err := filepath.Glob(filepath.Join(s.r.Dir, "*"))
	if err != nil || len(tables) == 0 {
		t.Fatal(tables, err)
	}
	for _, name := range tables {
		if err := os.WriteFile(name, []byte(strings.Repeat("damage", 100)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	q := s.asks("g2", "a")
	stoppedWell(t, s.while(func() {
		a := s.await(answers(q)).Body.(message.MemoryAnswer)
		if len(a.Potentials) != 1 || a.Potentials[0].Action != loop.Avoid {
			t.Errorf("answer %+v", a)
		}
	}))
	if s.count("MemoryRebuilt") != 1 {
		t.Error("nobody was told")
	}
	if _, err := os.Stat(s.r.Dir + asideSuffix); err != nil {
		t.Errorf("the damaged store was not kept: %v", err)
	}
}

func TestARebuildCanBeAskedFor(t *testing.T) {
	s := newStage(t)
	s.learns("g1", "m1", "a", -1)
	asked := s.say("", message.Message{From: message.Human, To: message.Memory, Body: message.DreamRequest{Phases: []string{message.DreamRebuild}}})
	stoppedWell(t, s.while(func() {
		s.await(reports(asked.ID))
		s.await(answers(s.asks("g2", "a")))
	}))
	if s.count("MemoryRebuilt") != 1 {
		t.Errorf("%d rebuilds", s.count("MemoryRebuilt"))
	}
	for m, err := range s.others.Messages(1) {
		if err != nil {
			t.Fatal(err)
		}
		if m.Type() == "MemoryRebuilt" && m.Cause != asked.ID {
			t.Errorf("the rebuild names %q as who asked, want %q", m.Cause, asked.ID)
		}
	}
}

func TestPhasesKeepTheirOrder(t *testing.T) {
	if got := phasesOf([]string{"forget", "rebuild", "contradict"}); !slices.Equal(got, []Phase{Contradict, Forget}) {
		t.Errorf("got %v", got)
	}
	if phasesOf(nil) != nil || len(phasesOf([]string{"rebuild"})) != 0 || phasesOf([]string{"rebuild"}) == nil {
		t.Error("no phases are all of them, a rebuild alone is none")
	}
	var names []string
	for _, p := range Phases() {
		names = append(names, string(p))
	}
	if !slices.Equal(names, message.DreamPhases()) {
		t.Errorf("the messages know %v, the Dreamer %v", message.DreamPhases(), names)
	}
}
