package step

import (
	"context"
	"errors"
	"fmt"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/think"
)

// ErrLate is returned when the step's claim was lost before its result came.
// The result is kept for the next holder.
var ErrLate = errors.New("the claim was lost before the result came; it is kept for the next holder")

// ErrMoved is returned when the board no longer asks for what the step was
// started for. Nothing was said.
var ErrMoved = errors.New("the board no longer asks for this step")

// ErrWaits is returned when the step can not go on for now, such as when every
// account it could think with is used up. Nothing it did counts against it.
var ErrWaits = errors.New("the step waits")

// ErrKilled is returned when somebody else ended what the step ran. Nothing it
// did counts against it.
var ErrKilled = errors.New("ended from outside")

// Exit codes of a step.
const (
	ExitDone  = 0
	ExitCrash = 1
	ExitAgain = 42 // stopped cleanly, start me again
)

// ExitCode is how a step ends its process.
func ExitCode(err error) int {
	var drift *DriftError
	switch {
	case err == nil:
		return ExitDone
	case errors.Is(err, ErrLate), errors.Is(err, ErrMoved), errors.Is(err, ErrWaits), errors.Is(err, ErrKilled), NotJudged(err), errors.As(err, &drift),
		errors.Is(err, context.Canceled):
		return ExitAgain
	}
	return ExitCrash
}

// NotJudged tells whether a step ended because nobody who was asked gave a
// verdict that can be used, and not because somebody could not be asked.
func NotJudged(err error) bool {
	_, is := errors.AsType[*think.NotJudgedError](err)
	return is && !errors.Is(err, ErrWaits)
}

// NoBackendError says that a role has nothing to think or act with.
type NoBackendError struct{ Role message.Role }

func (e *NoBackendError) Error() string { return fmt.Sprintf("the %s has no backend", e.Role) }

// Hint names the next command.
func (e *NoBackendError) Hint() string { return "orch doctor shows what each role can use" }

// DriftError says that orch's own configuration changed during a tool call.
// The goal has been suspended.
type DriftError struct{ Call message.CallID }

func (e *DriftError) Error() string {
	return fmt.Sprintf("the configuration in .orch, .orch itself, or what git runs, changed during call %s", e.Call)
}

// Hint names the next commands.
func (e *DriftError) Hint() string { return "look at what changed in .orch, then: orch resume" }

// Late tells whether an append was refused because the claim is lost.
func Late(err error) bool {
	var l *blackboard.LateError
	return errors.As(err, &l)
}
