package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"
)

// flaw is the first place where a live file stops being a chain of whole lines.
// By itself that is no damage: a line may be on its way, or a crash may have cut
// off what nobody was promised. judge tells.
type flaw struct {
	offset int64
	seq    uint64 // of the record that should be there
	cut    bool   // the file ends within the line
	why    string
}

// refresh brings head and end up to date with the file, at the price of what was
// added. mu must be held. It reads without the lock, so a returned flaw only
// means something to a caller who holds it.
func (j *Journal) refresh() (*flaw, error) {
	if j.closed {
		return nil, ErrClosed
	}
	if j.live == nil {
		return j.load()
	}
	info, err := j.fsys.Stat(j.livePath)
	if err != nil {
		return nil, j.missingLog(err)
	}
	switch {
	case !j.fsys.SameFile(info, j.live.info):
		return j.load()
	case info.Size() < j.end:
		return nil, &WentBackwardsError{Source: "this process", Noted: j.head}
	case info.Size() == j.end:
		return nil, nil
	}
	bad, err := j.onwards(j.live.file, j.end)
	if err != nil || bad == nil {
		return nil, err
	}
	return j.settle(j.live.file, bad, j.readHead)
}

// onwards takes in the lines from an offset on that continue the head.
func (j *Journal) onwards(file File, from int64) (*flaw, error) {
	lines := &lineReader{file: file, off: from, buf: j.scratch}
	bad, err := j.walk(lines, j.head, func(f frame, ts time.Time, start int64) {
		j.advance(f.head(), ts, start, lines.off)
	})
	j.scratch = lines.buf
	return bad, err
}

// settle judges a flaw. What attests that the bad line was durable may have been
// written after it was read, by a writer who was at that very line; so only a
// line that is still bad then is damage.
func (j *Journal) settle(file File, bad *flaw, noted func() Head) (*flaw, error) {
	for {
		damage := j.judge(file, bad, noted())
		if damage == nil {
			return bad, nil
		}
		again, err := j.onwards(file, bad.offset)
		if err != nil || again == nil {
			return nil, err
		}
		if again.offset == bad.offset {
			return nil, damage
		}
		bad = again
	}
}

func (j *Journal) advance(head Head, ts time.Time, start, end int64) {
	j.recent.add(head.Seq, start)
	j.head, j.lastTS, j.end = head, ts, end
}

// load looks at a live file for the first time: at its first line, and at its
// end back to a line that is known durable. What lies between is Verify's.
func (j *Journal) load() (*flaw, error) {
	noted := j.readHead() // first: the log is always ahead of it
	seg, err := j.openLive()
	if err != nil {
		return nil, err
	}
	before := *j.copyState()
	bad, err := j.loadFrom(seg, noted)
	if err == nil && bad != nil {
		bad, err = j.settle(seg.file, bad, func() Head { return noted })
	}
	if err == nil {
		err = j.confirm(seg, noted, j.headPath)
	}
	if err == nil && before.live != nil {
		err = j.confirm(seg, before.head, "this process")
	}
	if err != nil {
		j.restoreState(before)
		seg.release()
		return nil, err
	}
	if before.live != nil {
		before.live.release()
	}
	seg.named = noted.Seq >= seg.first.Seq // only who synced the name notes a head
	j.live = seg
	j.poison = ""
	return bad, nil
}

// position is the part of a Journal that load may have to put back.
type position struct {
	live *segment
	end  int64
	head Head
}

func (j *Journal) copyState() *position { return &position{live: j.live, end: j.end, head: j.head} }

func (j *Journal) restoreState(p position) {
	j.live, j.end, j.head = p.live, p.end, p.head
	j.recent = starts{}
}

// loadFrom sets head and end from the end of seg.
func (j *Journal) loadFrom(seg *segment, noted Head) (*flaw, error) {
	at, err := anchor(seg.file, seg.info.Size(), noted.Seq)
	if err != nil {
		return nil, storageError("read the log", j.livePath, err)
	}
	j.recent = starts{}
	j.head = Head{}
	lines := newLineReader(seg.file, at)
	return j.walk(lines, Head{}, func(f frame, ts time.Time, start int64) {
		j.advance(f.head(), ts, start, lines.off)
		j.durable = max(j.durable, f.synced)
	})
}

