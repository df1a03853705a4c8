package supervisor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/loop"
)

// ErrNotDue is returned when somebody else started the activation first, or
// the board moved on.
var ErrNotDue = errors.New("the activation is no longer due")

// Clock tells wall time, and awake time since boot for leases.
type Clock interface {
	Now() time.Time
	// Awake is the id of this boot and the milliseconds this machine has been
	// awake in it.
	Awake() (boot string, ms int64)
}

// Claim is a started activation: who acts, under which marker and fence.
type Claim struct {
	Activation loop.Activation
	Agent      message.AgentID
	Marker     string
	Fence      message.Fence // 0 for roles that hold no task
	Try        int
}

// Starter claims activations. The claims are conditional, so of any number of
// starters on one board exactly one gets each.
type Starter struct {
	Board   *blackboard.Board
	Policy  loop.Policy
	Clock   Clock
	NewID   func() string
	Holder  message.Process // the process that will see the step through
	LeaseMS int64
	As      message.Role // the role the claim is said in: supervisor, or the step's own
	// Worktrees says where coders work; nil where there are none.
	Worktrees Worktrees
}

// Worktrees decides where coders work and from which commit they begin. The
// step makes what is decided here.
type Worktrees interface {
	// Base is the commit new work begins at.
	Base(ctx context.Context, goal message.GoalID) (commit string, err error)
	// Path is the worktree of a new claim.
	Path(goal message.GoalID, task message.TaskID, coder message.AgentID, fence message.Fence) string
}

// Start claims one activation and, for a role that holds tasks, the task. The
// claim is durable when it returns.
func (s *Starter) Start(ctx context.Context, a loop.Activation) (Claim, error) {
	c := Claim{Activation: a, Marker: s.NewID()}
	started, err := s.Board.AppendFunc(ctx, func(st *blackboard.State) (message.Message, error) {
		if !loop.IsDue(st, s.Policy, s.Clock.Now(), a.Key) {
			return message.Message{}, ErrNotDue
		}
		prior, _ := st.Activation(a.Key)
		c.Try = prior.Try + 1
		agent, ok := loop.AgentFor(st, s.Policy, a)
		if !ok {
			return message.Message{}, ErrNotDue
		}
		c.Agent = agent
		return s.message(a, message.StepStarting{
			Role: a.Key.Role, Subject: a.Key.Subject, Cause: a.Key.Cause, Agent: c.Agent, Marker: c.Marker,
			Try: c.Try, Holder: s.Holder, Reason: a.Reason,
		}), nil
	})
	if err != nil {
		return Claim{}, err
	}
	claim := s.claimTask
	switch {
	case a.Key.Role == message.CodeReviewer:
		claim = s.claimReview
	case !loop.Holds(a.Key.Role):
		return c, s.Board.Barrier(ctx, started.Seq)
	}
	if err := claim(ctx, &c); err != nil {
		detail := "the task was taken"
		if _, ok := errors.AsType[*UnfitError](err); ok {
			detail = err.Error()
		}
		return Claim{}, errors.Join(err, s.End(ctx, c, End{Exit: 42, Class: message.EndAgain, Detail: detail}))
	}
	return c, nil // the claim is behind StepStarting, so that is durable as well
}

// claimReview gives the review of a task to a reviewer. A claim that is set
// and has not lapsed is somebody else's.
func (s *Starter) claimReview(ctx context.Context, c *Claim) error {
	task := message.TaskID(c.Activation.Key.Subject)
	claimed, err := s.Board.AppendFunc(ctx, func(st *blackboard.State) (message.Message, error) {
		t, ok := st.Task(task)
		if !ok {
			return message.Message{}, fmt.Errorf("claim the review of %s: no such task", task)
		}
		c.Fence = t.Review.Fence + 1
		m := s.message(c.Activation, message.ReviewClaimed{Task: task, ReviewingBy: c.Agent, Fence: c.Fence, ReviewLeaseExpires: NewLease(s.Clock, s.LeaseMS)})
		m.Fence = c.Fence
		return m, nil
	})
	if err != nil {
		return fmt.Errorf("claim the review of %s: %w", task, err)
	}
	return s.Board.Barrier(ctx, claimed.Seq)
}

