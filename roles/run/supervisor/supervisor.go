// Package supervisor turns the state of a board into running steps and sees
// them through: it claims what is due, spawns it, enforces its limits, closes
// it, and leaves no process behind.
//
// It promises that nothing is started without a durable claim, that of several
// supervisors on one board only one starts each activation, and that killing
// it at any moment loses nothing. It never decides about a goal: it stops when
// the controller has spoken, when the goal waits for a person who is not to be
// waited for, or when it is told to.
package supervisor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"orch/blackboard"
	"orch/blackboard/crash"
	"orch/blackboard/message"
	"orch/roles/act/process"
	"orch/roles/loop"
	"orch/roles/run/config"
)

// Spawner runs one step to its end and leaves nothing of it behind. Cancelling
// the context stops the step: SIGTERM, grace, SIGKILL.
type Spawner interface {
	Step(ctx context.Context, c Claim) End
	// Sweep ends whatever still carries the marker of a step nobody sees through.
	Sweep(marker string) int
	// Look tells whether exactly this process still runs.
	Look(message.Process) process.Liveness
}

// Resident keeps one resident role up until its context ends.
type Resident interface {
	Keep(ctx context.Context) error
}

// Supervisor serves one goal, or every open goal if Goal is empty.
type Supervisor struct {
	Starter
	Config    config.Config
	Goal      message.GoalID
	Spawner   Spawner
	Residents []Resident
	Brakes    BrakeFiles
	Hooks     Hooks
	// Trusted says why what takes part must not be acted by now; nil when nobody
	// is asked. It is asked before steps are started.
	Trusted func(context.Context) error
	Warn    func(error) // what went wrong without stopping the run
	// Tend is called after each look at the board, to keep the view fresh; it
	// says when to call again, or the zero time.
	Tend func(context.Context) time.Time

	// Trips lists the findings of the auditor that call for a stop, old ones
	// included; nil: nobody audits.
	Trips func() ([]Trip, error)

	// Stay is asked once for each thing the goal begins to wait for; true keeps
	// the supervisor up until a person has answered. nil: it never stays.
	Stay func(Wait) bool

	Random func() float64 // in [0, 1), spreads supervisors that want the same task

	live   map[string]running // by marker: a step that somebody took for dead may run beside its successor
	lost   losses
	awaits message.ID // what Stay said yes to
	tried  string     // what reading the findings last failed with
	untold string     // what writing the escalation last failed with
	ended  chan ended
}

// running is a step this supervisor sees through.
type running struct {
	key  blackboard.ActivationKey
	stop context.CancelFunc
}

type ended struct {
	claim Claim
	end   End
}

// Ending says why a run ended.
type Ending string

// The endings.
const (
	Finished    Ending = "finished"    // the controller has spoken
	Waiting     Ending = "waiting"     // the goal is suspended, a person is needed
	Interrupted Ending = "interrupted" // told to stop
)

// pollEvery bounds how late a missed hint is noticed.
const pollEvery = time.Second

// stallAfter is how long an open goal may have nothing to do, nothing running
// and no answer to wait for before that is called a fault.
const stallAfter = 30 * time.Second

// Run serves until the goal has ended, is suspended, or ctx is done. When it
// returns, no step it started is left.
func (s *Supervisor) Run(ctx context.Context) (Ending, error) {
	s.live = map[string]running{}
	s.ended = make(chan ended)
	s.lost = losses{}
	s.Policy.Began = s.Clock.Now()
	attended, stop := context.WithCancel(ctx)
	residents := s.keepResidents(attended)
	ending, err := s.serve(ctx)
	s.drain()
	stop()
	residents()
	if ending == Interrupted && err == nil {
		err = s.leaveWaiting(context.WithoutCancel(ctx))
	}
	// The run's context may be done, and the hook's own limit bounds it.
	s.atEnd(context.WithoutCancel(ctx), ending, err)
	return ending, err
}

