package blackboard

import (
	"errors"
	"fmt"

	"orch/blackboard/message"
)

// LogFormat is the format of the log that this program writes and reads.
const LogFormat = 1

// ErrReadOnly: the board was opened for reading.
var ErrReadOnly = errors.New("the board was opened for reading only")

// ErrClosed: the board was closed.
var ErrClosed = errors.New("the board is closed")

// NewerFormatError: a newer orch made this log.
type NewerFormatError struct{ Format int }

func (e *NewerFormatError) Error() string {
	return fmt.Sprintf("the log has format %d, this orch reads up to %d", e.Format, LogFormat)
}

// Hint says what a person can do.
func (e *NewerFormatError) Hint() string { return "update orch" }

// FoldError: a message of the log that this program cannot fold. Nothing after
// it can be known, so the board stays closed.
type FoldError struct {
	Seq  uint64
	Type message.Type
	Err  error
}

func (e *FoldError) Error() string {
	return fmt.Sprintf("message %d of the log (%s) does not fit the board: %v", e.Seq, e.Type, e.Err)
}
func (e *FoldError) Unwrap() error { return e.Err }

// Hint says what a person can do.
func (e *FoldError) Hint() string {
	if errors.Is(e.Err, message.ErrUnknownType) {
		return "a newer orch wrote it: update orch"
	}
	return "run `orch board restore --from COPY`, with COPY a backup of .orch or of its log; if a newer orch wrote to this board, update orch"
}

// SeqError: the board moved on since the caller looked.
type SeqError struct{ Want, Have uint64 }

func (e *SeqError) Error() string {
	return fmt.Sprintf("the board is at message %d, the caller looked at %d", e.Have, e.Want)
}

// HistoryError: the messages that are asked for are not kept any more, nor is a
// checkpoint that stands for them.
type HistoryError struct{ Seq uint64 }

func (e *HistoryError) Error() string {
	return fmt.Sprintf("the history up to message %d is not kept any more", e.Seq)
}

// Hint says what a person can do.
func (e *HistoryError) Hint() string {
	return "run `orch board restore --from COPY`, with COPY a backup of .orch"
}
