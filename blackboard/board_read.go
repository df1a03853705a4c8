package blackboard

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"orch/blackboard/checkpoint"
	"orch/blackboard/journal"
	"orch/blackboard/message"
)

// decodeRecord makes a message of a line of the log.
func decodeRecord(r journal.Record) (message.Message, error) {
	body, err := message.Decode(message.Type(r.Type), r.Payload)
	if err != nil {
		return message.Message{}, &FoldError{Seq: r.Seq, Type: message.Type(r.Type), Err: err}
	}
	if genesis, ok := body.(message.Genesis); ok && genesis.Format > LogFormat {
		return message.Message{}, &NewerFormatError{Format: genesis.Format}
	}
	return messageOf(r, body), nil
}

// messageOf is a line of the log whose payload says body.
func messageOf(r journal.Record, body message.Body) message.Message {
	return message.Message{
		Seq: r.Seq, TS: r.TS, ID: message.ID(r.ID), From: message.Role(r.From), To: message.Role(r.To),
		Goal: message.GoalID(r.Goal), Subject: r.Subject, Cause: message.ID(r.Cause),
		Agent: message.AgentID(r.Agent), Fence: message.Fence(r.Fence), Door: message.Door(r.Door), Body: body, Hash: r.Hash,
	}
}

// Messages yields the messages from a seq on that are in the log now, 0 meaning
// the oldest that is kept. It takes no lock. An error ends it.
func (b *Board) Messages(from uint64) iter.Seq2[message.Message, error] {
	return decoded(b.log.Read(from))
}

// Watch is Messages that goes on until ctx is done: it yields messages as they
// land, none skipped and none twice. What it yields may not be durable yet; see
// Barrier.
func (b *Board) Watch(ctx context.Context, from uint64) iter.Seq2[message.Message, error] {
	return decoded(b.log.Watch(ctx, from))
}

func decoded(records iter.Seq2[journal.Record, error]) iter.Seq2[message.Message, error] {
	return func(yield func(message.Message, error) bool) {
		for r, err := range records {
			var m message.Message
			if err == nil {
				m, err = decodeRecord(r)
			}
			if !yield(m, err) || err != nil {
				return
			}
		}
	}
}

// Barrier returns once everything up to seq is durable. It is called before any
// effect outside the log: what a process acts on must not be lost. It costs
// nothing if that is known already.
func (b *Board) Barrier(ctx context.Context, seq uint64) error { return b.log.Barrier(ctx, seq) }

// View brings the state up to date and calls f with it. The state is f's only
// while it runs, must not be changed or kept, and f must not call the board. An
// error that is a checkpoint.DamagedError is gone when View is called again.
func (b *Board) View(ctx context.Context, f func(*State) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.catchUp(nil); err != nil {
		return err
	}
	err := f(b.state)
	var damaged *checkpoint.DamagedError
	if fault := b.state.Err(); fault != nil {
		b.distrust(fault)
		return errors.Join(fmt.Errorf("read the board: %w", fault), err)
	} else if errors.As(err, &damaged) {
		b.distrust(err)
	}
	return err
}
