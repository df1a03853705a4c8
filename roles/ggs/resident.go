package ggs

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/loop"
)

// Board is what the resident needs of the blackboard. *blackboard.Board is one.
type Board interface {
	View(context.Context, func(*blackboard.State) error) error
	Watch(ctx context.Context, from uint64) iter.Seq2[message.Message, error]
	Append(context.Context, message.Message, ...blackboard.AppendOption) (message.Message, error)
}

// Resident answers the rounds of every goal on a board as they come up.
//
// For one round it writes the Megrams first and the directive or result last, as
// the commit. Each is appended only while the round is unanswered and unless it
// is there already. So being killed in between, or a second resident, changes
// nothing: every Megram and every answer is written once.
type Resident struct {
	Board Board
	NewID func() string    // of Megrams
	Now   func() time.Time // dates Megrams
	// NoMemory leaves out all that is for the memory: nothing is learned.
	NoMemory bool
	// Setup says which policy decides for a goal, with which numbers.
	Setup func(blackboard.Goal) (policy string, p Params, err error)
	// Moves asks a model what a person could do after a goal was given up; nil,
	// and no answer, leave what the evidence says. It never decides anything.
	Moves func(context.Context, blackboard.Goal, message.FinalResult) ([]string, []message.Spent)
}

// Run follows the log until ctx is done, and then returns its error. A goal
// that can't be answered does not keep the others from being answered, but ends
// Run with its error after they have been looked at once.
func (r *Resident) Run(ctx context.Context) error {
	var goals []message.GoalID
	var head uint64
	err := r.Board.View(ctx, func(s *blackboard.State) error {
		head, _ = s.Head()
		for _, g := range s.OpenGoals() {
			goals = append(goals, g.ID)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, id := range goals {
		err = errors.Join(err, r.Answer(ctx, id))
	}
	if err != nil {
		return err
	}
	for m, err := range r.Board.Watch(ctx, head+1) {
		if err != nil {
			return fmt.Errorf("follow the log: %w", err)
		}
		if !wakes(m.Type()) {
			continue
		}
		if err := r.Answer(ctx, m.Goal); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// wakes tells whether a message may leave something to answer.
func wakes(t message.Type) bool {
	return slices.Contains([]message.Type{
		message.ReplanRequest{}.Type(), message.OutcomeSummary{}.Type(), message.PlanRejected{}.Type(), message.TaskSpec{}.Type(),
		message.GiveUp{}.Type(), message.StepEnded{}.Type(),
	}, t)
}

// Answer answers the open round of a goal. Without one it does nothing.
func (r *Resident) Answer(ctx context.Context, id message.GoalID) error {
	var g blackboard.Goal
	err := r.Board.View(ctx, func(s *blackboard.State) error {
		g, _ = s.Goal(id)
		return nil
	})
	if err != nil {
		return err
	}
	q := openQuestion(g)
	if q.cause == "" {
		return nil
	}
	policy, p, err := r.Setup(g)
	if err != nil {
		return fmt.Errorf("set up the controller of goal %s: %w", id, err)
	}
	if q.giveUp {
		return r.commit(ctx, g, q, giveUp(policy, g))
	}
	if q.fact {
		return r.commit(ctx, g, q, remember(policy, g, r.Now(), r.NewID, r.NoMemory))
	}
	d, err := Decide(policy, p, historyOf(g), r.Now(), r.NewID)
	if err != nil {
		return fmt.Errorf("decide about goal %s: %w", id, err)
	}
	if d.Final != nil && d.Final.Directive == message.Abandon && r.Moves != nil {
		r.advise(ctx, g, d.Final)
	}
	if r.NoMemory {
		d.Megrams, d.Feedback = nil, nil
	}
	return r.commit(ctx, g, q, d)
}

// advise lets a model's next moves take the place of those from the evidence,
// if it has any.
func (r *Resident) advise(ctx context.Context, g blackboard.Goal, f *message.FinalResult) {
	moves, spent := r.Moves(ctx, g, *f)
	f.Spent = spent
	for _, s := range spent {
		f.Cost += s.Cost
	}
	var said []string
	for _, m := range moves {
		if m = strings.TrimSpace(m); m != "" && len(said) < mostMoves {
			said = addNew(said, m)
		}
	}
	if len(said) < 2 {
		said = addNew(said, f.NextMoves...) // two at least: what the evidence says is never wrong
	}
	f.NextMoves = said[:min(len(said), mostMoves)]
}

// question is what a goal waits for the controller to answer.
type question struct {
	cause   message.ID // empty: nothing
	fact    bool       // a fact to remember, not a round
	giveUp  bool       // a person's word to end the goal, not a round
	written []string   // Megrams that are there already
}

// openQuestion is what a goal asks. What a step asks it asks when it has ended:
// only then is known what the goal has cost and taken. A step that lives always
// ends, if need be by housekeeping.
func openQuestion(g blackboard.Goal) question {
	switch {
	case g.Status == blackboard.GoalEnded:
		return question{}
	case g.GiveUp != nil:
		return question{cause: g.GiveUpRef.ID, giveUp: true}
	case g.Spec == nil:
		return question{}
	}
	if n := len(g.Rounds); n > 0 && g.Rounds[n-1].Answer.Seq == 0 {
		if g.Rounds[n-1].Bill.Open() {
			return question{}
		}
		return question{cause: g.Rounds[n-1].Ref.ID, written: g.Rounds[n-1].Megrams}
	}
	if g.Spec.Declarative && !g.Bill.Open() {
		return question{cause: g.SpecRef.ID, fact: true, written: g.Megrams}
	}
	return question{}
}

func historyOf(g blackboard.Goal) History {
	h := History{Goal: g.ID, Intent: g.Spec.Intent, Space: loop.IntentSpace(g.Spec.Intent), Strict: g.Input.Strict, Tags: g.Spec.Tags}
	if a := g.Calibration.Answer; a != nil {
		h.Rules = a.SOPs
	}
	if g.Plan != nil {
		h.Criteria = g.Plan.TaskCriteria
	}
	h.InDoubt = inDoubt(g)
	for _, round := range g.Rounds {
		h.Rounds = append(h.Rounds, Round{Request: round.Request, Summary: round.Summary, PlanFailure: round.PlanFailure, Directive: round.Directive,
			ElapsedMS: round.Bill.ActiveMS, Cost: round.Bill.Cost})
	}
	return h
}

// inDoubt names the calls of a goal that were cut off.
func inDoubt(g blackboard.Goal) (calls []string) {
	for _, d := range g.Doubts {
		calls = append(calls, fmt.Sprintf("%s of task %s", short(message.CallName(d.Tool, d.In)), d.Task))
	}
	return calls
}

// errAnswered: somebody else has answered, or written this Megram.
var errAnswered = errors.New("already answered")

func (r *Resident) commit(ctx context.Context, g blackboard.Goal, q question, d Decision) error {
	write := func(body message.Body, ordinal int) error {
		name := fmt.Sprintf("%s:%d", body.Type(), ordinal)
		if slices.Contains(q.written, name) {
			return nil
		}
		return r.say(ctx, g.ID, q.cause, body, name)
	}
	for _, m := range d.Megrams {
		if err := write(m, m.Ordinal); err != nil {
			return err
		}
	}
	for _, f := range d.Feedback {
		if err := write(f, f.Ordinal); err != nil {
			return err
		}
	}
	return r.say(ctx, g.ID, q.cause, d.Body(), "")
}

// say appends an answer to a question that is still open. An answer that is
// there already is as good as this one.
func (r *Resident) say(ctx context.Context, id message.GoalID, cause message.ID, body message.Body, name string) error {
	stillOpen := func(s *blackboard.State) error {
		g, _ := s.Goal(id)
		if q := openQuestion(g); q.cause != cause || slices.Contains(q.written, name) {
			return errAnswered
		}
		return nil
	}
	m := message.Message{From: message.GGS, Goal: id, Subject: string(id), Cause: cause, Body: body}
	if _, err := r.Board.Append(ctx, m, blackboard.If(stillOpen)); err != nil && !errors.Is(err, errAnswered) {
		return fmt.Errorf("answer goal %s: %w", id, err)
	}
	return nil
}
