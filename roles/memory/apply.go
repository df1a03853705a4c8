package memory

import (
	"context"
	"fmt"
	"iter"

	"github.com/syndtr/goleveldb/leveldb"

	"orch/blackboard/message"
)

const (
	batchBytes  = 1 << 20 // of changes written at once
	lazyHead    = 1000    // messages about other things after which the place is noted
	catchUpStep = 512     // messages given to Apply at once by CatchUp
)

// Apply indexes messages as they were read from the log, in its order. What was
// indexed before is passed over, and must be the same message: otherwise the
// store is of another log, which is a *CorruptError. Messages left out are a
// *GapError. What is indexed is written together with the place of its
// message, so that a crash leaves a store of an earlier place, and whole.
func (s *Store) Apply(ctx context.Context, ms []message.Message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := &writer{s: s, batch: new(leveldb.Batch), fresh: map[string]bool{}}
	for _, m := range ms {
		if err := ctx.Err(); err != nil {
			return w.end(err)
		}
		known, err := s.follows(m)
		if err != nil {
			return w.end(err)
		}
		if known {
			continue
		}
		if err := w.take(m); err != nil {
			return w.fail(err)
		}
	}
	if err := w.end(nil); err != nil {
		return err
	}
	if s.at.Seq-s.persisted.Seq >= lazyHead {
		return s.persist()
	}
	return nil
}

// CatchUp applies what the log says beyond At. read yields the messages from a
// seq on, as blackboard.Board.Messages does. A log that ends before At, or says
// something else there, makes it a *CorruptError.
func (s *Store) CatchUp(ctx context.Context, read func(from uint64) iter.Seq2[message.Message, error]) error {
	at := s.At()
	seen := at.Seq == 0
	var step []message.Message
	for m, err := range read(at.Seq) {
		if err != nil {
			return fmt.Errorf("read the log: %w", err)
		}
		seen = true
		if step = append(step, m); len(step) == catchUpStep {
			if err := s.Apply(ctx, step); err != nil {
				return err
			}
			step = step[:0]
		}
	}
	if !seen {
		return s.wrong("it has seen message %d, which is not in the log", at.Seq)
	}
	return s.Apply(ctx, step)
}

// follows tells whether a message is known, and refuses one that cannot come
// next. s.mu must be held.
func (s *Store) follows(m message.Message) (known bool, err error) {
	switch {
	case m.Seq < s.at.Seq:
		return true, nil
	case m.Seq == s.at.Seq:
		if m.Hash != "" && s.at.Hash != "" && m.Hash != s.at.Hash {
			return false, s.wrong("message %d is another one in the log", m.Seq)
		}
		return true, nil
	case s.at.Seq > 0 && m.Seq != s.at.Seq+1:
		return false, &GapError{At: s.at.Seq, Got: m.Seq}
	}
	return false, nil
}

// writer collects changes, and writes them with the place they belong to.
type writer struct {
	s     *Store
	batch *leveldb.Batch
	fresh map[string]bool // ids that are in the batch only
}

// take indexes one message and moves on past it.
func (w *writer) take(m message.Message) error {
	var err error
	switch b := m.Body.(type) {
	case message.Megram:
		err = w.megram(m, b)
	case message.MemoryFact:
		err = w.add(factMegram(m, b), m.Seq)
	case message.NegativeFeedback:
		err = w.feedback(m, b)
	case message.MemoryAnswer:
		err = w.recalled(m, b.Recalled)
	case message.MemoryForget:
		err = w.removeAll(b.IDs)
	case message.DreamReport:
		err = w.dreamt(b)
	}
	if err != nil {
		return err
	}
	w.s.at = Head{Seq: m.Seq, Hash: m.Hash}
	if len(w.batch.Dump()) >= batchBytes {
		return w.flush()
	}
	return nil
}

// flush writes the batch, so that what follows can read it. s.at is the place
// of the last message in it.
func (w *writer) flush() error {
	if w.batch.Len() == 0 {
		return nil
	}
	w.batch.Put([]byte(atKey), w.s.at.encode())
	w.s.o.hook("flush")
	if err := w.s.db.Write(w.batch, nil); err != nil {
		return err
	}
	w.s.persisted = w.s.at
	w.batch.Reset()
	clear(w.fresh)
	w.s.o.hook("flushed")
	return nil
}

// end writes what is left; because is what ended it.
func (w *writer) end(because error) error {
	if err := w.flush(); err != nil {
		return w.fail(err)
	}
	return because
}

// fail goes back to the last place that is written.
func (w *writer) fail(err error) error {
	w.s.at = w.s.persisted
	return w.s.damage("index the log", err)
}
