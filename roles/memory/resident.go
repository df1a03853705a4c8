package memory

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"sync"
	"time"

	"orch/blackboard"
	"orch/blackboard/crash"
	"orch/blackboard/message"
)

// Board is what the resident needs of the blackboard. *blackboard.Board is one.
type Board interface {
	View(context.Context, func(*blackboard.State) error) error
	Watch(ctx context.Context, from uint64) iter.Seq2[message.Message, error]
	Messages(from uint64) iter.Seq2[message.Message, error]
	Append(context.Context, message.Message, ...blackboard.AppendOption) (message.Message, error)
}

// Resident keeps the store in step with the log, answers every MemoryQuery once,
// and lets the Dreamer work in between.
//
// It knows nothing that is not in the log: killed anywhere, the next one goes on
// from the place the store has, answers what is still open, and makes the passes
// that are due or asked for. A damaged store is moved aside and made again.
type Resident struct {
	Board    Board
	Dir      string // of the store
	Options  Options
	SettleMS int64 // between the end of a goal and the pass that follows it
	EveryMS  int64 // between passes by the clock; 0: none
	PartMS   int64 // for the pass that its end would cut off; 0: none

	mu    sync.RWMutex // held for writing while the store is exchanged
	store *Store
	wake  chan struct{} // something may be due for the Dreamer
}

const heldPause = 50 * time.Millisecond // before a store that somebody looks at is tried again

// Run works until ctx is done, and then returns its error.
func (r *Resident) Run(ctx context.Context) error {
	r.wake = make(chan struct{}, 1)
	if err := r.open(ctx); err != nil {
		return errors.Join(err, r.close())
	}
	dreaming, stop := context.WithCancel(ctx)
	dreamt := make(chan error, 1)
	crash.Go(func() {
		err := r.dreams(dreaming)
		if err != nil && dreaming.Err() == nil {
			stop() // nothing is answered by a memory that can not be written
		}
		dreamt <- err
	})
	err := r.follow(dreaming)
	stop()
	err = first(<-dreamt, err)
	if ctx.Err() != nil {
		err = first(r.part(ctx), ctx.Err())
	}
	return errors.Join(err, r.close())
}

func (r *Resident) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.store == nil {
		return nil
	}
	return r.store.Close()
}

// first is the first error that is not about being stopped.
func first(list ...error) error {
	for _, err := range list {
		if err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
	}
	return list[len(list)-1]
}

// open opens the store and brings it up to the log.
func (r *Resident) open(ctx context.Context) error {
	for {
		s, err := Open(r.Dir, r.Options)
		if err == nil {
			r.store = s
			return r.with(ctx, func(s *Store) error { return s.CatchUp(ctx, r.Board.Messages) })
		}
		var held *HeldError
		if !errors.As(err, &held) {
			return r.orRebuild(ctx, err)
		}
		// A command looks something up, which does not take long.
		pause := time.NewTimer(heldPause)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return ctx.Err()
		}
	}
}

// orRebuild makes the store again if that is what an error asks for.
func (r *Resident) orRebuild(ctx context.Context, err error) error {
	var corrupt *CorruptError
	if !errors.As(err, &corrupt) {
		return err
	}
	return r.rebuild(ctx, "", corrupt.Err.Error())
}

// rebuild makes the store again from the log, and says so. Queries wait.
func (r *Resident) rebuild(ctx context.Context, cause message.ID, reason string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.store != nil {
		_ = r.store.Close() // it is given up anyway
	}
	s, aside, err := Rebuild(ctx, r.Dir, r.Options, r.Board.Messages)
	if err != nil {
		return err
	}
	r.store = s
	if aside != "" {
		aside = filepath.Base(aside)
	}
	return r.say(ctx, cause, message.MemoryRebuilt{Reason: reason, Kept: aside, Through: s.At().Seq})
}

