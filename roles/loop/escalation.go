package loop

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"orch/blackboard"
)

// Waiting is what a list of escalations reads of the folded state;
// *blackboard.State is one.
type Waiting interface {
	Brakes() blackboard.Brakes
	OpenGoals() []blackboard.Goal
}

// maxLevel is the level of the last escalation.
const maxLevel = 3

// maxReasonRunes bounds what one entry shows of a reason. The log has all of it.
const maxReasonRunes = 500

// Escalation is what a person must be told again because nobody answered: what
// waits, since when, how often that was said, and the command that answers. It
// is empty when nothing was escalated. It depends on the board alone, so that
// whoever writes it down writes the same.
func Escalation(s Waiting) string {
	var b strings.Builder
	if c := s.Brakes(); c.Checkpoint != nil && c.Level > 0 {
		entry(&b, "the board", c.Checkpoint.TS, c.Level, c.Reason, "orch resume")
	}
	for _, g := range s.OpenGoals() {
		if w := g.Suspended; w != nil && w.Level > 0 {
			entry(&b, "goal "+string(g.ID), w.Since.TS, w.Level, w.Why+": "+w.Detail, w.Command)
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "orch waits for a person. This file goes away once nothing here waits any more.\n" + b.String()
}

func entry(b *strings.Builder, what string, since time.Time, level int, reason, next string) {
	fmt.Fprintf(b, "\n%s\n  since  %s\n  told   %d of %d times\n  why    %s\n  next   %s\n",
		what, since.UTC().Format(time.RFC3339), level, maxLevel, plainLine(reason), next)
}

// plainLine is text as one line that does nothing to a terminal.
func plainLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
	r := []rune(strings.Join(strings.Fields(s), " "))
	if len(r) > maxReasonRunes {
		return string(r[:maxReasonRunes-1]) + "…"
	}
	return string(r)
}
