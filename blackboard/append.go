package blackboard

import (
	"context"
	"errors"
	"fmt"

	"orch/blackboard/journal"
	"orch/blackboard/message"
)

// AppendOption is a condition on an append. It is checked with every other
// writer shut out, on the state the message would join.
type AppendOption func(*appendRules)

type appendRules struct {
	ifSeq *uint64
	ifs   []func(*State) error
}

// IfSeq lets the append happen only if nothing was said since message seq; else
// it is refused with a SeqError.
func IfSeq(seq uint64) AppendOption { return func(r *appendRules) { r.ifSeq = &seq } }

// If lets the append happen only if f returns nil; else it is refused with what
// f returned. f must not call the board.
func If(f func(*State) error) AppendOption {
	return func(r *appendRules) { r.ifs = append(r.ifs, f) }
}

// Append adds a message and returns it as it is in the log, once it is durable.
// Agent, From and To come from the identity and the table if they are empty;
// Seq and TS are the log's, ID too unless it is set. The state has the body that
// is returned: nobody changes it.
//
// It is refused, and the log untouched, with a BoundaryError if the identity or
// the table does not allow it, with what a condition returned, or with what the
// fold has against it. A journal.UnacknowledgedError means: written, but perhaps
// not durable; the caller looks before it tries again.
func (b *Board) Append(ctx context.Context, m message.Message, o ...AppendOption) (message.Message, error) {
	return b.AppendFunc(ctx, func(*State) (message.Message, error) { return m, nil }, o...)
}

// AppendFunc is Append for a message that depends on the state it will join. An
// error of draft is returned as it is. draft must not call the board, nor keep or
// change the state.
func (b *Board) AppendFunc(ctx context.Context, draft func(*State) (message.Message, error), o ...AppendOption) (message.Message, error) {
	if b.opts.ReadOnly {
		return message.Message{}, ErrReadOnly
	}
	if err := b.opts.Identity.check(); err != nil {
		return message.Message{}, err
	}
	var rules appendRules
	for _, option := range o {
		option(&rules)
	}
	m, err := b.append(ctx, func(s *State) (message.Message, error) {
		if err := b.refuse(s); err != nil {
			return message.Message{}, err
		}
		if err := rules.check(s); err != nil {
			return message.Message{}, err
		}
		m, err := draft(s)
		if err != nil {
			return message.Message{}, err
		}
		err = b.opts.Identity.address(&m)
		return m, err
	})
	var boundary *BoundaryError
	if errors.As(err, &boundary) {
		err = errors.Join(err, b.logViolation(ctx, boundary))
	}
	return m, err
}

func (b *Board) refuse(s *State) error {
	if b.opts.Refuse == nil {
		return nil
	}
	return b.opts.Refuse(s)
}

func (r appendRules) check(s *State) error {
	if seq, _ := s.Head(); r.ifSeq != nil && *r.ifSeq != seq {
		return &SeqError{Want: *r.ifSeq, Have: seq}
	}
	for _, condition := range r.ifs {
		if err := condition(s); err != nil {
			return err
		}
	}
	return nil
}

// logViolation appends what the board itself has to say about a refused message.
func (b *Board) logViolation(ctx context.Context, e *BoundaryError) error {
	return b.RecordViolation(ctx, e.Violation)
}

// RecordViolation appends what the board itself has to say about something that
// was refused before it became a message: a stranger at a step's socket.
func (b *Board) RecordViolation(ctx context.Context, v message.BoundaryViolation) error {
	_, err := b.append(ctx, func(*State) (message.Message, error) {
		return message.Message{
			From: message.Board, To: message.Auditor, Subject: v.Subject, Agent: b.opts.Identity.Agent, Door: message.DoorBoard, Body: v,
		}, nil
	})
	if err != nil {
		return fmt.Errorf("log the violation: %w", err)
	}
	return nil
}

// append adds the addressed message that draft makes of the caught-up state.
func (b *Board) append(ctx context.Context, draft func(*State) (message.Message, error)) (message.Message, error) {
	var m message.Message
	r, err := b.log.AppendFunc(ctx, func(t journal.Tail) (journal.Draft, error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		if err := b.catchUp(t); err != nil {
			return journal.Draft{}, err
		}
		d, err := b.prepare(t, &m, draft)
		if fault := b.state.Err(); fault != nil {
			b.distrust(fault)
			return journal.Draft{}, fmt.Errorf("read the board: %w", fault)
		}
		return d, err
	})
	if err != nil {
		return message.Message{}, err
	}
	b.folded(r, m.Body)
	if b.opts.Appended != nil {
		b.opts.Appended(b)
	}
	return m, nil
}

// prepare makes the draft of a message that the fold accepts. The state is not
// changed: it only ever holds what is in the log. b.mu must be held.
func (b *Board) prepare(t journal.Tail, m *message.Message, draft func(*State) (message.Message, error)) (journal.Draft, error) {
	var err error
	if *m, err = draft(b.state); err != nil {
		return journal.Draft{}, err
	}
	if m.From == message.Human { // what a person says reaches whom it is for byte for byte, or not at all
		if err := Texts(m.Body); err != nil {
			return journal.Draft{}, err
		}
	}
	payload, err := message.Encode(m.Body)
	if err != nil {
		return journal.Draft{}, err
	}
	// What is checked must be what is read back.
	payload = RedactJSON(payload, b.opts.Redact)
	if m.Body, err = message.Decode(m.Type(), payload); err != nil {
		return journal.Draft{}, fmt.Errorf("check the message: %w", err)
	}
	if m.ID == "" {
		id, err := b.opts.IDs.NewID()
		if err != nil {
			return journal.Draft{}, fmt.Errorf("make a message id: %w", err)
		}
		m.ID = message.ID(id)
	}
	m.Seq, m.TS = t.Head().Seq+1, t.Now()
	if err := Check(b.state, *m); err != nil {
		return journal.Draft{}, err
	}
	return journal.Draft{
		TS: m.TS, ID: string(m.ID), From: string(m.From), To: string(m.To), Type: string(m.Type()),
		Goal: string(m.Goal), Subject: m.Subject, Cause: string(m.Cause), Agent: string(m.Agent),
		Fence: uint64(m.Fence), Door: string(m.Door), Payload: payload,
	}, nil
}

// folded takes an appended record, whose body was decoded when it was checked,
// into the state, unless somebody else was faster, and sees to what has become too
// long.
func (b *Board) folded(r journal.Record, body message.Body) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.spoke = true
	if b.closed || b.state == nil {
		return
	}
	if seq, _ := b.state.Head(); seq+1 != r.Seq {
		return
	}
	if err := take(b.state, messageOf(r, body)); err != nil {
		b.distrust(err) // it was checked before: what the state rests on is damaged
		return
	}
	b.tail++
	b.appended = true
	b.notice()
}
