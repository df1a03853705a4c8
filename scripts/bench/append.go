package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"orch/blackboard"
	"orch/blackboard/journal"
	"orch/blackboard/message"
)

// note is a message of usual length that changes nothing, so that what is
// measured is the log and not the board.
func note() message.Message {
	return message.Message{From: message.Human, To: message.All, Subject: "all",
		Body: message.HumanNote{For: "all", Message: strings.Repeat("a person's words ", 8)}}
}

// draft is the same as the journal alone is given it.
func draft() (journal.Draft, error) {
	m := note()
	payload, err := message.Encode(m.Body)
	return journal.Draft{From: string(m.From), To: string(m.To), Type: string(m.Type()), Subject: m.Subject, Agent: "human-1", Payload: payload}, err
}

// measureAppend compares appends with a bare write and fsync of the same bytes:
// blocks of either, turn by turn, in one process. Board and journal have a log of
// their own, so that neither reads what the other has written.
func measureAppend(ctx context.Context, b *bench) ([]result, error) {
	board, err := newSolo(ctx, b)
	if err != nil {
		return nil, err
	}
	defer board.close()
	log, err := newSolo(ctx, b)
	if err != nil {
		return nil, err
	}
	defer log.close()
	err = turns(ctx, b.pick(30, 8),
		board.block(func() error { _, err := board.board.Append(ctx, note()); return err }),
		board.floor,
		log.block(func() error {
			d, err := draft()
			if err == nil {
				_, err = log.log.Append(ctx, d, nil)
			}
			return err
		}),
		log.floor)
	if err != nil {
		return nil, err
	}
	row := func(what string, s *solo) result {
		ratio := median(ratios(s.ours, s.bares))
		return result{
			what: what, bar: "≤ 1.5 × bare append + fsync", measured: ms(median(s.ours) / blockAppends),
			floor: ms(median(s.bares)/blockAppends) + ", " + times(ratio), verdict: meets(ratio <= 1.5),
		}
	}
	return []result{row("durable append, board", board), row("durable append, journal alone", log)}, nil
}

// blockAppends is how many appends one turn makes.
const blockAppends = 25

// solo is a log with one writer, and a bare file beside it. What the bare file
// gets are the very lines that the log got in the turn before.
type solo struct {
	board *blackboard.Board
	log   *journal.Journal
	bare  *os.File
	lines *os.File // the log, to read what was written
	at    int64    // where the lines of the last block begin
	last  [][]byte

	ours, bares []time.Duration // what each block took
}

