//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/integrator"
	"orch/roles/loop"
	"orch/roles/memory"
	"orch/roles/run/config"
	"orch/roles/run/step"
	"orch/roles/run/supervisor"
)

// moved is a clock that only the test moves.
type moved struct {
	began time.Time
	by    atomic.Int64
}

func newMoved() *moved { return &moved{began: time.Now()} }

func (c *moved) Now() time.Time       { return c.began.Add(time.Duration(c.by.Load())) }
func (c *moved) pass(d time.Duration) { c.by.Add(int64(max(d, 0))) }
func (c *moved) Awake() (string, int64) {
	boot, ms := supervisor.SystemClock{}.Awake()
	return boot, ms + time.Duration(c.by.Load()).Milliseconds()
}

// offline is a provider that does not answer some questions for some time.
type offline struct {
	clock *moved
	takes time.Duration // from the first question on; 0: it always answers
	hits  func(asked string, turn int) bool
	mu    sync.Mutex
	until time.Time
	asked int // questions that were not answered
}

func (o *offline) down(asked string, turn int) bool {
	if o.takes == 0 || !o.hits(asked, turn) {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.clock.Now()
	if o.until.IsZero() {
		o.until = now.Add(o.takes)
	}
	if !now.Before(o.until) {
		return false
	}
	o.asked++
	return true
}

// mend lets it answer again.
func (o *offline) mend() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.until = o.clock.Now()
}

// drive works on a goal as a supervisor does, step by step in this process and
// by a clock of its own: where a run would wait, the clock is moved.
type drive struct {
	t     *testing.T
	app   *app
	root  string
	cfg   config.Config
	clock *moved
	goal  message.GoalID

	starter *supervisor.Starter
	merges  *integrator.Integrator // of coding goals
	boards  []*blackboard.Board
	waits   []time.Duration // for a provider
	killAt  int             // the wait in which the supervisor is killed; 0: none
	number  int
}

const (
	aStep = time.Second // what each step takes
	// longestPause is longer than a run's, so that an hour takes few tries.
	longestPause = 30 * time.Minute
)

// newDrive puts a goal on the board and its residents beside it.
func newDrive(t *testing.T, root string, clock *moved, patience func(config.Limits) int64, words ...string) *drive {
	t.Helper()
	d := &drive{t: t, app: &app{in: strings.NewReader(""), out: io.Discard, err: io.Discard, dir: root}, root: root, clock: clock}
	if r := Main(append([]string{"-C", root, "run", "--later"}, words...), strings.NewReader(""), io.Discard, testLog{t}); r != 0 {
		t.Fatalf("put the goal on the board: exit %d", r)
	}
	clock.began = time.Now() // nothing on the log is younger
	cfg, err := d.app.trustedConfig(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	d.cfg = cfg
	d.supervise(patience(cfg.Limits))
	if err := d.starter.Board.View(t.Context(), func(s *blackboard.State) error { d.goal = s.OpenGoals()[0].ID; return nil }); err != nil {
		t.Fatal(err)
	}
	if d.starter.Worktrees, err = d.worktrees(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, b := range d.boards {
			b.Close()
		}
	})
	d.remember()
	return d
}

type testLog struct{ t *testing.T }

func (l testLog) Write(p []byte) (int, error) { l.t.Log(string(p)); return len(p), nil }

func (d *drive) open(id blackboard.Identity) *blackboard.Board {
	d.t.Helper()
	o := d.app.options(id)
	o.Clock = d.clock
	b, err := blackboard.Open(d.root, o)
	if err != nil {
		d.t.Fatal(err)
	}
	return b
}

func (d *drive) keep(id blackboard.Identity) *blackboard.Board {
	b := d.open(id)
	d.boards = append(d.boards, b)
	return b
}

