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
// also compares with run/head.
func (j *Journal) Verify(ctx context.Context, from Head) (Report, error) {
	var report Report
	noted := j.readHead()
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
		if r.Seq == noted.Seq && r.Hash != noted.Hash {
			return report, &WentBackwardsError{Source: j.headPath, Noted: noted, Found: r.Head()}
		}
		report.Head = r.Head()
	}
	if noted.Seq > c.last.Seq {
		return report, &WentBackwardsError{Source: j.headPath, Noted: noted, Found: c.last}
	}
	if from.Seq > c.last.Seq {
		return report, &WentBackwardsError{Source: "the caller", Noted: from, Found: c.last}
	}
	if c.unfinished != nil {
		report.Unfinished = fmt.Sprintf("after message %d: %v", report.Head.Seq, c.unfinished)
	}
	return report, nil
}
