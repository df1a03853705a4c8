package blackboard

import (
	"errors"
	"fmt"
	"iter"
	"math"

	"orch/blackboard/checkpoint"
	"orch/blackboard/journal"
	"orch/blackboard/message"
)

// errUnfit: a checkpoint that is whole but does not stand for this log.
var errUnfit = errors.New("the checkpoint does not belong to this log")

// catchUp brings the state up to the end of the log: to the end that t sees, if
// the log's lock is held, else to whatever is there. b.mu must be held.
func (b *Board) catchUp(t journal.Tail) error {
	if b.closed {
		return ErrClosed
	}
	if b.state == nil {
		if err := b.load(); err != nil {
			return err
		}
	}
	seq, _ := b.state.Head()
	var records iter.Seq2[journal.Record, error]
	if t != nil {
		records = t.Since(seq)
	} else {
		head, err := b.log.Head()
		if err != nil {
			return err
		}
		if head.Seq <= seq {
			return nil
		}
		records = b.log.Read(seq + 1)
	}
	n, err := foldAll(b.state, records)
	b.tail += n
	if err != nil {
		b.distrust(err)
		return err
	}
	b.notice()
	return nil
}

// load makes the state from the newest checkpoint that belongs to this log, and
// what was said since; without one from the whole log. b.mu must be held.
func (b *Board) load() error {
	for path := range b.checkpoints() {
		file, err := b.openCheckpoint(path)
		if err != nil {
			continue // damaged or gone: the log has everything in it
		}
		s, tail, err := b.foldOver(file)
		if err == nil {
			b.adopt(s, file, tail)
			return nil
		}
		_ = file.Close() // it was only read
		if !blamesCheckpoint(err) {
			return err
		}
	}
	s := NewState()
	tail, err := foldAll(s, b.log.Read(0))
	var fold *FoldError
	if errors.As(err, &fold) && tail == 0 && fold.Seq != 1 {
		return &HistoryError{Seq: fold.Seq - 1}
	}
	if err != nil {
		return err
	}
	b.adopt(s, nil, tail)
	return nil
}

// blamesCheckpoint says whether folding the log itself may do better. A message
// that does not fit the state may be the fault of either.
func blamesCheckpoint(err error) bool {
	var damaged *checkpoint.DamagedError
	var fold *FoldError
	return errors.Is(err, errUnfit) || errors.As(err, &damaged) || errors.As(err, &fold)
}

func (b *Board) adopt(s *State, file *checkpoint.File, tail int) {
	if b.file != nil {
		_ = b.file.Close() // it was only read
	}
	b.state, b.file, b.tail = s, file, tail
}

// distrust drops the state after an error: what it rests on may be damaged. The
// next use loads it again. b.mu must be held.
func (b *Board) distrust(cause error) {
	var damaged *checkpoint.DamagedError
	if b.file != nil && errors.As(cause, &damaged) && !b.opts.ReadOnly {
		_ = b.opts.FS.Remove(damaged.Path) // a cache; if it stays it is found damaged again
	}
	b.adopt(nil, nil, 0)
}

// foldOver makes the state of a checkpoint and of what followed it. The log
// must have the very message that the checkpoint stands for.
func (b *Board) foldOver(file *checkpoint.File) (s *State, tail int, err error) {
	return b.foldOverTo(file, math.MaxUint64)
}

// foldOverTo is foldOver that stops after message last.
func (b *Board) foldOverTo(file *checkpoint.File, last uint64) (s *State, tail int, err error) {
	h := file.Header()
	if h.Fold != foldVersion || h.Seq == 0 || (b.id != "" && h.Board != b.id) {
		return nil, 0, errUnfit
	}
	s = openState(fileBase{file}, h.Seq, h.Head)
	tail, err = foldAll(s, b.after(h, last))
	return s, tail, err
}

// after yields the records behind the message that a checkpoint stands for, up
// to last, or errUnfit if the log has another one in its place. The message
// itself may be gone; then the chain names it.
func (b *Board) after(h checkpoint.Header, last uint64) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		fits := false
		// The message behind it names it, and is all that has to be read of it: it
		// may be one that made thousands of tasks.
		for _, from := range []uint64{h.Seq + 1, h.Seq} {
			for r, err := range b.log.Read(from) {
				var missing *journal.MissingError
				if errors.As(err, &missing) && !fits {
					break
				}
				if err != nil {
					yield(r, err)
					return
				}
				fits = fits || r.Seq == h.Seq && r.Hash == h.Head || r.Seq == h.Seq+1 && r.Prev == h.Head
				if !fits {
					break
				}
				if r.Seq == h.Seq {
					continue
				}
				if r.Seq > last || !yield(r, nil) {
					return
				}
			}
			if fits {
				return
			}
		}
		yield(journal.Record{}, errUnfit)
	}
}

// foldAll applies records to s until an error, and counts them.
func foldAll(s *State, records iter.Seq2[journal.Record, error]) (n int, err error) {
	for r, err := range records {
		if err != nil {
			return n, err
		}
		if _, err := fold(s, r); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// fold applies the next record of the log to s.
func fold(s *State, r journal.Record) (message.Message, error) {
	if seq, _ := s.Head(); r.Seq != seq+1 {
		return message.Message{}, &FoldError{Seq: r.Seq, Type: message.Type(r.Type), Err: fmt.Errorf("it does not follow message %d", seq)}
	}
	m, err := decodeRecord(r)
	if err != nil {
		return m, err
	}
	return m, take(s, m)
}

// take applies the message of a record to s.
func take(s *State, m message.Message) error {
	err := Apply(s, m)
	if fault := s.Err(); fault != nil {
		return fmt.Errorf("read the board: %w", fault)
	}
	if err != nil {
		return &FoldError{Seq: m.Seq, Type: m.Type(), Err: err}
	}
	s.SetHead(m.Hash)
	return nil
}
