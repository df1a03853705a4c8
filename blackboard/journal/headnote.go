package journal

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"
)

// A head note is one line that remembers a durable head:
//
//	{"seq":N,"hash":"…","board":"…","sum":"…"}
//
// seq is padded with spaces to 20 places, so that the notes of one board are of
// one length; sum is the first 16 hex digits of the SHA-256 of what is before
// `,"sum"`. A note that does not fit its sum says nothing: it is never the truth,
// only a witness.
const (
	noteSeqPlaces = 20
	noteSumChars  = 16
	noteMaxBytes  = 4 << 10
	noteSumKey    = `,"sum":"`

	// run/head has that many notes, and the one for seq is at seq modulo that
	// many: so processes that sync at the same time need no lock to note it.
	headSlots = 16
)

func encodeNote(board string, head Head) []byte {
	line := append([]byte(nil), `{"seq":`...)
	line = strconv.AppendUint(line, head.Seq, 10)
	for len(line) < len(`{"seq":`)+noteSeqPlaces {
		line = append(line, ' ')
	}
	line = append(line, `,"hash":"`...)
	line = append(line, head.Hash...)
	line = append(line, `","board":`...)
	line = appendQuoted(line, board)
	sum := noteSum(line)
	line = append(line, noteSumKey...)
	line = append(line, sum...)
	return append(line, "\"}\n"...)
}

func noteSum(covered []byte) string {
	sum := sha256.Sum256(covered)
	return hex.EncodeToString(sum[:])[:noteSumChars]
}

func decodeNote(line []byte) (board string, head Head, ok bool) {
	covered, sum, ok := bytes.Cut(line, []byte(noteSumKey))
	if !ok || string(sum) != noteSum(covered)+"\"}\n" {
		return "", Head{}, false
	}
	var note struct {
		Seq   uint64 `json:"seq"`
		Hash  string `json:"hash"`
		Board string `json:"board"`
	}
	if err := json.Unmarshal(line, &note); err != nil || note.Seq == 0 || !isHash(note.Hash) {
		return "", Head{}, false
	}
	return note.Board, Head{Seq: note.Seq, Hash: note.Hash}, true
}

// readHead reads run/head: the highest head that whoever synced it noted as
// durable, or the zero Head. A note that is just being written does not count.
func (j *Journal) readHead() Head {
	file, err := j.fsys.OpenFile(j.headPath, os.O_RDONLY, 0)
	if err != nil {
		return Head{}
	}
	defer file.Close()
	length := len(encodeNote("", Head{Hash: genesisPrev}))
	buf := make([]byte, headSlots*length)
	n, err := file.ReadAt(buf, 0)
	if err != nil && err != io.EOF {
		return Head{}
	}
	var highest Head
	for at := 0; at+length <= n; at += length {
		slot := buf[at : at+length]
		if seq, ok := noteSeq(slot); !ok || seq <= highest.Seq {
			continue
		}
		if _, head, ok := decodeNote(slot); ok {
			highest = head
		}
	}
	return highest
}

// noteSeq reads just the seq of a note, which is not checked.
func noteSeq(line []byte) (uint64, bool) {
	const key = `{"seq":`
	if len(line) < len(key)+noteSeqPlaces || !bytes.HasPrefix(line, []byte(key)) {
		return 0, false
	}
	seq, _, err := number(string(line[len(key) : len(key)+noteSeqPlaces]))
	return seq, err == nil
}

// writeHead notes a durable head in run/head, in place and without a sync: it
// may be older than the truth, never ahead of it. mu must be held.
func (j *Journal) writeHead(head Head) error {
	if j.marks != nil && head.Seq%headSlots == 0 {
		_ = j.marks.Close() // look now and then whether somebody removed the file
		j.marks = nil
	}
	line := encodeNote("", head)
	at := int64(head.Seq%headSlots) * int64(len(line))
	if j.marks == nil {
		file, err := j.openMarks()
		if err != nil {
			return err
		}
		j.marks = file
		if info, err := file.Stat(); err == nil && info.Size() == 0 {
			line, at = bytes.Repeat(line, headSlots), 0
		}
	}
	_, err := j.marks.WriteAt(line, at)
	return err
}

func (j *Journal) openMarks() (File, error) {
	file, err := j.fsys.OpenFile(j.headPath, os.O_WRONLY|os.O_CREATE, filePerm)
	if errors.Is(err, fs.ErrNotExist) { // somebody cleared run/
		if err := j.makeRunDir(); err != nil {
			return nil, err
		}
		return j.fsys.OpenFile(j.headPath, os.O_WRONLY|os.O_CREATE, filePerm)
	}
	return file, err
}

// AcceptLog makes the log in dir, as it is now, the one that is believed, after
// somebody has chosen to restore it: it forgets what run/head remembers. Head
// notes elsewhere are for the caller to remove.
func AcceptLog(ctx context.Context, dir string, opts Options) error {
	j := newJournal(dir, opts)
	defer j.Close()
	leave, err := j.appending.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	name := j.headPath
	if err := j.fsys.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return storageError("forget the old head", name, err)
	}
	return nil
}

// headNote is a note outside the board's directory, where whoever replaces the
// whole directory does not reach.
type headNote struct{ path, board string }

// UseHeadNote compares the log with the note at path, which is about the named
// board, and from now on writes the head that is durable there when the log is
// rotated and when the journal is closed. A missing or unreadable note is no
// error. The directory of path must exist.
func (j *Journal) UseHeadNote(path, board string) error {
	noted, err := j.readNote(path, board)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, err := j.refresh(); err != nil {
		return err
	}
	if err := j.confirm(j.live, noted, path); err != nil {
		return err
	}
	j.note = &headNote{path: path, board: board}
	return nil
}

func (j *Journal) readNote(path, board string) (Head, error) {
	file, err := j.fsys.OpenFile(path, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return Head{}, nil
	}
	if err != nil {
		return Head{}, storageError("read the head note", path, err)
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, noteMaxBytes))
	if err != nil {
		return Head{}, storageError("read the head note", path, err)
	}
	noted, head, ok := decodeNote(content)
	if ok && noted != board {
		return Head{}, &OtherBoardError{Path: path, Noted: noted, Board: board}
	}
	return head, nil
}

// writeNote writes the note unless it knows more already. mu must be held. Two
// processes may do this at once; the note may then be a little older than it
// could be. It is not synced, since a lost note only says less.
func (j *Journal) writeNote() error {
	if j.note == nil {
		return nil
	}
	head := j.readHead()
	noted, err := j.readNote(j.note.path, j.note.board)
	if err != nil {
		return err
	}
	if head.Seq <= noted.Seq {
		return nil
	}
	temp := j.note.path + ".tmp"
	file, err := j.fsys.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, filePerm)
	if err != nil {
		return storageError("write the head note", temp, err)
	}
	_, err = file.Write(encodeNote(j.note.board, head))
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = j.fsys.Rename(temp, j.note.path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil // another process has put the file in its place meanwhile, as its own
	}
	return storageError("write the head note", j.note.path, err)
}
