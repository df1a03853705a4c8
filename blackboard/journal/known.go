package journal

import (
	"errors"
	"path/filepath"
)

// Known is a head that is remembered somewhere. A log that does not have it is
// not the one it was.
type Known struct {
	Head
	Source  string // the file that remembers it
	Board   string // which board it is about; empty if that is not said
	Outside bool   // where nobody reaches who replaces the board's directory
}

// KnownHeads lists the heads that run/head and the notes at the given paths
// remember. What can not be read says nothing.
func KnownHeads(dir string, opts Options, notes ...string) []Known {
	j := newJournal(dir, opts)
	defer j.appending.close()
	var known []Known
	for _, slot := range j.readSlots() {
		if _, head, ok := decodeNote(slot); ok {
			known = append(known, Known{Head: head, Source: j.headPath})
		}
	}
	for _, path := range notes {
		if board, head, ok := j.decodeNoteFile(path); ok {
			known = append(known, Known{Head: head, Source: path, Board: board, Outside: true})
		}
	}
	return known
}

// held are known heads by their seq, to be held against the log as it is read.
type held struct {
	known map[uint64][]Known
	last  Known
}

func hold(known []Known) held {
	h := held{known: map[uint64][]Known{}}
	for _, k := range known {
		h.known[k.Seq] = append(h.known[k.Seq], k)
		if k.Seq > h.last.Seq {
			h.last = k
		}
	}
	return h
}

// against finds a known head that the log has another record for.
func (h held) against(r Record) error {
	for _, k := range h.known[r.Seq] {
		if k.Hash != r.Hash {
			return &WentBackwardsError{Source: k.Source, Noted: k.Head, Found: r.Head()}
		}
	}
	return nil
}

// behind finds a known head that the log has ended before.
func (h held) behind(last Head) error {
	if h.last.Seq > last.Seq {
		return &WentBackwardsError{Source: h.last.Source, Noted: h.last.Head, Found: last}
	}
	return nil
}

// Note replaces the note at path, whatever it said, by a head that a person has
// chosen.
func Note(path, board string, head Head, opts Options) error {
	j := newJournal("", opts)
	return errors.Join(j.putNote(path, board, head), j.fsys.SyncDir(filepath.Dir(path)))
}
