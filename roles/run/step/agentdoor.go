package step

import (
	"context"
	"fmt"
	"sync"

	"orch/blackboard"
	"orch/blackboard/message"
)

// maxRecorded bounds the refusals that one step records: a command that asks in
// a loop must not flood the log.
const maxRecorded = 10

// maxSaid bounds what one step passes on, for the same reason: it is far above
// what an agent has to say.
const maxSaid = 200

// Requests pass what a command below the step asks for to the role, under the
// table of who may say what. While the role does not listen, nothing may be said.
type Requests struct {
	mu       sync.Mutex
	hear     func(context.Context, message.Body) (message.ID, error)
	recorded int
	said     int
}

// Open lets a function hear until the returned one is called.
func (q *Requests) Open(hear func(context.Context, message.Body) (message.ID, error)) (shut func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.hear = hear
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.hear = nil
	}
}

// Hear passes one request on. What the table does not let an agent say is
// refused and recorded. Requests are heard one after the other.
func (q *Requests) Hear(ctx context.Context, e *Env, body message.Body) (message.ID, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := message.Route(body.Type(), message.DoorAgent, e.Role(), message.DefaultTo(body.Type())); err != nil {
		q.record(ctx, e, message.BoundaryViolation{By: e.Agent, From: e.Role(), Refused: body.Type(), Why: "a command below the step asked for it: " + err.Error()})
		return "", &NotYoursError{What: fmt.Sprintf("an agent below the %s may not say %s", e.Role(), body.Type()), Do: "docs/messages.md lists what an agent may say; what a step knows by itself it says by itself"}
	}
	if q.hear == nil {
		return "", &DeafError{}
	}
	if q.said >= maxSaid {
		return "", &NotYoursError{What: fmt.Sprintf("this step has passed on %d messages and takes no more", maxSaid), Do: "say what matters in few words"}
	}
	id, err := q.hear(ctx, body)
	if err == nil {
		q.said++
	}
	return id, err
}

// Refused records that somebody who is not of this step spoke to its socket.
func (q *Requests) Refused(ctx context.Context, e *Env, pid int, command, why string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.record(ctx, e, message.BoundaryViolation{By: e.Agent, From: e.Role(), Why: fmt.Sprintf("process %d (%s) spoke to the step's socket: %s", pid, command, why)})
}

func (q *Requests) record(ctx context.Context, e *Env, v message.BoundaryViolation) {
	if q.recorded++; q.recorded > maxRecorded {
		return
	}
	if q.recorded == maxRecorded {
		v.Why += "; further ones of this step are not recorded"
	}
	v.Subject = e.Key.Subject
	if err := e.Board.RecordViolation(ctx, v); err != nil {
		e.Log("record what was refused: %v", err)
	}
}

// Relay appends what a command below the step says, as said by it and not by orch.
func (e *Env) Relay(ctx context.Context, body message.Body) (message.Message, error) {
	m := e.message(e.Key.Role, message.DefaultTo(body.Type()), e.Key.Cause, body)
	m.Door = message.DoorAgent
	said, err := e.Board.AppendFunc(ctx, func(*blackboard.State) (message.Message, error) { return m, nil })
	if err != nil {
		return said, fmt.Errorf("pass on %s: %w", body.Type(), err)
	}
	return said, nil
}

// RelayAnomaly is Relay for an anomaly of the step's own task.
func (e *Env) RelayAnomaly(ctx context.Context, a message.Anomaly) (message.ID, error) {
	if a.Task != "" && a.Task != e.Task() {
		return "", &NotYoursError{What: fmt.Sprintf("%s works on %s, and speaks about nothing else", e.Agent, e.Task()), Do: "leave out --task"}
	}
	a.Task = e.Task()
	err := message.MayLog(e.Role(), a.Kind)
	if err == nil {
		err = a.Validate()
	}
	if err != nil {
		return "", &NotYoursError{What: err.Error(), Do: "docs/messages.md lists the kinds, their fields, and who may log them"}
	}
	m, err := e.Relay(ctx, a)
	return m.ID, err
}

// DeafError says that a step listens to nobody now.
type DeafError struct{}

func (*DeafError) Error() string { return "this step does not listen now" }

// Hint says when it does.
func (*DeafError) Hint() string { return "an agent speaks while it works, not before and not after" }

// NotYoursError refuses what an agent may not say.
type NotYoursError struct{ What, Do string }

func (e *NotYoursError) Error() string { return e.What }

// Hint names what to do instead.
func (e *NotYoursError) Hint() string { return e.Do }