func (s *Supervisor) serve(ctx context.Context) (Ending, error) {
	watching, stop := context.WithCancel(ctx)
	defer stop()
	hints := s.watch(watching)
	idleSince := s.Clock.Now()
	for {
		t, err := s.turn(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return Interrupted, nil
			}
			return "", err
		}
		if t.ending != "" && (len(s.live) == 0 || t.ending == Interrupted) {
			return t.ending, nil
		}
		if t.busy || len(s.live) > 0 {
			idleSince = s.Clock.Now()
		} else if s.Clock.Now().Sub(idleSince) > stallAfter {
			return "", s.stalled(ctx)
		}
		if again := s.Tend(ctx); !again.IsZero() {
			t.wait = min(t.wait, max(again.Sub(s.Clock.Now()), time.Millisecond))
		}
		wait := time.NewTimer(min(pollEvery, t.wait))
		select {
		case <-hints:
		case <-wait.C:
		case e := <-s.ended:
			// A log that takes no more is no reason to wait for better times: the
			// step would seem to run for ever.
			if err := s.close(e); err != nil {
				wait.Stop()
				return "", err
			}
		case <-ctx.Done():
			wait.Stop()
			return Interrupted, nil
		}
		wait.Stop()
	}
}

// turned is what one look at the board led to.
type turned struct {
	ending Ending
	busy   bool          // something was done, or an answer is awaited
	wait   time.Duration // until something becomes due
}

// turn looks at the board once and acts on it.
func (s *Supervisor) turn(ctx context.Context) (turned, error) {
	if stop, err := s.Brakes.apply(ctx, s); err != nil || stop {
		return turned{ending: Interrupted}, err
	}
	if err := s.trip(ctx); err != nil {
		return turned{}, err
	}
	if err := s.housekeep(ctx); err != nil {
		return turned{}, err
	}
	var due []loop.Activation
	t := turned{wait: pollEvery}
	err := s.Board.View(ctx, func(st *blackboard.State) error {
		s.recall(st)
		t.ending, t.busy = s.look(st)
		if t.ending == "" {
			p := s.Policy
			p.Goal = s.Goal
			due = loop.Due(st, p, s.Clock.Now())
		}
		return nil
	})
	if err != nil {
		return t, fmt.Errorf("look at the board: %w", err)
	}
	if t.ending, err = s.stays(ctx, t.ending); err != nil {
		return t, err
	}
	if len(due) > 0 {
		if held, err := s.untrusted(ctx, due[0]); held || err != nil {
			t.busy = true
			return t, err
		}
	}
	for _, a := range due {
		if len(s.live) >= s.Config.Limits.Jobs {
			break
		}
		if s.runs(a.Key) {
			continue // somebody took it for dead; its successor waits until it is
		}
		a.NotBefore = s.lost.notBefore(a)
		if wait := a.NotBefore.Sub(s.Clock.Now()); wait > 0 {
			t.wait, t.busy = min(t.wait, wait), true
			continue
		}
		if err := s.begin(ctx, a); err != nil {
			return t, err
		}
		t.busy = true
	}
	return t, nil
}

// look tells whether the run is over and whether somebody else's answer is awaited.
func (s *Supervisor) look(st *blackboard.State) (ending Ending, busy bool) {
	if s.Goal == "" {
		return "", true
	}
	g, ok := st.Goal(s.Goal)
	switch {
	case !ok:
		return "", false
	case g.Status == blackboard.GoalEnded:
		return Finished, true
	case g.Status == blackboard.GoalSuspended, st.Brakes().Checkpoint != nil:
		return Waiting, true
	}
	if st.Brakes().Paused != nil {
		return "", true
	}
	return "", len(st.LiveActivations()) > 0 || loop.Awaits(st, g, s.Clock.Now())
}

// runs tells whether a step this supervisor started for the activation still runs.
func (s *Supervisor) runs(key blackboard.ActivationKey) bool {
	for _, r := range s.live {
		if r.key == key {
			return true
		}
	}
	return false
}