func (r *Resident) say(ctx context.Context, cause message.ID, body message.Body) error {
	_, err := r.Board.Append(ctx, message.Message{From: message.Memory, To: message.DefaultTo(body.Type()), Cause: cause, Body: body})
	if err != nil {
		return fmt.Errorf("say %s: %w", body.Type(), err)
	}
	return nil
}

// with uses the store. If it turns out to be damaged it is made again and used
// a second time.
func (r *Resident) with(ctx context.Context, use func(*Store) error) error {
	once := func() error {
		r.mu.RLock()
		defer r.mu.RUnlock()
		return use(r.store)
	}
	err := once()
	var corrupt *CorruptError
	if !errors.As(err, &corrupt) {
		return err
	}
	if err := r.rebuild(ctx, "", corrupt.Err.Error()); err != nil {
		return err
	}
	return once()
}

// follow indexes what is said and answers what is asked, in the order of the log.
func (r *Resident) follow(ctx context.Context) error {
	if err := r.answerOpen(ctx); err != nil {
		return err
	}
	var at Head
	if err := r.with(ctx, func(s *Store) error { at = s.At(); return nil }); err != nil {
		return err
	}
	for m, err := range r.Board.Watch(ctx, at.Seq+1) {
		if err != nil {
			return fmt.Errorf("follow the log: %w", err)
		}
		if err := r.with(ctx, func(s *Store) error { return s.Apply(ctx, []message.Message{m}) }); err != nil {
			return err
		}
		switch m.Body.(type) {
		case message.MemoryQuery:
			if err := r.answer(ctx, m.Goal); err != nil {
				return err
			}
		case message.DreamRequest, message.FinalResult:
			r.nudge()
		}
	}
	return ctx.Err()
}

func (r *Resident) nudge() {
	select {
	case r.wake <- struct{}{}:
	default: // it will look anyway
	}
}

// answerOpen answers what was asked while nobody was there.
func (r *Resident) answerOpen(ctx context.Context) error {
	var asked []message.GoalID
	err := r.Board.View(ctx, func(s *blackboard.State) error {
		for _, g := range s.OpenGoals() {
			if openQuery(g) != nil {
				asked = append(asked, g.ID)
			}
		}
		return nil
	})
	for _, id := range asked {
		if err == nil {
			err = r.answer(ctx, id)
		}
	}
	return err
}

// openQuery is what the goal's planner waits to hear; nil if it does not wait.
func openQuery(g blackboard.Goal) *message.MemoryQuery {
	if c := g.Calibration; g.Status != blackboard.GoalEnded && c.Query != nil && c.Reply.ID == "" {
		return c.Query
	}
	return nil
}

var errAnswered = errors.New("already answered")

// answer answers the open query of a goal, unless somebody was faster.
func (r *Resident) answer(ctx context.Context, id message.GoalID) error {
	var g blackboard.Goal
	if err := r.Board.View(ctx, func(s *blackboard.State) error { g, _ = s.Goal(id); return nil }); err != nil {
		return err
	}
	q := openQuery(g)
	if q == nil {
		return nil
	}
	var a message.MemoryAnswer
	err := r.with(ctx, func(s *Store) (err error) { a, err = s.Answer(*q); return err })
	if err != nil {
		return fmt.Errorf("answer goal %s: %w", id, err)
	}
	stillOpen := func(s *blackboard.State) error {
		now, _ := s.Goal(id)
		if openQuery(now) == nil || now.Calibration.Asked.ID != g.Calibration.Asked.ID {
			return errAnswered
		}
		return nil
	}
	m := message.Message{From: message.Memory, To: message.Planner, Goal: id, Subject: string(id), Cause: g.Calibration.Asked.ID, Body: a}
	if _, err := r.Board.Append(ctx, m, blackboard.If(stillOpen)); err != nil && !errors.Is(err, errAnswered) {
		return fmt.Errorf("answer goal %s: %w", id, err)
	}
	return nil
}
