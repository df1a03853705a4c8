// Package steptest lets tests act roles on a real board in a temporary
// directory: what is due is claimed as a supervisor would, backends and tools
// are scripted, and everything said is in a real log.
package steptest

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"orch/blackboard"
	"orch/blackboard/journal"
	"orch/blackboard/message"
	"orch/roles/act/check"
	"orch/roles/act/process"
	"orch/roles/act/tool"
	"orch/roles/loop"
	"orch/roles/run/config"
	"orch/roles/run/step"
)

// Clock is a clock that moves only when told to.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// Now is the time it was moved to.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Add moves it.
func (c *Clock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// World is a board with everything around it that a step needs.
type World struct {
	T      testing.TB
	Root   string
	Clock  *Clock
	Policy loop.Policy
	Config config.Config
	Box    *Box
	Judge  *Judge
	Plan   *Planner
	See    *Perceiver
	Work   *Executor
	Values string // the person's values.md
	// Backend made the plan that Dispatch puts on the board.
	Backend string
	// Verdicts decides checks by the command they run; a missing one passes.
	Verdicts map[string]check.Verdict
	// Before decides checks on the copy of the workspace that is looked at before
	// a task is begun, by the command they run; a missing one fails there.
	Before map[string]check.Verdict

	boards map[message.AgentID]*blackboard.Board
}

// New makes a board with scripted backends.
func New(t testing.TB) *World {
	w := &World{
		T: t, Root: t.TempDir(), Clock: &Clock{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)},
		Backend: "script", Config: config.Default(), Box: &Box{}, Judge: &Judge{}, Plan: &Planner{}, See: &Perceiver{}, Work: &Executor{},
		Verdicts: map[string]check.Verdict{}, Before: map[string]check.Verdict{}, boards: map[message.AgentID]*blackboard.Board{},
	}
	w.Policy = loop.PolicyOf(w.Config)
	w.Policy.Boot = "boot"
	w.As("supervisor-1")
	t.Cleanup(func() {
		for agent, b := range w.boards {
			if err := b.Close(); err != nil {
				t.Errorf("close the board of %s: %v", agent, err)
			}
		}
	})
	return w
}

// As is the board as one agent sees it and may speak on it.
func (w *World) As(agent message.AgentID) *blackboard.Board {
	w.T.Helper()
	if b, ok := w.boards[agent]; ok {
		return b
	}
	id, err := blackboard.NewIdentity(agent)
	w.ok(err)
	b, err := blackboard.Init(w.Root, blackboard.Options{Clock: w.Clock, Identity: id})
	w.ok(err)
	w.boards[agent] = b
	return b
}

func (w *World) ok(err error) {
	w.T.Helper()
	if err != nil {
		w.T.Fatal(err)
	}
}

// Say appends as an agent and fails the test if the board refuses. The subject
// is the goal, or what the body names.
func (w *World) Say(agent message.AgentID, goal message.GoalID, cause message.ID, body message.Body) message.Message {
	w.T.Helper()
	subject := string(goal)
	if o, ok := body.(message.SubTaskOutcome); ok {
		subject = string(o.SubtaskID)
	}
	m, err := w.As(agent).Append(context.Background(), message.Message{Goal: goal, Subject: subject, Cause: cause, Body: body})
	w.ok(err)
	return m
}

// View looks at the caught-up state.
func (w *World) View(f func(*blackboard.State)) {
	w.T.Helper()
	w.ok(w.As("supervisor-1").View(context.Background(), func(s *blackboard.State) error { f(s); return nil }))
}

// Goal is the goal as it is now.
func (w *World) Goal(id message.GoalID) (g blackboard.Goal) {
	w.T.Helper()
	w.View(func(s *blackboard.State) { g, _ = s.Goal(id) })
	return g
}

// Tasks are the tasks of the goal's plan.
func (w *World) Tasks(id message.GoalID) (tasks []blackboard.Task) {
	w.T.Helper()
	w.View(func(s *blackboard.State) {
		g, _ := s.Goal(id)
		tasks = s.PlanTasks(g)
	})
	return tasks
}

// Messages are all messages of one type, in order.
func (w *World) Messages(types ...message.Type) (out []message.Message) {
	w.T.Helper()
	for m, err := range w.As("supervisor-1").Messages(1) {
		w.ok(err)
		for _, t := range types {
			if m.Type() == t {
				out = append(out, m)
			}
		}
	}
	return out
}

// Start puts a goal on the board.
func (w *World) Start(text string) message.GoalID {
	w.T.Helper()
	return w.StartWith(message.UserInput{Text: text, Profile: "task"})
}

// StartWith puts a goal of any kind on the board.
func (w *World) StartWith(in message.UserInput) message.GoalID {
	w.T.Helper()
	w.Say("human-1", "g", "", in)
	return "g"
}

// Due is what may be started now.
func (w *World) Due() (due []loop.Activation) {
	w.T.Helper()
	w.View(func(s *blackboard.State) { due = loop.Due(s, w.Policy, w.Clock.Now()) })
	return due
}

// Tidy appends what housekeeping asks for.
func (w *World) Tidy(alive func(message.Process) bool) {
	w.T.Helper()
	var msgs []message.Message
	w.View(func(s *blackboard.State) { msgs = loop.Housekeeping(s, w.Policy, LookOf(alive), w.Clock.Now(), 0) })
	for _, m := range msgs {
		_, err := w.As("supervisor-1").Append(context.Background(), m)
		w.ok(err)
	}
}