// supervise begins a new run: the one before is gone, and what it knew.
func (d *drive) supervise(patience int64) {
	d.t.Helper()
	d.number++
	holder, err := supervisor.Self()
	if err != nil {
		d.t.Fatal(err)
	}
	id, err := blackboard.NewIdentity(message.AgentID(fmt.Sprintf("supervisor-%d", d.number)))
	if err != nil {
		d.t.Fatal(err)
	}
	p := loop.PolicyOf(d.cfg)
	p.Thinks, p.MemoryResident, p.Began, p.OutageMS = thinksOf(d.cfg), true, d.clock.Now(), patience
	p.Boot, _ = d.clock.Awake()
	p.BackoffMaxMS = longestPause.Milliseconds()
	var where supervisor.Worktrees
	if d.starter != nil {
		where = d.starter.Worktrees
	}
	d.starter = &supervisor.Starter{Board: d.keep(id), Policy: p, Clock: d.clock, NewID: uuid.NewString, Holder: holder,
		LeaseMS: d.cfg.Limits.LeaseMS, As: message.Supervisor, Worktrees: where}
}

// worktrees is where coders work; nil for goals without.
func (d *drive) worktrees() (supervisor.Worktrees, error) {
	code, err := d.app.codeOf(d.t.Context(), d.starter.Board, d.cfg, d.goal)
	if err != nil || code == nil {
		return nil, err
	}
	d.merges, err = d.app.newIntegrator(d.t.Context(), d.keep(blackboard.Identity{Agent: "supervisor-90", Speaks: []message.Role{message.Supervisor}}), d.cfg)
	return code, err
}

// remember keeps a memory up for as long as the test lasts.
func (d *drive) remember() {
	o := memoryOptions(d.cfg, d.clock.Now)
	o.Distill = memory.FromEvidence
	r := &memory.Resident{Board: d.keep(blackboard.Identity{Agent: "memory-1", Speaks: []message.Role{message.Memory}}), Dir: memoryDir(d.root), Options: o,
		SettleMS: d.cfg.Memory.SettleMS}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	d.t.Cleanup(func() {
		stop()
		if err := <-done; err != nil && ctx.Err() == nil {
			d.t.Error(err)
		}
	})
}

// run works until the goal has ended or waits for a person.
func (d *drive) run() blackboard.Goal {
	d.t.Helper()
	controller := controllerOf(d.keep(theController), d.cfg)
	controller.Now = d.clock.Now
	for range 500 {
		if _, err := d.starter.Housekeep(d.t.Context(), &supervisor.Processes{}); err != nil {
			d.t.Fatal(err)
		}
		if err := controller.Answer(d.t.Context(), d.goal); err != nil {
			d.t.Fatal(err)
		}
		if d.merges != nil {
			if err := d.merges.All(d.t.Context()); err != nil {
				d.t.Fatal(err)
			}
		}
		d.answered()
		g, due := d.look()
		switch {
		case g.Status == blackboard.GoalEnded || g.Suspended != nil:
			return g
		case len(due) == 0:
			continue
		}
		a := due[0]
		for _, other := range due { // what can start now keeps nobody waiting
			if other.NotBefore.Before(a.NotBefore) {
				a = other
			}
		}
		if wait := a.NotBefore.Sub(d.clock.Now()); wait > 0 {
			d.wait(g, wait)
			continue
		}
		d.act(a)
	}
	d.t.Fatal("it never comes to rest")
	return blackboard.Goal{}
}

// wait moves the clock. A supervisor that is killed meanwhile leaves nothing but
// the log, and the next one tries at once.
func (d *drive) wait(g blackboard.Goal, by time.Duration) {
	var provider bool
	if err := d.starter.Board.View(d.t.Context(), func(s *blackboard.State) error { _, provider = loop.WaitsForProvider(s, g); return nil }); err != nil {
		d.t.Fatal(err)
	}
	if !provider {
		d.clock.pass(by)
		return
	}
	d.waits = append(d.waits, by)
	if d.killAt > 0 && len(d.waits) == d.killAt {
		d.clock.pass(by / 2)
		d.supervise(d.starter.Policy.OutageMS)
		return
	}
	d.clock.pass(by)
}