// walk goes through the lines as long as they form a chain that continues last;
// a zero last lets it begin anywhere.
func (j *Journal) walk(lines *lineReader, last Head, visit func(f frame, ts time.Time, start int64)) (*flaw, error) {
	for {
		line, start, err := lines.next()
		if err == io.EOF {
			return nil, nil
		}
		if errors.Is(err, errCut) || errors.Is(err, errLong) {
			return &flaw{offset: start, seq: last.Seq + 1, cut: err == errCut, why: err.Error()}, nil
		}
		if err != nil {
			return nil, storageError("read the log", j.livePath, err)
		}
		f, err := parseFrame(line)
		if err == nil && last.Seq > 0 {
			err = follows(last, f.seq, f.prev)
		}
		var ts time.Time
		if err == nil {
			ts, err = parseTime(string(f.ts))
		}
		if err != nil {
			return &flaw{offset: start, seq: last.Seq + 1, why: err.Error()}, nil
		}
		visit(f, ts, start)
		last = f.head()
	}
}

func (f frame) head() Head { return Head{Seq: f.seq, Hash: string(f.hash)} }

// follows says whether a record is the one after last.
func follows[T string | []byte](last Head, seq uint64, prev T) error {
	if seq != last.Seq+1 {
		return fmt.Errorf("message %d follows message %d", seq, last.Seq)
	}
	if string(prev) != last.Hash {
		return fmt.Errorf("message %d does not continue the chain", seq)
	}
	return nil
}

// judge says whether a flaw in the live file is damage: it is, if what is bad was
// durable once, as run/head or a later line attests.
func (j *Journal) judge(file File, bad *flaw, noted Head) error {
	why := bad.why
	switch {
	case bad.offset == 0:
	case noted.Seq >= bad.seq && bad.cut:
		return &WentBackwardsError{Source: j.headPath, Noted: noted, Found: Head{Seq: bad.seq - 1}}
	case noted.Seq >= bad.seq:
		why += ", though run/head says it was durable"
	default:
		claimed, err := laterClaim(file, bad.offset, bad.seq)
		if err != nil {
			return storageError("read the log", j.livePath, err)
		}
		if !claimed {
			return nil
		}
		why += ", though a later line says it was durable"
	}
	return &CorruptError{Path: j.livePath, Line: lineNumber(file, bad.offset), Offset: bad.offset, Why: why}
}

// confirm checks that the log just loaded holds the record that is remembered.
// It costs a search only if that is neither the last record nor just before the
// first of the live file.
func (j *Journal) confirm(seg *segment, noted Head, source string) error {
	found := j.head
	switch {
	case noted.Seq == 0 || noted == found:
		return nil
	case noted.Seq+1 == seg.first.Seq:
		found = Head{Seq: noted.Seq, Hash: seg.prev}
	case noted.Seq < found.Seq:
		c := &cursor{j: j, from: noted.Seq}
		defer c.close()
		r, ok, err := c.next()
		var missing *MissingError
		if errors.As(err, &missing) {
			return nil // not kept any more: the chain is all there is
		}
		if err != nil {
			return err
		}
		if ok {
			found = r.Head()
		}
	}
	if found != noted {
		return &WentBackwardsError{Source: source, Noted: noted, Found: found}
	}
	return nil
}

const anchorWindowBytes = 32 << 10

// anchor finds where to start checking the end of a log: the start of a line that
// is good in itself, with none before it in sight that is not, and followed by
// every line not known durable.
func anchor(file io.ReaderAt, size int64, noted uint64) (int64, error) {
	for window := int64(anchorWindowBytes); window < size; window *= 4 {
		data := make([]byte, window)
		if n, err := file.ReadAt(data, size-window); err != nil && !(err == io.EOF && n > 0) {
			return 0, err
		} else {
			data = data[:n]
		}
		if at, ok := anchorIn(data, noted); ok {
			return size - window + at, nil
		}
	}
	return 0, nil
}

func anchorIn(data []byte, noted uint64) (int64, bool) {
	skip := bytes.IndexByte(data, '\n') + 1 // the window may begin within a line
	if skip == 0 {
		return 0, false
	}
	durable := noted
	var first uint64
	for at := skip; ; {
		length := bytes.IndexByte(data[at:], '\n')
		if length < 0 {
			break
		}
		f, err := parseFrame(data[at : at+length])
		switch {
		case err == nil && first == 0:
			first = f.seq
			durable = max(durable, f.synced)
		case err == nil:
			durable = max(durable, f.synced)
		case first == 0:
			return 0, false // look further back, to know which message this was
		}
		at += length + 1
	}
	return int64(skip), first > 0 && first <= durable
}
