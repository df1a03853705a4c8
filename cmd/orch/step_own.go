package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/loop"
	"orch/roles/run/config"
	"orch/roles/run/step"
	"orch/roles/run/supervisor"
)

// ownStep is a step without a supervisor: it tidies up, picks, claims, acts and
// closes by itself.
func (a *app) ownStep(ctx context.Context, role message.Role, f stepFlags) error {
	root, err := a.root()
	if err != nil {
		return err
	}
	cfg, err := a.trustedConfig(ctx, root)
	if err != nil {
		return err
	}
	c, st, err := a.pick(ctx, root, cfg, role, f.subject)
	if err != nil {
		return err
	}
	defer st.Board.Close()
	b, err := a.openAt(root, stepIdentity(c.Agent, role))
	if err != nil {
		return err
	}
	defer b.Close()
	b.unsure = role == message.Executor // an edit of the view may be of its commands
	me, err := a.adopt(ctx, b.Board, &c)
	if err != nil {
		return err
	}
	defer a.stayRegistered(b.Board, c.Activation.Goal, me)()
	guard, err := a.guardOf(ctx, st.Board, cfg, c) // it speaks as the supervisor
	if err != nil {
		return err
	}
	began := time.Now()
	report, acted := a.actOnTheBranch(ctx, b.Board, st.Board, cfg, c)
	if guard != nil {
		acted = errors.Join(acted, guard.look(context.WithoutCancel(ctx), c))
	}
	end := supervisor.End{Exit: step.ExitCode(acted), Class: classOf(acted), Detail: report.Detail, Usage: report.Usage, Cost: report.Cost,
		DurationMS: time.Since(began).Milliseconds(), Spent: report.Spent, Needs: report.Needs, Down: report.Down, Short: report.Short}
	if report.Down != nil && end.Class == message.EndAgain {
		end.Class = message.EndOutage
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	return errors.Join(asStepExit(acted), st.End(closing, c, end))
}

// actOnTheBranch does the activation. Before a coding goal is judged it looks at
// the branch: what a step added to it was reviewed by nobody.
func (a *app) actOnTheBranch(ctx context.Context, b, supervises *blackboard.Board, cfg config.Config, c supervisor.Claim) (supervisor.Report, error) {
	drift := ""
	if c.Activation.Key.Role == message.MetaValidator {
		p, err := a.codeOf(ctx, b, cfg, c.Activation.Goal)
		var guard *checkoutGuard
		if err == nil && p != nil {
			guard, err = a.branchGuard(ctx, cfg, p, supervises, c.Activation.Goal)
		}
		if err == nil && guard != nil {
			drift, err = guard.lookAtBranch(ctx, c.Activation.Key.Cause, judgedNext)
		}
		if err != nil {
			return supervisor.Report{Detail: err.Error()}, err
		}
	}
	if drift != "" {
		return supervisor.Report{Detail: drift}, fmt.Errorf("%w: %s", step.ErrWaits, drift)
	}
	return a.act(ctx, b, b.Root(), c)
}

func classOf(err error) string {
	switch {
	case errors.Is(err, context.Canceled):
		return message.EndInterrupted
	case step.ExitCode(err) == step.ExitDone:
		return message.EndDone
	case errors.Is(err, step.ErrMoved):
		return message.EndMoved
	case errors.Is(err, step.ErrKilled):
		return message.EndKilled
	case step.NotJudged(err):
		return message.EndUnjudged
	case step.ExitCode(err) == step.ExitAgain:
		return message.EndAgain
	}
	return message.EndCrash
}

// pick claims what is due for a role, as a supervisor of its own.
func (a *app) pick(ctx context.Context, root string, cfg config.Config, role message.Role, subject string) (supervisor.Claim, *supervisor.Starter, error) {
	b, err := blackboard.Open(root, a.options(blackboard.Identity{Agent: "supervisor-1", Speaks: []message.Role{message.Supervisor}}))
	if err != nil {
		return supervisor.Claim{}, nil, err
	}
	policy := loop.PolicyOf(cfg)
	policy.Thinks = thinksOf(cfg)
	policy.MemoryResident = memoryServed(root)
	policy.Boot, _ = supervisor.SystemClock{}.Awake()
	holder, err := supervisor.Self()
	if err != nil {
		return supervisor.Claim{}, nil, errors.Join(err, b.Close())
	}
	st := &supervisor.Starter{Board: b, Policy: policy, Clock: supervisor.SystemClock{}, NewID: uuid.NewString,
		Holder: holder, LeaseMS: cfg.Limits.LeaseMS, As: message.Supervisor}
	c := supervisor.Claim{}
	if role == message.Coder {
		st.Worktrees, err = a.worktrees(ctx, b, cfg)
	}
	if err == nil {
		c, err = a.pickWith(ctx, st, cfg, role, subject)
	}
	if err != nil {
		return c, nil, errors.Join(err, b.Close())
	}
	return c, st, nil
}

func (a *app) pickWith(ctx context.Context, st *supervisor.Starter, cfg config.Config, role message.Role, subject string) (supervisor.Claim, error) {
	said, err := st.Housekeep(ctx, &supervisor.Processes{})
	if told := supervisor.Escalate(ctx, st.Board, a.hooks(st.Board, cfg), said); told != nil {
		a.warn(told)
	}
	if err != nil {
		return supervisor.Claim{}, err
	}
	var due []loop.Activation
	open := 0
	err = st.Board.View(ctx, func(s *blackboard.State) error {
		due = loop.Due(s, st.Policy, time.Now())
		open = len(s.OpenGoals())
		return nil
	})
	if err != nil {
		return supervisor.Claim{}, err
	}
	due = slices.DeleteFunc(due, func(d loop.Activation) bool {
		return d.Key.Role != role || subject != "" && d.Key.Subject != subject || d.NotBefore.After(time.Now())
	})
	for _, d := range due {
		c, err := st.Start(ctx, d)
		if errors.Is(err, supervisor.ErrNotDue) || supervisor.Refused(err) {
			continue
		}
		return c, err
	}
	if subject != "" {
		return supervisor.Claim{}, usagef("orch status, orch why "+subject, "nothing is due for %s on %s", role, subject)
	}
	if open > 0 {
		return supervisor.Claim{}, &exitError{code: exitAgain}
	}
	sayLine(a.err, "idle: no goal is open")
	return supervisor.Claim{}, &exitError{code: exitOK}
}