func (d *drive) look() (g blackboard.Goal, due []loop.Activation) {
	d.t.Helper()
	if err := d.starter.Board.View(d.t.Context(), func(s *blackboard.State) error {
		g, _ = s.Goal(d.goal)
		due = loop.Due(s, d.starter.Policy, d.clock.Now())
		return nil
	}); err != nil {
		d.t.Fatal(err)
	}
	return g, due
}

// answered waits until the memory has answered every question.
func (d *drive) answered() {
	d.t.Helper()
	until(d.t, "the memory answers", func() bool {
		open := map[message.ID]bool{}
		for m, err := range d.starter.Board.Messages(1) {
			if err != nil {
				d.t.Fatal(err)
			}
			switch m.Body.(type) {
			case message.MemoryQuery:
				open[m.ID] = true
			case message.MemoryAnswer, message.MemoryTimeout:
				delete(open, m.Cause)
			}
		}
		return len(open) == 0
	})
}

// act does one step in this process, as its own would.
func (d *drive) act(a loop.Activation) {
	d.t.Helper()
	ctx := d.t.Context()
	c, err := d.starter.Start(ctx, a)
	if err != nil {
		d.t.Fatal(err)
	}
	b := d.open(stepIdentity(c.Agent, a.Key.Role))
	defer b.Close()
	if _, err := d.app.adopt(ctx, b, &c); err != nil {
		d.t.Fatal(err)
	}
	r, acted := d.app.act(ctx, b, d.root, c)
	d.clock.pass(aStep)
	end := supervisor.End{Exit: step.ExitCode(acted), Class: classOf(acted), Detail: r.Detail, Usage: r.Usage, Cost: r.Cost, DurationMS: aStep.Milliseconds(),
		Spent: r.Spent, Needs: r.Needs, Down: r.Down}
	if r.Down != nil && end.Class == message.EndAgain {
		end.Class = message.EndOutage
	}
	if err := d.starter.End(ctx, c, end); err != nil {
		d.t.Fatal(err)
	}
}

// goesOn is what a person does who is told that the goal waits: orch run --continue.
func (d *drive) goesOn() {
	d.t.Helper()
	b := d.open(person())
	defer b.Close()
	if _, err := b.Append(d.t.Context(), message.Message{Goal: d.goal, Subject: string(d.goal), Body: message.Unblocked{Reason: "orch run --continue"}}); err != nil {
		d.t.Fatal(err)
	}
	d.supervise(d.starter.Policy.OutageMS)
}

// story is what is on the log of a goal but for how often it was tried: what was
// said, done, judged, decided and learned. Tasks that do not need each other may
// come in another order, so that it is sorted.
func (d *drive) story() (lines []string) {
	d.t.Helper()
	for m, err := range d.starter.Board.Messages(1) {
		if err != nil {
			d.t.Fatal(err)
		}
		switch b := m.Body.(type) {
		case message.Outage, message.StepStarting, message.StepEnded, message.Registered, message.Deregistered, message.LeaseExtended,
			message.Claimed, message.Released, message.ReviewClaimed, message.ReviewReleased, message.CheckpointReached, message.Unblocked:
			// how it was tried
		case message.ToolStarted:
			if !strings.HasPrefix(b.Tool, "agent:") {
				lines = append(lines, "starts "+b.Tool)
			}
		case message.ToolCall:
			if !strings.HasPrefix(b.Tool, "agent:") {
				lines = append(lines, fmt.Sprintf("%s ends with %d", b.Tool, b.Exit))
			}
		case message.ExecutionResult:
			lines = append(lines, fmt.Sprintf("attempt %d: %s %s", b.Attempt, b.Status, b.Reason))
		case message.SubTaskOutcome:
			lines = append(lines, fmt.Sprintf("outcome: %s", b.Status))
		case message.Megram:
			lines = append(lines, fmt.Sprintf("learned: %s %s %.2f", b.Space, b.Entity, b.F))
		case message.FinalResult:
			lines = append(lines, fmt.Sprintf("final: %s after %d replans, unmet %d", b.Directive, b.Replans, len(b.UnmetCriteria)))
		default:
			lines = append(lines, string(m.Type()))
		}
	}
	slices.Sort(lines)
	return lines
}
