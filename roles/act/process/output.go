package process

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"orch/blackboard/crash"
)

// capture keeps head and tail of what is written to it, counts all of it, and
// raises the alarm once when it is too much. Memory is bounded by keep.
type capture struct {
	mu     sync.Mutex
	half   int
	max    int64
	total  int64
	head   []byte
	ring   []byte // last half bytes after head, oldest at next
	next   int
	last   time.Time
	full   io.Writer
	fullN  int64 // bytes that Full may still get
	alarm  chan<- struct{}
	rang   bool
	notify func([]byte)
}

func newCapture(s Spec, alarm chan<- struct{}) *capture {
	return &capture{half: max(s.KeepBytes/2, 1), max: s.MaxOutputBytes, full: s.Full, fullN: s.FullBytes, alarm: alarm, notify: s.OnOutput}
}

// add takes a chunk; false means the limit is passed and it was not kept.
func (c *capture) add(p []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = time.Now()
	if c.total+int64(len(p)) > c.max {
		p = p[:max(c.max-c.total, 0)]
		if !c.rang {
			c.rang = true
			c.alarm <- struct{}{} // has room for one
		}
	}
	c.total += int64(len(p))
	c.keep(p)
	if n := min(int64(len(p)), c.fullN); c.full != nil && n > 0 {
		if _, err := c.full.Write(p[:n]); err != nil {
			n = c.fullN
		}
		c.fullN -= n
	}
	return !c.rang
}

func (c *capture) keep(p []byte) {
	if room := c.half - len(c.head); room > 0 {
		n := min(room, len(p))
		c.head = append(c.head, p[:n]...)
		p = p[n:]
	}
	if len(p) > c.half {
		p = p[len(p)-c.half:]
	}
	if room := c.half - len(c.ring); room > 0 {
		n := min(room, len(p))
		c.ring = append(c.ring, p[:n]...)
		p = p[n:]
	}
	for len(p) > 0 {
		n := copy(c.ring[c.next:], p)
		p = p[n:]
		c.next = (c.next + n) % c.half
	}
}

func (c *capture) flooded() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rang
}

// lastAt is when output was last seen, or began when there was none.
func (c *capture) lastAt(began time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last.IsZero() {
		return began
	}
	return c.last
}

func (c *capture) fill(res *Result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	res.Head = append([]byte(nil), c.head...)
	res.Tail = append(append([]byte(nil), c.ring[c.next:]...), c.ring[:c.next]...)
	res.OutputBytes = c.total
	res.Truncated = c.total > int64(len(res.Head)+len(res.Tail))
}

// restBytes is more than a pipe holds.
const restBytes = 2 << 20

// reader moves one pipe into the capture.
type reader struct {
	r, w *os.File
	out  *capture
	tee  io.Writer
	teeN int64
	done chan struct{}
}

func newReader(out *capture, tee io.Writer, s Spec) (*reader, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	widen(w, s.PipeBytes)
	return &reader{r: r, w: w, out: out, tee: tee, teeN: s.FullBytes, done: make(chan struct{})}, nil
}

// start is called once the command holds the writing end.
func (rd *reader) start() {
	rd.w.Close()
	crash.Go(rd.loop)
}

func (rd *reader) loop() {
	defer close(rd.done)
	buf := make([]byte, 32<<10)
	for {
		n, err := rd.r.Read(buf)
		rd.handOut(buf[:n])
		if errors.Is(err, os.ErrDeadlineExceeded) {
			rd.rest(buf)
		}
		if err != nil {
			return
		}
	}
}

// rest hands out what the pipe holds without waiting for more. That is all the
// dead have written, as no pipe holds more than restBytes.
func (rd *reader) rest(buf []byte) {
	_ = rd.r.SetReadDeadline(time.Time{}) // it was set before
	for left := restBytes; left > 0; {
		n := readNow(rd.r, buf)
		if n <= 0 {
			return
		}
		rd.handOut(buf[:n])
		left -= n
	}
}

func (rd *reader) handOut(p []byte) {
	if len(p) == 0 || !rd.out.add(p) {
		return
	}
	rd.copyTee(p)
	if rd.out.notify != nil {
		rd.out.notify(p)
	}
}

func (rd *reader) copyTee(p []byte) {
	n := min(int64(len(p)), rd.teeN)
	if rd.tee == nil || n <= 0 {
		return
	}
	if _, err := rd.tee.Write(p[:n]); err != nil {
		n = rd.teeN
	}
	rd.teeN -= n
}

// drain waits for the end of the outputs, and tells whether that was given up
// because who takes them needs longer than limit. A pipe that something
// unkillable holds is left after wait, and what it held then is handed out,
// except where pipes know no deadline.
func drain(readers []*reader, wait, limit time.Duration) (cut bool) {
	deadlines, until := true, time.Now().Add(wait)
	for _, rd := range readers {
		if rd.r.SetReadDeadline(until) != nil {
			deadlines, limit = false, wait
		}
	}
	t := time.NewTimer(limit)
	defer t.Stop()
	for _, rd := range readers {
		select {
		case <-rd.done:
		case <-t.C:
			cut = deadlines
			t.Reset(0) // for the others
		}
		rd.r.Close()
	}
	return cut
}

func (rd *reader) close() {
	rd.r.Close()
	rd.w.Close()
}
