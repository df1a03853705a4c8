package journal

import (
	"context"
	"iter"
	"time"
)

// Watch yields the records with Seq >= from as they land; see Log. A hint from
// the system only makes it look sooner: a slow poll runs under it.
func (j *Journal) Watch(ctx context.Context, from uint64) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		// First the hints, then the reading: nothing lands unseen in between.
		hints, stop, interval := j.hints()
		defer stop()
		c := &cursor{j: j, from: from}
		defer c.close()
		timer := time.NewTimer(interval)
		defer timer.Stop()
		for {
			for ctx.Err() == nil {
				r, ok, err := c.next()
				if err != nil {
					yield(Record{}, err)
					return
				}
				if !ok {
					break
				}
				if !yield(r, nil) {
					return
				}
			}
			timer.Reset(interval)
			select {
			case <-ctx.Done():
				return
			case <-hints:
			case <-timer.C:
			}
		}
	}
}

// hints asks the file system for hints. Without them Watch polls faster.
func (j *Journal) hints() (hints <-chan struct{}, stop func(), interval time.Duration) {
	if notifier, ok := j.fsys.(Notifier); ok {
		if hints, stop, err := notifier.Notify(j.dir); err == nil {
			return hints, stop, j.opts.PollInterval
		}
	}
	return nil, func() {}, min(j.opts.PollInterval, blindPollInterval)
}
