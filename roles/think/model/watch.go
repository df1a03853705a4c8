package model

import (
	"context"

	"orch/blackboard/message"
)

// Watch is told what a run of an agent program took so far, whenever its stream
// shows more. cost is in US dollars, nil where the program does not say.
type Watch func(took message.Usage, cost *float64)

type watchKey struct{}

// Watched lets whoever runs an agent program under the context tell what it takes.
func Watched(ctx context.Context, w Watch) context.Context {
	return context.WithValue(ctx, watchKey{}, w)
}

// WatchOf is the watch of a context; it may always be called.
func WatchOf(ctx context.Context) Watch {
	if w, ok := ctx.Value(watchKey{}).(Watch); ok {
		return w
	}
	return func(message.Usage, *float64) {}
}
