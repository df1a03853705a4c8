package journal

import (
	"bytes"
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
func (j *Journal) readHead() (highest Head) {
	for _, slot := range j.readSlots() {
		if seq, ok := noteSeq(slot); !ok || seq <= highest.Seq {
			continue
		}
		if _, head, ok := decodeNote(slot); ok {
			highest = head
		}
	}
	return highest
}

// readSlots reads the notes of run/head, whatever they say.
func (j *Journal) readSlots() (slots [][]byte) {
	file, err := j.fsys.OpenFile(j.headPath, os.O_RDONLY, 0)
	if err != nil {
		return nil
	}
	defer file.Close()
	length := len(encodeNote("", Head{Hash: genesisPrev}))
	buf := make([]byte, headSlots*length)
	n, err := file.ReadAt(buf, 0)
	if err != nil && err != io.EOF {
		return nil
	}
	for at := 0; at+length <= n; at += length {
		slots = append(slots, buf[at:at+length])
	}
	return slots
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

// headNote is a note outside the board's directory, where whoever replaces the
// whole directory does not reach.
type headNote struct {
	path, board string
	written     Head // by this process
}

// UseHeadNote compares the log with the note at path, which is about the named
// board, and from now on writes the head that this process knows durable there:
// when the log is rotated, when the journal is closed, and by NoteHead. Where
// there is no note at path, the first of the others that is there is held
// against the log. A missing or unreadable note is no error. The directory of
// path must exist.
func (j *Journal) UseHeadNote(path, board string, others ...string) error {
	noted, source, err := j.firstNote(board, append([]string{path}, others...))
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, err := j.refresh(); err != nil {
		return err
	}
	if err := j.confirm(j.live, noted, source); err != nil {
		return err
	}
	if source != path || noted.Seq == 0 { // the first time here: believe what there is
		if head := j.readHead(); head.Seq > noted.Seq {
			noted = head // loading held it against the log
		}
		if noted.Seq > j.synced.Seq {
			j.synced = noted
		}
	}
	j.note = &headNote{path: path, board: board}
	return nil
}

// firstNote reads the first of some notes that says something.
func (j *Journal) firstNote(board string, paths []string) (noted Head, source string, err error) {
	for _, path := range paths {
		if noted, err = j.readNote(path, board); err != nil || noted.Seq > 0 {
			return noted, path, err
		}
	}
	return Head{}, paths[0], nil
}

// NoteHead writes the note that UseHeadNote named now, and not only in the end:
// a process that lives long says in between how far the log is.
func (j *Journal) NoteHead() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return nil
	}
	return j.writeNote()
}

func (j *Journal) readNote(path, board string) (Head, error) {
	noted, head, ok := j.decodeNoteFile(path)
	if ok && noted != board {
		return Head{}, &OtherBoardError{Path: path, Noted: noted, Board: board}
	}
	return head, nil
}

// decodeNoteFile reads a note; one that is missing, unreadable or damaged says nothing.
func (j *Journal) decodeNoteFile(path string) (board string, head Head, ok bool) {
	file, err := j.fsys.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return "", Head{}, false
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, noteMaxBytes))
	if err != nil {
		return "", Head{}, false
	}
	return decodeNote(content)
}

// writeNote writes the note unless it knows more already. mu must be held. Two
// processes may do this at once; the note may then be a little older than it
// could be. It is not synced, since a lost note only says less.
func (j *Journal) writeNote() error {
	if j.note == nil {
		return nil
	}
	if j.synced == j.note.written {
		return nil
	}
	noted, err := j.readNote(j.note.path, j.note.board)
	if err != nil {
		return err
	}
	if j.synced.Seq <= noted.Seq {
		return nil
	}
	if err := j.putNote(j.note.path, j.note.board, j.synced); err != nil {
		return err
	}
	j.note.written = j.synced
	return nil
}

// putNote replaces a note.
func (j *Journal) putNote(path, board string, head Head) error {
	temp := path + ".tmp"
	file, err := j.fsys.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, filePerm)
	if err != nil {
		return storageError("write the head note", temp, err)
	}
	_, err = file.Write(encodeNote(board, head))
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = j.fsys.Rename(temp, path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil // another process has put the file in its place meanwhile, as its own
	}
	return storageError("write the head note", path, err)
}
