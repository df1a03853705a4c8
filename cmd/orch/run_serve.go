package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"orch/blackboard"
	"orch/blackboard/crash"
	"orch/blackboard/message"
	"orch/roles/run/config"
	"orch/roles/run/supervisor"
)

// supervise works on the goal, shows it, and turns its end into an exit code.
// With wait it stays while the goal waits for a person.
func (a *app) supervise(ctx context.Context, root string, cfg config.Config, goal message.GoalID, wait bool) error {
	b, err := a.openSupervisor(ctx, root)
	if err != nil {
		return err
	}
	defer b.Close()
	defer func() {
		b.registered()
		if err := deregister(b.Board, b.agent, "the run ended"); err != nil {
			a.warn(err)
		}
	}()
	for {
		ending, err := a.serveShown(ctx, b, cfg, goal, wait)
		if err != nil {
			return err
		}
		again, err := a.askPerson(ctx, root, b, ending, goal)
		if err != nil {
			return err
		}
		if !again {
			return a.conclude(ctx, b, cfg, ending, goal, false)
		}
	}
}

// serveShown runs the supervisor with the screen following the log beside it.
func (a *app) serveShown(ctx context.Context, b *session, cfg config.Config, goal message.GoalID, wait bool) (supervisor.Ending, error) {
	sv, err := a.newSupervisor(b, cfg, goal, a.asks() || wait) // who lets it wait will answer
	if err != nil {
		return "", err
	}
	s := newScreen(a, cfg)
	if wait {
		sv.Stay, sv.Policy.OutageMS = a.stay(s), cfg.Limits.OutageWaitMS
	}
	var g blackboard.Goal
	var head uint64
	if err := b.View(ctx, func(st *blackboard.State) error {
		g, _ = st.Goal(goal)
		head, _ = st.Head()
		return nil
	}); err != nil {
		return "", err
	}
	followed := a.follow(b, s, g, head)
	ending, err := sv.Run(ctx)
	return ending, errors.Join(err, followed())
}

// follow shows the goal's messages as they land; the returned function waits
// until everything up to the present head is shown.
func (a *app) follow(b *session, s *screen, g blackboard.Goal, head uint64) func() error {
	ctx, cancel := context.WithCancel(context.Background())
	s.start()
	done := make(chan error, 1)
	more := make(chan struct{}, 1) // there after something was shown, until it is looked at
	crash.Go(func() {
		defer close(more)
		done <- a.show(ctx, b, s, g, head, more)
	})
	return func() error {
		defer cancel()
		var last uint64
		if err := b.View(ctx, func(st *blackboard.State) error { last, _ = st.Head(); return nil }); err != nil {
			return err
		}
		for s.shown() < last {
			if _, goesOn := <-more; !goesOn {
				break
			}
		}
		cancel()
		err := <-done
		s.close()
		return err
	}
}

func (a *app) show(ctx context.Context, b *session, s *screen, g blackboard.Goal, head uint64, more chan<- struct{}) error {
	for m, err := range b.Watch(ctx, g.InputRef.Seq) {
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		// What was there before this run is learned, not shown again, except the goal itself.
		history := m.Seq <= head && m.Seq != g.InputRef.Seq
		if m.Goal == g.ID || m.Goal == "" {
			if err := s.add(m, history); err != nil {
				return err
			}
		}
		if err := s.reached(m.Seq); err != nil {
			return err
		}
		select {
		case more <- struct{}{}:
		default:
		}
	}
	return nil
}

// showEnded shows the result of a goal that has ended, does what is left to do
// after its end, and picks the exit code, as the run that ended it; it returns
// false for an open goal.
func (a *app) showEnded(ctx context.Context, root string, cfg config.Config, goal message.GoalID) (ended bool, err error) {
	b, err := a.openAt(root, person())
	if err != nil {
		return false, err
	}
	defer b.Close()
	var g blackboard.Goal
	if err := b.View(ctx, func(st *blackboard.State) error { g, _ = st.Goal(goal); return nil }); err != nil || g.Status != blackboard.GoalEnded {
		return false, err
	}
	if !a.asJSON {
		say(a.out, "ended       %s at %s: nothing is left to do\n", g.ID, g.FinalRef.TS.Format(time.RFC3339))
	}
	s := newScreen(a, cfg)
	for m, err := range b.Messages(g.InputRef.Seq) {
		if err != nil {
			return true, err
		}
		if m.Goal == g.ID {
			if err := s.add(m, m.Seq != g.InputRef.Seq && m.Seq != g.FinalRef.Seq); err != nil {
				return true, err
			}
		}
		if m.Seq == g.FinalRef.Seq {
			break
		}
	}
	s.close()
	return true, a.conclude(ctx, b, cfg, supervisor.Finished, goal, true)
}

