package view

import (
	"context"

	"orch/blackboard"
	"orch/blackboard/message"
)

var _ State = (*blackboard.State)(nil)

// Of lets a Keeper use a board.
func Of(b *blackboard.Board) Board { return kernel{b} }

type kernel struct{ b *blackboard.Board }

func (k kernel) View(ctx context.Context, f func(State) error) error {
	return k.b.View(ctx, func(s *blackboard.State) error { return f(s) })
}

func (k kernel) StateAt(ctx context.Context, seq uint64) (State, error) {
	s, err := k.b.StateAt(ctx, seq)
	if err != nil {
		return nil, err // not a nil *State in a State
	}
	return s, nil
}

func (k kernel) AppendFunc(ctx context.Context, f func(State) (message.Message, error)) (message.Message, error) {
	return k.b.AppendFunc(ctx, func(s *blackboard.State) (message.Message, error) { return f(s) })
}
