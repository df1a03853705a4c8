package blackboard

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"orch/blackboard/message"
)

// Apply folds one message into the state. It is total and deterministic: it
// does no I/O and takes the time from the message. It first works everything
// out aside; a message that is not legal leaves the state exactly as it was
// and comes back as an error that says why.
func Apply(s *State, m message.Message) error {
	x, err := prepare(s, m)
	if err != nil {
		return err
	}
	x.commit()
	return nil
}

// Check tells what Apply would return, without changing the state.
func Check(s *State, m message.Message) error {
	_, err := prepare(s, m)
	return err
}

// tx is one message on its way into the state.
type tx struct {
	s    *State
	m    message.Message
	ref  Ref
	goal message.GoalID // the goal the message counts for, also if it names only a task

	activations staged[Activation]
	agents      staged[Agent]
	anomalies   staged[AnomalyRecord]
	approvals   staged[Approval]
	boards      staged[boardRecord]
	goals       staged[Goal]
	meters      staged[meter]
	plans       staged[planTally]
	tallies     staged[tally]
	tasks       staged[Task]
}

func prepare(s *State, m message.Message) (*tx, error) {
	x := &tx{s: s, m: m, ref: Ref{ID: m.ID, Seq: m.Seq, TS: m.TS}, goal: m.Goal}
	x.activations.table, x.agents.table, x.anomalies.table = &s.activations, &s.agents, &s.anomalies
	x.approvals.table, x.boards.table, x.goals.table = &s.approvals, &s.boards, &s.goals
	x.meters.table, x.plans.table, x.tallies.table, x.tasks.table = &s.meters, &s.plans, &s.tallies, &s.tasks
	err := x.work()
	if broken := s.Err(); broken != nil {
		return nil, broken // whatever was concluded came from records that did not load
	}
	if err != nil {
		return nil, err
	}
	return x, nil
}

func (x *tx) work() error {
	if err := x.s.Err(); err != nil {
		return err
	}
	if err := x.admit(); err != nil {
		return err
	}
	if effect := effects()[x.m.Type()]; effect != nil {
		if err := effect(x); err != nil {
			return err
		}
	} else if err := x.noted(); err != nil {
		return err
	}
	x.settle()
	x.account()
	x.closeBill()
	return nil
}

// admit checks what holds for every message.
func (x *tx) admit() error {
	if x.m.Body == nil {
		return fmt.Errorf("%w: the message has no body", message.ErrUnknownType)
	}
	// What the log has was accepted under the table of its time; the auditor says
	// what today's has against it. A message without a hash is about to be said.
	if x.m.Hash == "" {
		if err := message.Route(x.m.Type(), x.m.Door, x.m.From, x.m.To); err != nil {
			return err
		}
	}
	if x.m.Seq != x.s.seq+1 {
		return x.refuse("it has seq %d, want %d", x.m.Seq, x.s.seq+1)
	}
	if x.m.ID == "" {
		return x.refuse("it has no id")
	}
	if v, ok := x.m.Body.(interface{ Validate() error }); ok {
		if err := v.Validate(); err != nil {
			return x.refuse("%v", err)
		}
	}
	_, genesis := x.m.Body.(message.Genesis)
	if known := x.boards.peek(boardKey) != nil; known == genesis {
		if known {
			return x.refuse("the board has one already")
		}
		return x.refuse("the first message of a board is Genesis")
	}
	if x.m.Goal != "" && x.m.Type() != "UserInput" && x.goals.peek(string(x.m.Goal)) == nil {
		return x.refuse("there is no goal %q", x.m.Goal)
	}
	return nil
}

func (x *tx) commit() {
	x.activations.commit()
	x.agents.commit()
	x.anomalies.commit()
	x.approvals.commit()
	x.boards.commit()
	x.goals.commit()
	x.meters.commit()
	x.plans.commit()
	x.tallies.commit()
	x.tasks.commit()
	x.s.seq = x.m.Seq
	x.s.SetHead("")
}

// effect is what messages of one type do to the state.
type effect struct {
	typ message.Type
	run func(*tx) error
}

func on[T message.Body](f func(*tx, T) error) effect {
	var zero T
	return effect{zero.Type(), func(x *tx) error {
		b, ok := x.m.Body.(T)
		if !ok {
			return x.refuse("its body is a %T, want a value of the type", x.m.Body)
		}
		return f(x, b)
	}}
}

// noted is for messages that are there to be read: the table lists nothing that
// they change.
func (x *tx) noted() error {
	e, ok := message.Lookup(x.m.Type())
	switch {
	case !ok:
		return fmt.Errorf("%w %q", message.ErrUnknownType, x.m.Type())
	case len(e.Changes) > 0:
		return x.refuse("nothing says what it does to the board")
	}
	return nil
}

var effects = sync.OnceValue(func() map[message.Type]func(*tx) error {
	all := map[message.Type]func(*tx) error{}
	for _, e := range slices.Concat(boardEffects(), memoryEffects(), goalEffects(), planEffects(), roundEffects(), stepEffects(), workEffects(), reviewEffects(), raisedEffects(), handEffects()) {
		all[e.typ] = e.run
	}
	return all
})

// appended is list with v at its end, in memory of its own: what the table
// holds shares the old list.
func appended[T any](list []T, v ...T) []T { return append(slices.Clip(list), v...) }

func finite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }
