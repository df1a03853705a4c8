package blackboard

import (
	"context"
	"errors"
	"fmt"
	"time"

	"orch/blackboard/checkpoint"
	"orch/blackboard/journal"
	"orch/blackboard/message"
)

// StateAt returns the board as it was after message seq. The state is the
// caller's own; it holds a checkpoint file open until it is collected.
func (b *Board) StateAt(ctx context.Context, seq uint64) (*State, error) {
	for path := range b.checkpoints() {
		file, err := b.openCheckpoint(path)
		if err != nil {
			continue // damaged or gone: the log has everything in it
		}
		if file.Header().Seq <= seq {
			s, _, err := b.foldOverTo(file, seq)
			if err == nil {
				return s, reached(s, seq)
			}
			if !blamesCheckpoint(err) {
				_ = file.Close()
				return nil, err
			}
		}
		_ = file.Close() // it was only read
	}
	s := NewState()
	if seq == 0 {
		return s, nil
	}
	if err := b.replayTo(ctx, s, seq, nil); err != nil {
		return nil, err
	}
	return s, reached(s, seq)
}

func reached(s *State, seq uint64) error {
	if have, _ := s.Head(); have < seq {
		return fmt.Errorf("look back to message %d: the log ends at %d", seq, have)
	}
	return nil
}

// replayTo folds the log from its first message into the empty state s, up to
// message last, and calls each, if there is one, after every message.
func (b *Board) replayTo(ctx context.Context, s *State, last uint64, each func(journal.Record, message.Message) error) error {
	for r, err := range b.log.Read(0) {
		if err != nil {
			return err
		}
		if seq, _ := s.Head(); seq == 0 && r.Seq != 1 {
			return &HistoryError{Seq: r.Seq - 1}
		}
		if r.Seq%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		m, err := fold(s, r)
		if err != nil {
			return err
		}
		if each != nil {
			if err := each(r, m); err != nil {
				return err
			}
		}
		if r.Seq >= last {
			break
		}
	}
	return nil
}

// Difference is a record that a state or checkpoint has otherwise than the log.
type Difference struct {
	Where     string // "state", or the name of a checkpoint
	Kind, Key string
}

// maxDifferences bounds a report: after that many nobody reads on.
const maxDifferences = 100

// ReplayReport says what folding the whole log anew led to.
type ReplayReport struct {
	Messages    uint64
	Head        journal.Head
	Records     int // in the state
	Checkpoints int // compared with the log
	Took        time.Duration
	Differences []Difference // empty: all agree
}

// Replay folds the whole log anew and compares the result with the state in use
// and with every checkpoint on the way. It needs the whole history.
func (b *Board) Replay(ctx context.Context) (ReplayReport, error) {
	var report ReplayReport
	var live *State
	err := b.View(ctx, func(s *State) error {
		live = s.snapshot()
		return nil
	})
	if err != nil {
		return report, err
	}
	last, _ := live.Head()
	files := b.filesUpTo(last)
	defer func() {
		for _, list := range files {
			for _, f := range list {
				_ = f.file.Close() // it was only read
			}
		}
	}()
	started := b.opts.Clock.Now()
	replayed := NewState()
	err = b.replayTo(ctx, replayed, last, func(r journal.Record, _ message.Message) error {
		report.Messages, report.Head = report.Messages+1, r.Head()
		for _, f := range files[r.Seq] {
			if f.file.Header().Head != r.Hash {
				continue // of another log: it is never used
			}
			report.Checkpoints++
			s := openState(fileBase{f.file}, r.Seq, r.Hash)
			if err := compare(f.name, replayed, s, &report); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return report, err
	}
	report.Took = b.opts.Clock.Now().Sub(started)
	return report, compare("state", replayed, live, &report)
}

type namedFile struct {
	name string
	file *checkpoint.File
}

// filesUpTo opens the usable checkpoints by the seq they stand for.
func (b *Board) filesUpTo(last uint64) map[uint64][]namedFile {
	files := map[uint64][]namedFile{}
	for path := range b.checkpoints() {
		file, err := b.openCheckpoint(path)
		if err != nil {
			continue // damaged: it is never used
		}
		if h := file.Header(); h.Seq > last || h.Fold != foldVersion || h.Board != b.id {
			_ = file.Close() // it was only read
			continue
		}
		files[file.Header().Seq] = append(files[file.Header().Seq], namedFile{path, file})
	}
	return files
}

// compare notes the records that differ between what the log says and another
// state.
func compare(where string, want, have *State, report *ReplayReport) error {
	differ := func(kind, key string) {
		if len(report.Differences) < maxDifferences {
			report.Differences = append(report.Differences, Difference{where, kind, key})
		}
	}
	report.Records = 0
	other := map[string]string{}
	for r, err := range have.records() {
		if err != nil {
			return err
		}
		other[r.kind+"\x00"+r.key] = string(r.value)
	}
	for r, err := range want.records() {
		if err != nil {
			return err
		}
		report.Records++
		name := r.kind + "\x00" + r.key
		if value, ok := other[name]; !ok || value != string(r.value) {
			differ(r.kind, r.key)
		}
		delete(other, name)
	}
	for name := range other {
		differ("record", name)
	}
	var entries []entry
	for e := range want.entries() {
		entries = append(entries, e)
	}
	n := 0
	for e := range have.entries() {
		if n >= len(entries) || entries[n] != e {
			differ("index "+e.index, e.key)
			break
		}
		n++
	}
	if n < len(entries) {
		differ("index "+entries[n].index, entries[n].key)
	}
	return errors.Join(want.Err(), have.Err())
}
