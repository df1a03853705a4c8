package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"orch/blackboard"
	"orch/blackboard/crash"
	"orch/blackboard/message"
	"orch/roles/run/supervisor"
)

// registrationLease is how long a process that can not be looked at is taken
// for living after it last said that it is.
const registrationLease = 10 * time.Minute

// registration is what this process says of itself under an id.
func registration(agent message.AgentID, role message.Role, status string) (message.Registered, error) {
	me, err := supervisor.Self()
	return message.Registered{
		Agent: agent, Role: role, Terminal: terminalName(), Process: me, Status: status,
		Lease: supervisor.NewLease(supervisor.SystemClock{}, registrationLease.Milliseconds()),
	}, err
}

// register makes this process known under an id; taken means somebody lives under it.
func register(ctx context.Context, b *blackboard.Board, me message.Registered) (taken bool, err error) {
	errTaken := errors.New("taken")
	_, err = b.AppendFunc(ctx, func(st *blackboard.State) (message.Message, error) {
		if _, there := st.Agent(me.Agent); there {
			return message.Message{}, errTaken
		}
		return message.Message{To: message.All, Subject: string(me.Agent), Body: me}, nil
	})
	if errors.Is(err, errTaken) {
		return true, nil
	}
	return false, err
}

// stayRegistered renews a registration until stop is called, which waits for
// the last renewal. One that was taken off the board meanwhile is not put back.
func (a *app) stayRegistered(b *blackboard.Board, goal message.GoalID, me message.Registered) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	crash.Go(func() {
		defer close(done)
		tick := time.NewTicker(registrationLease / 3)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if err := renew(ctx, b, goal, me); err != nil && ctx.Err() == nil {
				a.warn(err)
			}
		}
	})
	return func() { cancel(); <-done }
}

// renew says that the process is still there.
func renew(ctx context.Context, b *blackboard.Board, goal message.GoalID, me message.Registered) error {
	errGone := errors.New("no longer registered")
	_, err := b.AppendFunc(ctx, func(st *blackboard.State) (message.Message, error) {
		if now, there := st.Agent(me.Agent); !there || now.Process != me.Process {
			return message.Message{}, errGone
		}
		me.Lease = supervisor.NewLease(supervisor.SystemClock{}, registrationLease.Milliseconds())
		return message.Message{To: message.All, Goal: goal, Subject: string(me.Agent), Body: me}, nil
	})
	if errors.Is(err, errGone) {
		return nil
	}
	return err
}

func deregister(b *blackboard.Board, agent message.AgentID, why string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_, err := b.Append(ctx, message.Message{To: message.All, Subject: string(agent), Body: message.Deregistered{Agent: agent, Reason: why}})
	return err
}

// terminalName is the terminal this process is on, for people; empty without one.
func terminalName() string {
	name, err := os.Readlink("/proc/self/fd/0")
	if err != nil || !filepath.IsAbs(name) || filepath.Dir(name) != "/dev/pts" {
		return ""
	}
	return name
}