// askPerson puts open questions to a person at the terminal.
func (a *app) askPerson(ctx context.Context, root string, b *session, ending supervisor.Ending, goal message.GoalID) (again bool, err error) {
	if ending != supervisor.Waiting || !a.asks() {
		return false, nil
	}
	var g blackboard.Goal
	if err := b.View(ctx, func(st *blackboard.State) error { g, _ = st.Goal(goal); return nil }); err != nil {
		return false, err
	}
	if !hasQuestion(g) {
		return false, nil
	}
	answers := make([]string, len(g.Clarify.Questions))
	lines := bufio.NewScanner(a.in)
	for i, q := range g.Clarify.Questions {
		say(a.out, "? %s\n> ", q)
		if !lines.Scan() {
			break
		}
		answers[i] = strings.TrimSpace(lines.Text())
	}
	return true, a.answer(ctx, root, g, answers)
}

func (a *app) answer(ctx context.Context, root string, g blackboard.Goal, answers []string) error {
	if !slices.ContainsFunc(answers, func(s string) bool { return s != "" }) {
		answers = nil // no answer means proceed
	}
	b, err := a.openAt(root, person())
	if err != nil {
		return err
	}
	defer b.Close()
	_, err = b.Append(ctx, message.Message{From: message.Human, Goal: g.ID, Subject: string(g.ID), Cause: g.Clarify.Asked.ID,
		Body: message.ClarificationAnswer{Round: g.Clarify.Round, Answers: answers}})
	return err
}

// conclude says how the run ended and picks the exit code; again for a goal
// that had ended before this run.
func (a *app) conclude(ctx context.Context, b *session, cfg config.Config, ending supervisor.Ending, goal message.GoalID, again bool) error {
	var g blackboard.Goal
	if err := b.View(context.WithoutCancel(ctx), func(st *blackboard.State) error { g, _ = st.Goal(goal); return nil }); err != nil {
		return err
	}
	code := exitOK
	switch ending {
	case supervisor.Finished:
		if g.Final.Directive == message.Abandon {
			code = exitAbandoned
		}
	case supervisor.Waiting:
		code = exitSuspended
	default:
		code = exitInterrupted
	}
	err := a.lastWords(g, ending, code)
	if isCode(g) && ending == supervisor.Finished {
		err = errors.Join(err, a.finishCode(context.WithoutCancel(ctx), b, cfg, g, again))
	}
	if err != nil || code == exitOK {
		return err
	}
	return &exitError{code: code}
}

// lastWords is the last thing `orch run` prints.
func (a *app) lastWords(g blackboard.Goal, ending supervisor.Ending, code int) error {
	if a.asJSON {
		return writeLine(a.out, map[string]any{"version": 1, "type": "RunEnded", "goal": g.ID, "ending": ending, "exit": code,
			"suspended": g.Suspended, "final": g.Final})
	}
	var err error
	switch {
	case ending == supervisor.Finished && g.Final.Output != "":
		_, err = say(a.out, "\n%s\n", quoted(a.out, strings.TrimRight(g.Final.Output, "\n")))
		if strings.Count(g.Final.Output, "\n") < 15 {
			break
		}
		for _, m := range g.Final.NextMoves { // once more: the output pushed them off the screen
			_, err = say(a.out, "try         %s\n", oneLine(m, 200))
		}
	case ending == supervisor.Waiting:
		what, next := waitsFor(g)
		_, err = say(a.out, "waiting     %s\n            next: %s\n", what, next)
	case ending == supervisor.Interrupted:
		_, err = say(a.out, "interrupted %s stays open\n            next: orch run --continue %s\n", g.ID, g.ID)
	}
	if err == nil && ending == supervisor.Finished {
		_, err = say(a.out, "\nlook back   orch why %s\n            orch log --goal %s\n            .orch/state.yaml\n", g.ID, g.ID)
	}
	return err
}

// executable is the path of this program, for the steps it starts.
func executable() (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	return exe, nil
}
