package journal

import (
	"bytes"
	"errors"
	"io"
)

// scanBytes is when a search stops halving: what is left is read in one go.
const scanBytes = 8 << 10

// locate finds, by halving, the start of a line whose Seq is at most want, close
// before it; 0 if the first line is the best there is. Seq grows along the file,
// so it does not have to read what lies before. The line it returns is good in
// itself; the reader checks the rest.
func locate(file io.ReaderAt, size int64, want uint64) (int64, error) {
	low, high := int64(0), size
	buf := make([]byte, scanBytes)
	for high-low > scanBytes {
		middle := low + (high-low)/2
		start, seq, err := lineAfter(file, middle, high, buf)
		switch {
		case errors.Is(err, io.EOF):
			high = middle
		case err != nil:
			return 0, err
		case seq <= want:
			low = start
		default:
			high = middle
		}
	}
	if low == 0 {
		return 0, nil
	}
	if startsAt(file, low, want) {
		return low, nil
	}
	return 0, nil // something in the way is bad: read it all
}

// startsAt says whether a line that is good in itself begins at offset, and is
// not behind want.
func startsAt(file io.ReaderAt, offset int64, want uint64) bool {
	line, _, err := newLineReader(file, offset).next()
	if err != nil {
		return false
	}
	r, err := Decode(line)
	return err == nil && r.Seq <= want
}

// lineAfter finds the first line that starts in (from, to) and claims a Seq.
func lineAfter(file io.ReaderAt, from, to int64, buf []byte) (start int64, seq uint64, err error) {
	for at := from; at < to; {
		n, err := file.ReadAt(buf, at)
		if err != nil && err != io.EOF {
			return 0, 0, err
		}
		data := buf[:n]
		i := bytes.IndexByte(data, '\n')
		if i < 0 {
			if n < len(buf) {
				return 0, 0, io.EOF
			}
			at += int64(n)
			continue
		}
		start = at + int64(i) + 1
		if start >= to {
			return 0, 0, io.EOF
		}
		rest := data[i+1:]
		if len(rest) < 64 { // too little to hold the number
			n, err := file.ReadAt(buf[:64], start)
			if err != nil && err != io.EOF {
				return 0, 0, err
			}
			rest = buf[:n]
		}
		if seq, ok := seqOf(rest); ok {
			return start, seq, nil
		}
		at = start
	}
	return 0, 0, io.EOF
}
