package step

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/loop"
	"orch/roles/think/choose"
)

// Ledger is what a purse needs of the board; *blackboard.Board is one.
type Ledger interface {
	AppendFunc(context.Context, func(*blackboard.State) (message.Message, error), ...blackboard.AppendOption) (message.Message, error)
}

// Purse reserves on the log what the questions of a step, or of the controller
// about a goal, may cost. It looks at the caps and reserves under the log's lock,
// so that all that is spent and reserved by however many processes never passes
// a cap. It is used by one goroutine at a time.
type Purse struct {
	Board      Ledger
	Policy     loop.Policy
	Activation loop.Activation // of the controller: its role, the goal as subject, no cause

	said bool // something of this step is on record
}

var _ choose.Purse = (*Purse)(nil)

// errFree says that no cap bounds the step.
var errFree = errors.New("no cap bounds it")

// errShort carries why nothing was set aside.
type errShort struct{ choose.Grant }

func (e *errShort) Error() string { return "the cap on " + e.Short.Cap + " leaves too little" }

// Reserve sets aside what is wanted, or as much of it as the caps leave. It is
// on disk when it returns.
func (p *Purse) Reserve(ctx context.Context, w choose.Want, books choose.Books) (choose.Grant, error) {
	var g choose.Grant
	_, err := p.Board.AppendFunc(ctx, func(st *blackboard.State) (message.Message, error) {
		r := loop.RoomOf(st, p.Policy, p.Activation)
		if !r.Capped {
			return message.Message{}, errFree
		}
		// What is on the log of this step counts in the room already.
		usd, doubt := message.SumOf(books.Spent)
		room := r.USD + p.onLog(st) - usd - doubt - books.Reserved
		least, most := w.Least, w.Most
		if w.Share {
			least = cmp.Or(least, r.Share)
			most = max(least, 2*r.Share)
		}
		if room < least || room <= 0 {
			r.Cap.Needs = least
			return message.Message{}, &errShort{choose.Grant{Capped: true, Short: r.Cap, Waits: r.Waits}}
		}
		g = choose.Grant{Capped: true, USD: min(most, room)}
		books.Reserved += g.USD
		return p.message(books), nil
	})
	var short *errShort
	switch {
	case errors.As(err, &short):
		return short.Grant, nil
	case errors.Is(err, errFree):
		return choose.Grant{}, nil
	case err != nil:
		return choose.Grant{}, err
	}
	p.said = true
	return g, nil
}

// Settle says what the step's questions took. A step that reserved nothing has
// nothing to say before its end.
func (p *Purse) Settle(ctx context.Context, books choose.Books) error {
	if !p.said {
		return nil
	}
	_, err := p.Board.AppendFunc(ctx, func(*blackboard.State) (message.Message, error) { return p.message(books), nil })
	if err != nil {
		return fmt.Errorf("settle what was spent: %w", err)
	}
	return nil
}

// onLog is what the log says that this step spent and reserved.
func (p *Purse) onLog(st *blackboard.State) float64 {
	if p.Activation.Key.Role == message.GGS {
		g, _ := st.Goal(p.Activation.Goal)
		return g.Advice.Total()
	}
	a, _ := st.Activation(p.Activation.Key)
	return a.Asked.Total()
}

func (p *Purse) message(b choose.Books) message.Message {
	k := p.Activation.Key
	return message.Message{From: k.Role, To: message.All, Goal: p.Activation.Goal, Subject: k.Subject, Cause: k.Cause,
		Body: message.CostReserved{Role: k.Role, Subject: k.Subject, Cause: k.Cause, Model: b.Model, Reserved: b.Reserved, Spent: b.Spent}}
}
