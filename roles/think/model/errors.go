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
	Auth        Kind = "auth"        // 401, 403: a person must log in or fix the key
	UsedUp      Kind = "used-up"     // 402, no credit or quota left, and nobody says until when: a person must act
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
	// Hearsay says that the kind was read out of what a program printed. It is
	// neither what orch's own client saw nor an error that the program typed, and
	// may as well be about something else.
	Hearsay bool
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
		return "log in, or set the key the configuration names, then: orch doctor"
	case UsedUp:
		return "add credit to the account, or choose another model in .orch/config.yaml"
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

// Outage tells whether it is the provider that failed: it has no room, fails,
// can not be reached, does not answer in time, or allows no more for now and
// does not say until when. Nothing about what was asked is to blame.
func (e *Error) Outage() bool {
	switch e.Kind {
	case Overloaded, Server, Unreachable, Idle:
		return !e.Hearsay
	case Limit:
		return !e.Hearsay && e.Until.IsZero()
	}
	return false
}

// Mend tells whether only a person can do something about it.
func (e *Error) Mend() bool { return e.Kind == Auth || e.Kind == UsedUp || e.Kind == BadRequest }
