package journal

import (
	"context"
	"fmt"
)

// Report is what Verify found in order.
type Report struct {
	Messages   uint64 // how many were checked
	First      uint64 // Seq of the first of them
	Head       Head   // the last of them
	Segments   int    // files they were in
	Unfinished string // what follows the last message, if anything: a line on its way, or a torn tail
}

// Verify reads every record after from, or all that are kept for the zero Head,
// and checks each line's hash, that Seq has no gaps, and that each names the hash
// of the one before. The first error ends it; it names file, line and offset. It
// also compares with run/head, and with heads that are known from elsewhere.
func (j *Journal) Verify(ctx context.Context, from Head, known ...Known) (Report, error) {
	var report Report
	if noted := j.readHead(); noted.Seq > 0 {
		known = append(known, Known{Head: noted, Source: j.headPath})
	}
	heads := hold(known)
	c := &cursor{j: j, from: from.Seq}
	defer c.close()
	for opened := c.opened; ; report.Messages++ {
		if report.Messages%1024 == 0 && ctx.Err() != nil {
			return report, ctx.Err()
		}
		r, ok, err := c.next()
		if err != nil {
			return report, err
		}
		if !ok {
			break
		}
		if c.opened != opened {
			opened = c.opened
			report.Segments++
		}
		if report.Messages == 0 {
			report.First = r.Seq
			if from.Seq > 0 && r.Head() != from {
				return report, &WentBackwardsError{Source: "the caller", Noted: from, Found: r.Head()}
			}
		}
		if r.Seq == 1 && r.Prev != genesisPrev {
			return report, c.corrupt(0, "the first message names one before it")
		}
		if err := heads.against(r); err != nil {
			return report, err
		}
		report.Head = r.Head()
	}
	if err := heads.behind(c.last); err != nil {
		return report, err
	}
	if from.Seq > c.last.Seq {
		return report, &WentBackwardsError{Source: "the caller", Noted: from, Found: c.last}
	}
	if c.unfinished != nil {
		report.Unfinished = fmt.Sprintf("after message %d: %v", report.Head.Seq, c.unfinished)
	}
	return report, nil
}

// Unfinished says what follows the last whole message of the log in dir: a line on
// its way, or bytes that are none. Empty: nothing does, or there is no log.
func Unfinished(dir string, opts Options) string {
	j := newJournal(dir, opts)
	defer j.Close()
	j.mu.Lock()
	defer j.mu.Unlock()
	bad, err := j.refresh()
	if err != nil || bad == nil {
		return "" // what is damage is said by who reads it all
	}
	return fmt.Sprintf("after message %d: %s", j.head.Seq, bad.why)
}
