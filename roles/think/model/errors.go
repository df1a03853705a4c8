package model

import (
	"fmt"
	"time"

	"orch/blackboard/message"
)

// Kind tells failures apart by what would help.
type Kind string

// Kinds of failure.
const (
	Auth        Kind = "auth"        // 401, 402, 403: a person must fix the key, or the account has no credit left
	Limit       Kind = "limit"       // 429, usage or rate limit: wait until Until, or another account
	Overloaded  Kind = "overloaded"  // 529, 503: the provider has no room; retries are used up
	Server      Kind = "server"      // other 5xx; retries are used up
	Unreachable Kind = "unreachable" // refused, reset, no route; retries are used up
	Idle        Kind = "idle"        // nothing came for the idle limit
	Malformed   Kind = "malformed"   // the answer is not what the protocol says
	Unreadable  Kind = "unreadable"  // it did its work and its answer is none: empty, or in no form that can be read
	TooLarge    Kind = "too-large"   // the request or the answer passes a limit
	BadRequest  Kind = "bad-request" // 400, 404: configuration, such as an unknown model
	Refused     Kind = "refused"     // the model declined
	Ended       Kind = "ended"       // an agent process ended without its result event
	Killed      Kind = "killed"      // somebody else ended the agent's process
	Cancelled   Kind = "cancelled"   // the caller's context ended; Cause is its error
)

// Error is a failure of a Client.
type Error struct {
	Kind    Kind
	Status  int // HTTP status; 0 when there is none
	Model   string
	Account string
	Until   time.Time     // for Limit: when it resets; zero when not stated
	Detail  string        // what was seen, without secrets
	Usage   message.Usage // consumed before it failed
	Cause   error
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s: %s", e.Model, e.Kind)
	if e.Status > 0 {
		s += fmt.Sprintf(" (HTTP %d)", e.Status)
	}
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}

// Unwrap returns what caused the failure.
func (e *Error) Unwrap() error { return e.Cause }

// Hint names what a person can do.
func (e *Error) Hint() string {
	switch e.Kind {
	case Auth:
		if e.Status != 401 && e.Status != 403 && e.Status != 0 {
			return "add credit to the account, or choose another model in .orch/config.yaml"
		}
		return "set the key the configuration names, then: orch doctor"
	case BadRequest:
		return "check models in .orch/config.yaml, then: orch doctor"
	case Limit:
		return "the run goes on by itself when the account is free again; orch status shows when"
	}
	return "orch doctor shows what each role can use"
}

// Passing tells whether the same request may succeed later or elsewhere
// without anybody changing anything.
func (e *Error) Passing() bool {
	switch e.Kind {
	case Limit, Overloaded, Server, Unreachable, Idle, Ended, Killed:
		return true
	}
	return false
}
