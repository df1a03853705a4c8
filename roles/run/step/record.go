package step

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/think"
)

var _ think.Recorder = (*Journalled)(nil)

// maxSeen bounds the calls listed of one run of an agent program.
const maxSeen = 50

// record is what is known of the calls of an attempt that ended.
type record struct {
	done   []think.Done
	given  []bool // by Recall, of those that Resume listed
	closed bool   // something new had an effect since
}

// Read reads from the log what the attempt goes on behind: the calls of its
// earlier tries, and of an attempt before it that was cut off. They are part of
// its evidence, and a backend finds them through Resume and Recall. It also
// reads which calls of the goal are in doubt.
func (j *Journalled) Read(ctx context.Context, t blackboard.Task) error {
	err := j.env.Board.View(ctx, func(s *blackboard.State) error {
		j.doubts.read(s, j.env.Goal)
		return nil
	})
	if err != nil {
		return fmt.Errorf("read which calls are in doubt: %w", err)
	}
	from := t.FirstCall.Seq
	if from == 0 {
		return nil
	}
	r := reading{j: j}
	for m, err := range j.env.Board.Messages(from) {
		if err != nil {
			return fmt.Errorf("read what was done before: %w", err)
		}
		if m.Subject == string(t.ID) {
			r.take(m)
		}
	}
	r.doubt()
	j.calls, j.record.done = r.calls, r.done
	j.changed = j.changed || slices.ContainsFunc(r.done, func(d think.Done) bool { return !d.Idempotent })
	return nil
}

// reading collects the calls of one task out of its messages.
type reading struct {
	j     *Journalled
	calls []message.ToolCall
	done  []think.Done
	open  *message.ToolStarted
	seen  []string // since the last start
}

func (r *reading) take(m message.Message) {
	switch b := m.Body.(type) {
	case message.ToolStarted:
		r.doubt()
		r.open = &b
	case message.ToolCall:
		switch {
		case b.Observed:
			r.seen = append(r.seen, CallLine(b))
		case b.Denied == "" && r.open != nil: // a refused call did nothing
			output := r.j.output(b)
			d := r.j.doneOf(b, r.open.Idempotent, output)
			d.Whole = output
			r.calls = append(r.calls, b)
			r.add(d)
			fallthrough
		default:
			r.open = nil
		}
	}
}

// doubt notes a call that was started and has no end, if there is one. A call
// that a person wants left as it is counts as made.
func (r *reading) doubt() {
	if open := r.open; open != nil && !open.Idempotent {
		d := think.Done{Tool: open.Tool, Input: open.Input, Doubt: true}
		if allowed, answered := r.j.doubts.answered[open.Call]; answered && !allowed {
			d.Doubt, d.Output = false, leftAlone
		}
		r.add(d)
	}
	r.open = nil
}

func (r *reading) add(d think.Done) {
	d.Seen, r.seen = r.seen[max(0, len(r.seen)-maxSeen):], nil
	if n := len(r.done); n > 0 {
		r.done[n-1].Whole = ""
	}
	r.done = append(r.done, d)
}

// output is what a call on record gave, as far as it is still kept.
func (j *Journalled) output(c message.ToolCall) string {
	if c.Blob == "" {
		return c.Tail
	}
	whole, err := j.env.Board.Blob(j.env.Goal, c.Blob)
	if err != nil {
		return c.Head + "\n[…]\n" + c.Tail
	}
	return string(whole)
}

func (j *Journalled) doneOf(c message.ToolCall, idempotent bool, output string) think.Done {
	return think.Done{
		Tool: c.Tool, Input: c.Input, Idempotent: idempotent, Exit: c.Exit, Class: c.Class, Kind: c.Kind,
		Output: Cut(output, j.env.Config.Limits.ModelOutput),
	}
}

// note adds a call that ended now.
func (j *Journalled) note(c message.ToolCall, idempotent bool, output string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.calls = append(j.calls, c)
	if c.Denied != "" {
		return
	}
	j.record.done = append(j.record.done, j.doneOf(c, idempotent, output))
	j.record.closed = j.record.closed || !idempotent
}

// Resume implements think.Recorder.
func (j *Journalled) Resume() []think.Done {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.record.given, j.record.closed = make([]bool, len(j.record.done)), false
	return slices.Clone(j.record.done)
}

// Recall implements think.Recorder.
func (j *Journalled) Recall(name string, input json.RawMessage) (think.Done, bool) {
	logged, err := j.loggable(input)
	if err != nil {
		return think.Done{}, false // the call itself fails at the same place
	}
	logged = j.clean(logged)
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.record.closed {
		return think.Done{}, false
	}
	for i, given := range j.record.given {
		if d := j.record.done[i]; !given && !d.Doubt && d.Tool == name && sameInput(d.Input, logged) {
			j.record.given[i] = true
			return d, true
		}
	}
	return think.Done{}, false
}

// sameInput compares JSON by what it says.
func sameInput(a, b json.RawMessage) bool { return bytes.Equal(canonical(a), canonical(b)) }

// canonical is JSON in one order of keys; what is none stays as it is.
func canonical(raw json.RawMessage) []byte {
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return raw
	}
	same, err := json.Marshal(value)
	if err != nil {
		return raw
	}
	return same
}