// claimTask gives a task to its holder, and a coder the place to work at it.
func (s *Starter) claimTask(ctx context.Context, c *Claim) error {
	task := message.TaskID(c.Activation.Key.Subject)
	base := ""
	if c.Activation.Key.Role == message.Coder && s.Worktrees != nil {
		var err error
		if base, err = s.Worktrees.Base(ctx, c.Activation.Goal); err != nil {
			return fmt.Errorf("claim %s: %w", task, unfit(err))
		}
	}
	claimed, err := s.Board.AppendFunc(ctx, func(st *blackboard.State) (message.Message, error) {
		t, ok := st.Task(task)
		if !ok {
			return message.Message{}, fmt.Errorf("claim %s: no such task", task)
		}
		if err := st.CanClaim(t); err != nil {
			return message.Message{}, err
		}
		c.Fence = t.Fence + 1
		claim := message.Claimed{Task: task, Agent: c.Agent, Fence: c.Fence, Lease: NewLease(s.Clock, s.LeaseMS)}
		switch {
		case base == "":
		case loop.GoesOn(t, c.Agent):
			claim.Worktree, claim.BaseCommit = t.Work, t.Base
		default:
			claim.Worktree, claim.BaseCommit = s.Worktrees.Path(t.Goal, task, c.Agent, c.Fence), base
		}
		m := s.message(c.Activation, claim)
		m.Fence = c.Fence
		return m, nil
	})
	if err != nil {
		return fmt.Errorf("claim %s: %w", task, err)
	}
	return s.Board.Barrier(ctx, claimed.Seq)
}

// End is how a step ended.
type End struct {
	Exit       int
	Class      string // one of the message.End… classes
	Detail     string
	Usage      message.Usage
	Cost       float64 // US dollars
	DurationMS int64
	Survivors  int
	Spent      []message.Spent        // by model
	Needs      string                 // what a person must mend before it is worth starting again
	Down       *Down                  // that no provider answered, with class outage
	Short      *message.BudgetReached // the cap that left no room for its next question
	Unable     error                  `json:"-"` // what the supervisor itself lacks to start steps; it ends
}

// NeedsPerson names the checkpoint of a step that a person must help.
const NeedsPerson = "needs-you"

// End closes a claim. A claim that somebody else closed already stays as it is.
// What keeps the step from being started at once is said before its end, and its
// task is given back before it: of a step that has ended nobody knows what it
// held, so that the lease would have to be waited for if this were cut off in between.
func (s *Starter) End(ctx context.Context, c Claim, e End) error {
	k := c.Activation.Key
	if err := s.hold(ctx, c, e); err != nil {
		return err
	}
	if err := s.down(ctx, c, e); err != nil {
		return err
	}
	if err := s.short(ctx, c, e); err != nil {
		return err
	}
	if err := s.release(ctx, c, e.Class); err != nil {
		return err
	}
	_, err := s.Board.AppendFunc(ctx, func(st *blackboard.State) (message.Message, error) {
		live, ok := st.Activation(k)
		if !ok || !live.Live() || live.Marker != c.Marker {
			return message.Message{}, errClosed
		}
		return s.message(c.Activation, loop.Billed(live, message.StepEnded{
			Role: k.Role, Subject: k.Subject, Cause: k.Cause, Agent: c.Agent, Exit: e.Exit, Class: e.Class, Detail: e.Detail,
			Usage: e.Usage, Cost: e.Cost, DurationMS: e.DurationMS, Survivors: e.Survivors, Spent: e.Spent,
		})), nil
	})
	if err != nil && !errors.Is(err, errClosed) {
		return fmt.Errorf("close step %s on %s: %w", k.Role, k.Subject, err)
	}
	return nil
}