// newSolo opens the log of a new project; what is read later begins at its end.
func newSolo(ctx context.Context, b *bench) (*solo, error) {
	root, err := b.board(ctx)
	if err != nil {
		return nil, err
	}
	board, err := openBoard(root, journal.OSFS{})
	if err != nil {
		return nil, err
	}
	s := &solo{board: board}
	if s.log, err = journal.Open(board.Dir(), journal.Options{}); err != nil {
		return nil, err
	}
	s.bare, err = os.OpenFile(filepath.Join(board.Dir(), "bare"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("make the bare file: %w", err)
	}
	s.lines, err = os.Open(filepath.Join(board.Dir(), "log.jsonl"))
	if err != nil {
		return nil, fmt.Errorf("read the log: %w", err)
	}
	_, err = s.read()
	return s, err
}

func (s *solo) close() {
	_ = s.lines.Close() // it was only read
	_ = s.bare.Close()  // every write to it was synced
	_ = s.log.Close()   // everything was acknowledged
	_ = s.board.Close()
}

// read returns the lines since the last read.
func (s *solo) read() ([][]byte, error) {
	info, err := s.lines.Stat()
	if err != nil {
		return nil, fmt.Errorf("read the log: %w", err)
	}
	data := make([]byte, info.Size()-s.at)
	if _, err := s.lines.ReadAt(data, s.at); err != nil {
		return nil, fmt.Errorf("read the log: %w", err)
	}
	s.at = info.Size()
	var lines [][]byte
	for _, line := range strings.SplitAfter(string(data), "\n") {
		if line != "" {
			lines = append(lines, []byte(line))
		}
	}
	return lines, nil
}

// block times a block of appends.
func (s *solo) block(add func() error) func(bool) error {
	return func(counts bool) error {
		began := time.Now()
		for range blockAppends {
			if err := add(); err != nil {
				return err
			}
		}
		if counts {
			s.ours = append(s.ours, time.Since(began))
		}
		var err error
		s.last, err = s.read()
		return err
	}
}

// floor times the least that a durable append of the last block's lines takes.
func (s *solo) floor(counts bool) error {
	began := time.Now()
	for _, line := range s.last[:blockAppends] {
		if err := bareAppend(s.bare, line); err != nil {
			return err
		}
	}
	if counts {
		s.bares = append(s.bares, time.Since(began))
	}
	return nil
}

func bareAppend(file *os.File, line []byte) error {
	if _, err := file.Write(line); err != nil {
		return fmt.Errorf("append barely: %w", err)
	}
	if err := file.Sync(); err != nil {
		return fmt.Errorf("append barely: %w", err)
	}
	return nil
}

const writers = 16

// measureWriters compares the throughput of processes that append to one log
// with that of processes that write and fsync one file. Board and journal have a
// log of their own: what the journal writes makes no checkpoint, and the board's
// processes would have to read it.
func measureWriters(ctx context.Context, b *bench) ([]result, error) {
	lineBytes, err := lineOfNote(ctx, b)
	if err != nil {
		return nil, err
	}
	boardRoot, err := b.board(ctx)
	if err != nil {
		return nil, err
	}
	logRoot, err := b.board(ctx)
	if err != nil {
		return nil, err
	}
	each := strconv.Itoa(b.pick(150, 25))
	var board, log, bare []time.Duration
	side := func(took *[]time.Duration, args ...string) func(bool) error {
		return func(counts bool) error {
			d, err := b.together(ctx, writers, args...)
			if counts {
				*took = append(*took, d)
			}
			return err
		}
	}
	err = turns(ctx, b.pick(7, 2),
		side(&board, "append", boardRoot, each),
		side(&bare, "append-bare", filepath.Join(boardRoot, blackboard.DirName, "bare"), each, strconv.Itoa(lineBytes)),
		side(&log, "append-journal", logRoot, each))
	if err != nil {
		return nil, err
	}
	count, err := strconv.Atoi(each)
	if err != nil {
		return nil, err
	}
	rate := func(d time.Duration) string {
		return fmt.Sprintf("%.0f/s", float64(writers*count)/d.Seconds())
	}
	row := func(what string, ours []time.Duration) result {
		ratio := median(ratios(bare, ours)) // throughput: less time is more
		return result{what: what, bar: "≥ 0.7 × bare appenders", measured: rate(median(ours)),
			floor: rate(median(bare)) + ", " + times(ratio), verdict: meets(ratio >= 0.7)}
	}
	return []result{row("16 processes append, board", board), row("16 processes append, journal alone", log)}, nil
}

// lineOfNote is how many bytes the line of a note has.
func lineOfNote(ctx context.Context, b *bench) (int, error) {
	s, err := newSolo(ctx, b)
	if err != nil {
		return 0, err
	}
	defer s.close()
	if _, err := s.board.Append(ctx, note()); err != nil {
		return 0, err
	}
	lines, err := s.read()
	if err != nil {
		return 0, err
	}
	return len(lines[0]), nil
}

func childAppend(ctx context.Context, root, times string) error {
	count, err := strconv.Atoi(times)
	if err != nil {
		return err
	}
	b, err := openBoard(root, journal.OSFS{})
	if err != nil {
		return err
	}
	defer b.Close()
	// What the turns before have said is read before the word to begin.
	if err := b.View(ctx, func(s *blackboard.State) error { return s.Err() }); err != nil {
		return err
	}
	if err := awaitStart(); err != nil {
		return err
	}
	for range count {
		if _, err := b.Append(ctx, note()); err != nil {
			return err
		}
	}
	return nil
}

func childJournal(ctx context.Context, root, times string) error {
	count, err := strconv.Atoi(times)
	if err != nil {
		return err
	}
	j, err := journal.Open(filepath.Join(root, blackboard.DirName), journal.Options{})
	if err != nil {
		return err
	}
	defer j.Close()
	if err := awaitStart(); err != nil {
		return err
	}
	for range count {
		d, err := draft()
		if err != nil {
			return err
		}
		if _, err := j.Append(ctx, d, nil); err != nil {
			return err
		}
	}
	return nil
}

func childBare(path, times, length string) error {
	count, err := strconv.Atoi(times)
	if err != nil {
		return err
	}
	lineBytes, err := strconv.Atoi(length)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("make the bare file: %w", err)
	}
	defer file.Close()
	line := []byte(strings.Repeat("x", lineBytes-1) + "\n")
	if err := awaitStart(); err != nil {
		return err
	}
	for range count {
		if err := bareAppend(file, line); err != nil {
			return err
		}
	}
	return nil
}