// LookOf makes a look at processes of one that always can tell.
func LookOf(alive func(message.Process) bool) loop.Look {
	return func(p message.Process) process.Liveness {
		if alive(p) {
			return process.Living
		}
		return process.Dead
	}
}

// Nobody is the answer to whether a process lives, in tests without processes.
func Nobody(message.Process) bool { return false }

// Claim starts an activation as a supervisor would and returns its environment.
func (w *World) Claim(a loop.Activation) *step.Env {
	w.T.Helper()
	var agent message.AgentID
	var prior blackboard.Activation
	w.View(func(s *blackboard.State) {
		agent, _ = loop.AgentFor(s, w.Policy, a)
		prior, _ = s.Activation(a.Key)
	})
	w.say(a, 0, message.StepStarting{
		Role: a.Key.Role, Subject: a.Key.Subject, Cause: a.Key.Cause, Agent: agent, Marker: fmt.Sprint(w.Clock.Now().UnixNano()),
		Try: prior.Try + 1, Holder: message.Process{PID: 1, Boot: "boot"}, Reason: a.Reason,
	})
	var fence message.Fence
	if loop.Holds(a.Key.Role) {
		w.View(func(s *blackboard.State) {
			t, _ := s.Task(message.TaskID(a.Key.Subject))
			fence = t.Fence + 1
		})
		w.say(a, fence, message.Claimed{Task: message.TaskID(a.Key.Subject), Agent: agent, Fence: fence, Lease: w.lease()})
	}
	return w.Env(a, agent, fence)
}

func (w *World) say(a loop.Activation, fence message.Fence, body message.Body) {
	w.T.Helper()
	_, err := w.As("supervisor-1").Append(context.Background(), message.Message{
		From: message.Supervisor, Goal: a.Goal, Subject: a.Key.Subject, Cause: a.Key.Cause, Fence: fence, Body: body,
	})
	w.ok(err)
}

func (w *World) lease() message.Lease {
	return message.Lease{Boot: "boot", AwakeMS: 60_000, ExpiresAt: w.Clock.Now().Add(time.Minute)}
}

// Env is the environment of a step.
func (w *World) Env(a loop.Activation, agent message.AgentID, fence message.Fence) *step.Env {
	return &step.Env{
		Board: w.As(agent), Key: a.Key, Goal: a.Goal, Agent: agent, Fence: fence, Workspace: w.Root,
		Perceiver: w.See, Planner: w.Plan, Executor: w.Work, Judge: w.Judge,
		PlannedBy: "script", Values: w.Values, Box: w.Box, Lease: w.lease, Clock: w.Clock, IDs: journal.UUIDs{}, Random: rand.Reader, Config: w.Config,
		Checks: func(_ context.Context, c check.Check) check.Verdict {
			if v, ok := w.Verdicts[c.Run.Command]; ok {
				return v
			}
			return check.Verdict{Pass: true, Evidence: c.Run.Command + " passed"}
		},
		ChecksApart: func(_ context.Context, c check.Check) check.Verdict {
			if v, ok := w.Before[c.Run.Command]; ok {
				return v
			}
			return check.Verdict{Class: check.Logical, Evidence: c.Run.Command + " failed"}
		},
		Log: func(format string, args ...any) { w.T.Logf("%.200s", fmt.Sprintf(format, args...)) },
	}
}

// End closes an activation, and its claim if it still has one.
func (w *World) End(a loop.Activation, e *step.Env, class string) {
	w.T.Helper()
	exit := map[string]int{message.EndDone: 0, message.EndAgain: 42}[class]
	var held bool
	w.View(func(s *blackboard.State) {
		t, ok := s.Task(message.TaskID(a.Key.Subject))
		held = ok && t.Status == blackboard.Claimed && t.Fence == e.Fence
	})
	if held {
		w.say(a, e.Fence, message.Released{Task: e.Task(), Agent: e.Agent, Fence: e.Fence, Reason: class})
	}
	w.say(a, 0, message.StepEnded{Role: a.Key.Role, Subject: a.Key.Subject, Cause: a.Key.Cause, Agent: e.Agent, Exit: exit, Class: class})
}

// Runner is a role's Run.
type Runner func(context.Context, *step.Env) error

// Next runs the first due activation, which must be of the given role, to its end.
func (w *World) Next(role message.Role, run Runner) error {
	w.T.Helper()
	due := w.Due()
	if len(due) == 0 || due[0].Key.Role != role {
		w.T.Fatalf("due is %v, want a %s", due, role)
	}
	return w.Do(due[0], run)
}

// Do runs one activation to its end.
func (w *World) Do(a loop.Activation, run Runner) error {
	w.T.Helper()
	e := w.Claim(a)
	err := run(context.Background(), e)
	class := map[int]string{step.ExitDone: message.EndDone, step.ExitAgain: message.EndAgain}[step.ExitCode(err)]
	if class == "" {
		class = message.EndCrash
	}
	w.End(a, e, class)
	return err
}

// Shell is the input of a shell call.
func Shell(command string) json.RawMessage {
	raw, err := json.Marshal(tool.ShellInput{Command: command})
	if err != nil {
		panic(err) // a string always encodes
	}
	return raw
}

// RunCheck is a criterion's check that runs a command; World.Verdicts decides it.
func RunCheck(command string) json.RawMessage {
	raw, err := json.Marshal(check.Check{Run: &check.Command{Command: command}})
	if err != nil {
		panic(err) // plain strings always encode
	}
	return raw
}
