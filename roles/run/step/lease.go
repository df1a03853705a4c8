package step

import (
	"context"
	"sync"
	"time"

	"orch/blackboard/message"
)

// Heart extends the lease of a claimed task. It beats only when it is told of
// progress, so that a long but living run keeps its task and a hung one loses
// it. It may be told from any goroutine, for example for each piece of output.
// A nil Heart and one that was not started do nothing.
type Heart struct {
	mu    sync.Mutex
	env   *Env
	ctx   context.Context
	stop  context.CancelCauseFunc
	last  time.Time
	every time.Duration
}

// start lets the heart beat for a claim whose lease was given now. When the
// claim turns out to be lost, the returned context ends with that as its cause.
func (h *Heart) start(ctx context.Context, e *Env) (context.Context, context.CancelFunc) {
	h.mu.Lock()
	defer h.mu.Unlock()
	working, stop := context.WithCancelCause(ctx)
	h.env, h.ctx, h.stop, h.last = e, ctx, stop, e.Clock.Now()
	h.every = time.Duration(e.Config.Limits.LeaseMS) * time.Millisecond / 3
	return working, func() { stop(nil) }
}

// Work returns a context for the work under the claim: it ends, with the
// reason as its cause, when the claim is lost.
func (e *Env) Work(ctx context.Context) (context.Context, context.CancelFunc) {
	if e.Heart == nil {
		e.Heart = &Heart{}
	}
	return e.Heart.start(ctx, e)
}

// Beat extends the lease if a third of it is used up.
func (h *Heart) Beat(progress string) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.env == nil || h.env.Fence == 0 {
		return
	}
	now := h.env.Clock.Now()
	if now.Sub(h.last) < h.every {
		return
	}
	h.last = now
	_, err := h.env.Say(h.ctx, message.LeaseExtended{
		Task: h.env.Task(), Agent: h.env.Agent, Fence: h.env.Fence, Lease: h.env.Lease(), Progress: progress,
	})
	if err != nil {
		h.stop(err)
	}
}
