package blackboard

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"orch/blackboard/journal"
	"orch/blackboard/message"
)

// The head of each log is noted in the user's state directory, where nobody
// reaches who can only write below the project. There is one note for each place
// that a project was used in, so that copies of a project do not disturb each
// other, and one for each board, which a project that is used in a new place is
// held against.
const headsDir = "heads"

// noteAt is the note about the project in root; empty without a state directory.
func noteAt(root string, o Options) string {
	if o.StateDir == "" {
		return ""
	}
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	sum := sha256.Sum256([]byte(root))
	return filepath.Join(o.StateDir, headsDir, "at-"+hex.EncodeToString(sum[:])[:32])
}

// noteOf is the note about a board, wherever it was used last; empty without one.
func noteOf(board string, o Options) string {
	if o.StateDir == "" || board == "" {
		return ""
	}
	return filepath.Join(o.StateDir, headsDir, filepath.Base(board))
}

// useHeadNote compares the log with what the user's state directory remembers
// of it. Where there can be no such directory there is no note.
func (b *Board) useHeadNote() error {
	at := noteAt(b.root, b.opts)
	if at == "" || b.id == "" || !b.makeHeads() {
		return nil
	}
	return b.log.UseHeadNote(at, b.id, noteOf(b.id, b.opts))
}

func (b *Board) makeHeads() bool {
	return b.opts.StateDir != "" && b.opts.FS.MkdirAll(filepath.Join(b.opts.StateDir, headsDir), 0o700) == nil
}

// NoteHead notes in the user's state directory how far the log is. A process that
// lives long calls it now and then; it costs no sync, and nothing if there is
// nothing new.
func (b *Board) NoteHead() error { return b.log.NoteHead() }

// noteBegin notes a board that was just made. That it can not is no error: a
// note is a witness.
func (b *Board) noteBegin(id string) {
	if !b.makeHeads() {
		return
	}
	log, err := journal.Open(b.dir, b.journalOptions())
	if err != nil {
		return
	}
	defer log.Close()
	if head, err := log.Head(); err == nil {
		for _, path := range []string{noteAt(b.root, b.opts), noteOf(id, b.opts)} {
			_ = journal.Note(path, id, head, b.journalOptions())
		}
	}
}

// Known lists every head that the log of the project in root is remembered to
// have had, inside the board's directory and outside.
func Known(root string, o Options) []journal.Known {
	b := newBoard(root, o)
	var notes []string
	if at := noteAt(root, b.opts); at != "" {
		notes = append(notes, at)
	}
	known := journal.KnownHeads(b.dir, b.journalOptions(), notes...)
	if len(known) > 0 && known[len(known)-1].Outside {
		return known
	}
	return append(known, journal.KnownHeads(filepath.Join(b.dir, "-"), b.journalOptions(), noteOf(b.idOfLog(), b.opts))...)
}

// idOfLog reads which board a log says it is; empty if it can not be told.
func (b *Board) idOfLog() string {
	log, err := journal.Open(b.dir, b.journalOptions())
	if err != nil {
		return ""
	}
	defer log.Close()
	for r, err := range log.Read(1) {
		if err != nil {
			return ""
		}
		body, err := message.Decode(message.Type(r.Type), r.Payload)
		if genesis, ok := body.(message.Genesis); ok && err == nil {
			return genesis.Board
		}
		return ""
	}
	return ""
}

// blameLog looks, when a log can not be folded, whether it is the one that is
// remembered at all: that says more than which message does not fit.
func (b *Board) blameLog(cause error) error {
	var newer *NewerFormatError
	if errors.As(cause, &newer) {
		return cause
	}
	log, err := journal.Open(b.dir, b.journalOptions())
	if err != nil {
		return cause
	}
	defer log.Close()
	var fold *FoldError
	if !errors.As(cause, &fold) {
		return cause
	}
	_, err = log.Verify(context.Background(), journal.Head{}, Known(b.root, b.opts)...)
	var back *journal.WentBackwardsError
	if errors.As(err, &back) {
		return err
	}
	return cause
}

// refuseLost keeps Init from beginning anew where a log was lost: the board's
// directory is there, and the machine remembers a log in it.
func (b *Board) refuseLost() error {
	if _, err := b.opts.FS.Stat(filepath.Join(b.dir, RunDir)); err != nil {
		return nil
	}
	if _, err := b.opts.FS.Stat(filepath.Join(b.dir, "log.jsonl")); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return lostLog(b.root, b.opts)
}

// lostLog is an error if a log is remembered at the place of the project.
func lostLog(root string, o Options) error {
	at := noteAt(root, o)
	if at == "" {
		return nil
	}
	for _, k := range journal.KnownHeads(filepath.Join(root, DirName), journal.Options{FS: o.FS}, at) {
		if k.Outside {
			return &journal.WentBackwardsError{Source: k.Source, Noted: k.Head}
		}
	}
	return nil
}

// Lost tells of a project whose board is gone although the machine remembers it.
func Lost(root string, o Options) error { return lostLog(root, o.withDefaults()) }

// moveNonFiles moves what has the name of one of the board's files or directories
// and is none out of the way, and says which: a fifo as orch.lock stops everybody.
func moveNonFiles(root string, o Options) (moved []string, err error) {
	b := newBoard(root, o)
	var folder string
	for _, name := range []string{ArchiveDir, RunDir, CacheDir, AuditDir, GoalsDir, MemoryDir, "orch.lock", "log.next", "config.yaml", "values.md",
		"state.yaml", "state.yaml.new", "state.yaml.swap", "memory.yaml", filepath.Join(RunDir, "head"), filepath.Join(RunDir, "poisoned"),
		filepath.Join(AuditDir, "audit.jsonl"), filepath.Join(AuditDir, RunDir, "offset"), filepath.Join(AuditDir, RunDir, "head")} {
		path := b.path(name)
		info, err := os.Lstat(path)
		if err != nil {
			continue // nothing there that could be in the way
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			if info, err = os.Stat(path); errors.Is(err, fs.ErrNotExist) {
				continue
			}
		}
		dir := name == ArchiveDir || name == RunDir || name == CacheDir || name == AuditDir || name == GoalsDir || name == MemoryDir
		if err == nil && (dir && info.IsDir() || !dir && info.Mode().IsRegular()) {
			continue
		}
		if folder == "" {
			folder = b.path("moved-" + b.opts.Clock.Now().UTC().Format("20060102T150405.000000000Z"))
			if err := b.opts.FS.MkdirAll(folder, dirPerm); err != nil {
				return moved, fmt.Errorf("move %s out of the way: %w", path, err)
			}
		}
		if err := b.opts.FS.Rename(path, filepath.Join(folder, filepath.Base(name))); err != nil {
			return moved, fmt.Errorf("move %s out of the way: %w", path, err)
		}
		moved = append(moved, name)
	}
	return moved, nil
}
