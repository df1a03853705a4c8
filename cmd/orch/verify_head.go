package main

import (
	"context"
	"strconv"
	"strings"
	"time"

	"orch/blackboard"
	"orch/blackboard/journal"
	"orch/blackboard/lazyregexp"
)

var wholeHash = lazyregexp.New(`^[0-9a-f]{64}$`)

// parseHead reads SEQ:HASH; nothing is the zero head.
func parseHead(text string) (journal.Head, error) {
	if text == "" {
		return journal.Head{}, nil
	}
	number, hash, _ := strings.Cut(text, ":")
	seq, err := strconv.ParseUint(number, 10, 64)
	if err != nil || seq == 0 || !wholeHash.MatchString(hash) {
		return journal.Head{}, usagef("as an audit report has it: --head 120:3b489b6d… with all 64 characters", "--head %s is no head", text)
	}
	return journal.Head{Seq: seq, Hash: hash}, nil
}

// pinsOf are heads of the log that are remembered elsewhere than the board knows
// of: by the auditor, and by a person who has one.
func pinsOf(root string, o journal.Options, noted journal.Head) []journal.Known {
	known := auditPins(root, o)
	if noted.Seq > 0 {
		known = append(known, journal.Known{Head: noted, Source: "--head"})
	}
	return known
}

// unfinishedError: bytes behind the last message that are none.
type unfinishedError struct{ what string }

func (e *unfinishedError) Error() string {
	return "the log does not end with its last message: " + e.what
}

// Hint says what a person can do.
func (e *unfinishedError) Hint() string {
	return "run `orch board repair`: nobody was told that they were written, and they are kept"
}

// settleEnd is how long a line that is being written is given to become whole.
const settleEnd = 100 * time.Millisecond

// checkEnd looks a second time whether the log ends in bytes that are no message:
// a writer may have been at it.
func checkEnd(ctx context.Context, b *blackboard.Board, first blackboard.VerifyReport) error {
	if first.Log.Unfinished == "" {
		return nil
	}
	time.Sleep(settleEnd)
	again, err := b.Verify(ctx)
	if err != nil || again.Log.Unfinished == "" || again.Log.Head != first.Log.Head {
		return err
	}
	return &unfinishedError{again.Log.Unfinished}
}
