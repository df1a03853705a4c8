package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/blackboard/view"
)

// session is an open board together with the view it keeps fresh.
type session struct {
	*blackboard.Board
	keeper     *view.Keeper
	fresh      *freshView // sees to the view until the session does
	hands      func() (*blackboard.Board, error)
	agent      message.AgentID
	warn       func(error)
	registered func() // ends the renewal of its registration; nil without one
	unsure     bool   // an edit of the view waits, because it may not be a person's
}

// Close leaves the view as fresh as the log, unless another process is about to.
func (s *session) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	s.fresh.stop()
	s.tend(ctx, s.keeper.Flush)
	return s.Board.Close()
}

// tend writes the view, and takes a person's edit of it in first if there is one.
func (s *session) tend(ctx context.Context, write func(context.Context, view.Board) (view.Freshness, error)) view.Freshness {
	f, err := write(ctx, view.Of(s.Board))
	if err == nil && f.Edited {
		err = s.importEdit(ctx)
		if err == nil {
			f, err = write(ctx, view.Of(s.Board))
		}
	}
	if err != nil && ctx.Err() == nil {
		s.warn(fmt.Errorf("keep state.yaml fresh: %w", err))
	}
	s.fresh.a.sayRenewed(f)
	return f
}

// open opens the board of the project to write to it as one agent.
func (a *app) open(id blackboard.Identity) (*session, error) {
	root, err := a.root()
	if err != nil {
		return nil, err
	}
	return a.openAt(root, id)
}

func (a *app) openAt(root string, id blackboard.Identity) (*session, error) {
	o, fresh := a.boardOptions(id)
	b, err := blackboard.Open(root, o)
	if err != nil {
		return nil, err
	}
	if fresh.keeper, err = a.newKeeperOfView(b); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	s := &session{Board: b, keeper: fresh.keeper, fresh: fresh, agent: id.Agent, warn: a.warn}
	if !slices.Contains(id.Speaks, message.Human) {
		s.hands = func() (*blackboard.Board, error) { return blackboard.Open(root, a.options(person())) }
	}
	return s, nil
}

// importEdit takes a person's edits of state.yaml in, or says why not. While a
// step may be running commands nobody confines, an edit could be theirs, so it
// waits for orch task edit accept.
func (s *session) importEdit(ctx context.Context) error {
	if s.unsure {
		return nil
	}
	err := s.View(ctx, func(st *blackboard.State) error {
		for _, a := range st.LiveActivations() {
			s.unsure = s.unsure || a.Role == message.Executor
		}
		return nil
	})
	if err != nil {
		return err
	}
	if s.unsure {
		return hinted{errors.New("state.yaml was edited while a step was running commands; it waits"), "run `orch task edit accept` if the edit is yours"}
	}
	_, err = s.takeIn(ctx)
	return err
}

// takeIn imports until nothing is left that is quiet enough. An edit is a
// person's word, whoever finds it.
func (s *session) takeIn(ctx context.Context) (edits int, err error) {
	b := s.Board
	if s.hands != nil {
		if b, err = s.hands(); err != nil {
			return 0, err
		}
		defer b.Close()
	}
	for {
		r, err := s.keeper.Import(ctx, view.Of(b))
		if err != nil {
			return edits, err
		}
		edits += len(r.Edits)
		if r.Why != "" {
			s.warn(fmt.Errorf("your edit of state.yaml: %s; the file is kept as %s", r.Why, r.Kept))
			m := message.Message{From: message.Board, To: message.Human, Body: r.Refusal()}
			if _, err := b.Append(ctx, m); err != nil {
				return edits, err
			}
		}
		if r.Status == view.Clean || r.Status == view.Waiting {
			return edits, nil
		}
	}
}
