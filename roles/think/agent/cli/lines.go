package cli

import (
	"bytes"
	"fmt"
)

// Lines is a writer that hands on whole lines. A line longer than MaxBytes is
// dropped as it comes, so that memory stays bounded; Dropped counts those.
type Lines struct {
	MaxBytes int
	Each     func([]byte) // must not keep the line
	Dropped  int

	part     []byte
	skipping bool
}

// TooLong says why there is no result after lines were dropped.
func TooLong(dropped int) string {
	return fmt.Sprintf("%d lines of its output were longer than %d bytes, and no answer came", dropped, MaxLineBytes)
}

// Write never fails.
func (l *Lines) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			l.keep(p)
			break
		}
		l.keep(p[:i])
		l.end()
		p = p[i+1:]
	}
	return n, nil
}

// Close hands on a last line that has no end.
func (l *Lines) Close() error {
	if len(l.part) > 0 || l.skipping {
		l.end()
	}
	return nil
}

func (l *Lines) keep(p []byte) {
	if l.skipping {
		return
	}
	if len(l.part)+len(p) > l.MaxBytes {
		l.skipping, l.part = true, nil
		return
	}
	l.part = append(l.part, p...)
}

func (l *Lines) end() {
	if l.skipping {
		l.Dropped++
	} else {
		l.Each(bytes.TrimSuffix(l.part, []byte("\r")))
	}
	l.part, l.skipping = l.part[:0], false
}