// begin claims an activation and runs it in the background.
func (s *Supervisor) begin(ctx context.Context, a loop.Activation) error {
	c, err := s.Start(ctx, a)
	if errors.Is(err, ErrNotDue) || Refused(err) {
		return s.beaten(ctx, a, err) // another supervisor was faster
	}
	delete(s.lost, a.Key)
	if no, ok := errors.AsType[*UnfitError](err); ok {
		return s.unfit(ctx, a, no)
	}
	if err != nil {
		return fmt.Errorf("start %s on %s: %w", a.Key.Role, a.Key.Subject, err)
	}
	s.Hooks.Run(ctx, Moment{Name: "pre-step", Goal: a.Goal, Role: a.Key.Role, Task: a.Key.Subject}, c)
	stepCtx, cancel := context.WithCancel(ctx)
	s.live[c.Marker] = running{a.Key, cancel}
	crash.Go(func() {
		end := s.Spawner.Step(stepCtx, c)
		s.ended <- ended{c, end}
	})
	return nil
}

// close records the end of a step. The record must land even when the run is
// being stopped, so it does not use the run's context.
func (s *Supervisor) close(e ended) error {
	key := e.claim.Activation.Key
	if r, ok := s.live[e.claim.Marker]; ok {
		r.stop()
		delete(s.live, e.claim.Marker)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	err := errors.Join(s.End(ctx, e.claim, e.end), e.end.Unable)
	s.Hooks.Run(ctx, Moment{Name: "post-step", Goal: e.claim.Activation.Goal, Role: key.Role, Task: key.Subject, Result: e.end.Class}, e.end)
	return err
}

// drain stops what still runs and waits for all of it.
func (s *Supervisor) drain() {
	for _, r := range s.live {
		r.stop()
	}
	for len(s.live) > 0 {
		if err := s.close(<-s.ended); err != nil {
			s.Warn(err)
		}
	}
}

// watch turns messages into hints. Messages may be missed as hints: the board
// is looked at afresh each time.
func (s *Supervisor) watch(ctx context.Context) <-chan struct{} {
	hints := make(chan struct{}, 1)
	var head uint64
	if err := s.Board.View(ctx, func(st *blackboard.State) error { head, _ = st.Head(); return nil }); err != nil {
		s.Warn(err)
	}
	crash.Go(func() {
		for _, err := range s.Board.Watch(ctx, head+1) {
			if err != nil {
				return // the poll goes on, and finds the same error with its context
			}
			select {
			case hints <- struct{}{}:
			default:
			}
		}
	})
	return hints
}

// stalled suspends a goal that nothing will ever move again, so that it is
// seen instead of waited for.
func (s *Supervisor) stalled(ctx context.Context) error {
	_, err := s.Board.Append(ctx, message.Message{From: message.Supervisor, To: message.All, Goal: s.Goal, Subject: string(s.Goal),
		Body: message.CheckpointReached{Name: "stalled", Reason: fmt.Sprintf("nothing was due, running or awaited for %s", stallAfter)}})
	return errors.Join(fmt.Errorf("goal %s does not move: nothing is due, running or awaited", s.Goal), err)
}

// leaveWaiting suspends a goal that was waiting for a provider when the run was
// told to stop, so that whoever looks at it sees what it waits for.
func (s *Supervisor) leaveWaiting(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	_, err := s.Board.AppendFunc(ctx, func(st *blackboard.State) (message.Message, error) {
		g, ok := st.Goal(s.Goal)
		if !ok {
			return message.Message{}, errClosed
		}
		a, waits := loop.WaitsForProvider(st, g)
		if !waits {
			return message.Message{}, errClosed
		}
		return message.Message{From: message.Supervisor, To: message.All, Goal: g.ID, Subject: string(g.ID), Cause: a.Ended.ID,
			Body: loop.GaveUpWaiting(g, a, s.Clock.Now(), "stopped while it waited")}, nil
	})
	if err != nil && !errors.Is(err, errClosed) && !Refused(err) {
		return fmt.Errorf("say what the goal waits for: %w", err)
	}
	return nil
}