// hold suspends the goal of a step that a person must help first.
func (s *Starter) hold(ctx context.Context, c Claim, e End) error {
	if e.Needs == "" {
		return nil
	}
	_, err := s.Board.Append(ctx, s.message(c.Activation, message.CheckpointReached{Name: NeedsPerson, Reason: e.Needs}))
	if err != nil && !Refused(err) {
		return fmt.Errorf("say why %s on %s waits: %w", c.Activation.Key.Role, c.Activation.Key.Subject, err)
	}
	return nil
}

// down says that no provider answered a step, and when it is tried again.
func (s *Starter) down(ctx context.Context, c Claim, e End) error {
	if e.Down == nil || e.Class != message.EndOutage {
		return nil
	}
	k := c.Activation.Key
	_, err := s.Board.AppendFunc(ctx, func(st *blackboard.State) (message.Message, error) {
		live, ok := st.Activation(k)
		if !ok || !live.Live() || live.Marker != c.Marker {
			return message.Message{}, errClosed
		}
		return s.message(c.Activation, loop.OutageOf(live, s.Policy, e.Down.Accounts, e.Down.Reason, s.Clock.Now().UTC())), nil
	})
	if err != nil && !errors.Is(err, errClosed) {
		return fmt.Errorf("say that nobody answers %s on %s: %w", k.Role, k.Subject, err)
	}
	return nil
}

// short suspends the goal of a step whose next question no cap left room for. A
// cap that was raised since is asked about by the next try.
func (s *Starter) short(ctx context.Context, c Claim, e End) error {
	if e.Short == nil || e.Class != message.EndAgain {
		return nil
	}
	_, err := s.Board.AppendFunc(ctx, func(st *blackboard.State) (message.Message, error) {
		g, ok := st.Goal(c.Activation.Goal)
		now := loop.RoomOf(st, s.Policy, c.Activation)
		if !ok || g.Status != blackboard.GoalOpen || now.Cap == nil || now.Cap.Cap == e.Short.Cap && now.Cap.Limit > e.Short.Limit {
			return message.Message{}, errClosed
		}
		m := s.message(c.Activation, *e.Short)
		m.To = message.Human
		return m, nil
	})
	if err != nil && !errors.Is(err, errClosed) && !Refused(err) {
		return fmt.Errorf("say that a cap stops %s on %s: %w", c.Activation.Key.Role, c.Activation.Key.Subject, err)
	}
	return nil
}

var errClosed = errors.New("the step is closed already")

// release gives back a task whose step ended while it still held it.
func (s *Starter) release(ctx context.Context, c Claim, class string) error {
	if c.Fence == 0 {
		return nil
	}
	task := message.TaskID(c.Activation.Key.Subject)
	_, err := s.Board.AppendFunc(ctx, func(st *blackboard.State) (message.Message, error) {
		t, ok := st.Task(task)
		if ok && c.Activation.Key.Role == message.CodeReviewer && t.Review.Reviewer == c.Agent && t.Review.Fence == c.Fence {
			return s.message(c.Activation, message.ReviewReleased{Task: task, Fence: c.Fence, Reason: "the step ended: " + class}), nil
		}
		if !ok || t.Status != blackboard.Claimed || t.Fence != c.Fence || c.Activation.Key.Role == message.CodeReviewer {
			return message.Message{}, errClosed
		}
		m := s.message(c.Activation, message.Released{Task: task, Agent: c.Agent, Fence: c.Fence, Reason: "the step ended: " + class})
		m.Fence = c.Fence
		return m, nil
	})
	if err != nil && !errors.Is(err, errClosed) {
		return fmt.Errorf("release %s: %w", task, err)
	}
	return nil
}

func (s *Starter) message(a loop.Activation, body message.Body) message.Message {
	return message.Message{From: s.As, To: message.All, Goal: a.Goal, Subject: a.Key.Subject, Cause: a.Key.Cause, Body: body}
}

// NewLease is a lease that ends after the given awake time.
func NewLease(c Clock, lengthMS int64) message.Lease {
	boot, awake := c.Awake()
	return message.Lease{Boot: boot, AwakeMS: awake + lengthMS, ExpiresAt: c.Now().UTC().Add(time.Duration(lengthMS) * time.Millisecond)}
}
