package endpoint

import (
	"context"
	"time"

	"orch/blackboard/lazyregexp"
	"orch/blackboard/message"
	"orch/roles/think/model"
)

// Question is one request to a model, which Ask may send more than once.
type Question struct {
	// Send makes one try. Its Response holds the usage seen so far also when it
	// fails.
	Send func(context.Context) (model.Response, error)
	// Adapt is told what a server would not take, and tells whether Send will
	// now ask for less. It must not return true for ever.
	Adapt func(Refusal) bool
	// Tried is model.Request.Tried.
	Tried func(took message.Usage, doubtful, again bool) error
}

// Refusal is what a server said to a request it may take in a simpler form.
type Refusal struct {
	Status int
	Err    error  // what Send returned
	body   string // in lower case
}

// Names tells whether the server's words hold one of these, in lower case.
func (r Refusal) Names(words ...string) bool { return hasAny(r.body, words...) }

// Find looks for a pattern in the server's words, in lower case.
func (r Refusal) Find(pattern *lazyregexp.Regexp) []string { return pattern.FindStringSubmatch(r.body) }

// Ask puts a question, again after passing failures, until there is an answer,
// a failure that a retry does not help, or no patience left. Every error is a
// *model.Error.
func (e *Endpoint) Ask(ctx context.Context, q Question) (model.Response, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, ms(e.o.WallMS), errWall)
	defer cancel()
	var spent spending
	for retries := 0; ; {
		a := &attempt{}
		res, err := q.Send(context.WithValue(ctx, attemptKey{}, a))
		spent.add(res, a)
		if err == nil {
			res.Usage, res.Cost = spent.usage, spent.cost
			res.Usage.Model = e.name
			return res, nil
		}
		f := e.classify(ctx, a, err)
		f.Usage = spent.usage
		f.Usage.Model = e.name
		var wait time.Duration
		again := refusesPart(f) && q.Adapt(Refusal{f.status, err, f.body})
		if !again {
			retries++
			wait, again = e.patience(ctx, f, retries)
		}
		if q.Tried != nil && q.Tried(res.Usage, a.mayBeBilled(), again) != nil || !again {
			return model.Response{}, f.Error
		}
		if wait == 0 {
			continue
		}
		if err := e.o.Sleep(ctx, wait); err != nil {
			f := e.classify(ctx, &attempt{}, err)
			f.Usage = spent.usage
			f.Usage.Model = e.name
			return model.Response{}, f.Error
		}
	}
}

// patience is how long to wait before one more try, and whether it is worth it.
func (e *Endpoint) patience(ctx context.Context, f failure, retries int) (wait time.Duration, again bool) {
	if !e.again(f, retries) {
		return 0, false
	}
	wait = max(e.wait(f, retries), 1)
	end, ok := ctx.Deadline()
	return wait, f.wait <= ms(e.o.MaxWaitMS) && (!ok || wait <= time.Until(end))
}

// refusesPart tells whether a server may take the question in a simpler form.
func refusesPart(f failure) bool {
	return f.Kind == model.BadRequest || f.Kind == model.Malformed || f.status == 501 ||
		f.Kind == model.Server && f.status == 500
}

// again tells whether one more try is worth it. What is malformed may be a
// stream that was cut politely, so it gets a single second chance.
func (e *Endpoint) again(f failure, retries int) bool {
	switch f.Kind {
	case model.Limit, model.Overloaded, model.Server, model.Unreachable:
		return !f.final && retries <= e.o.Retries
	case model.Malformed:
		return !f.final && retries <= min(1, e.o.Retries)
	}
	return false
}

// wait is how long to wait before a retry: what the server asks for, never
// less, or a doubling backoff. The jitter keeps many steps from coming back
// together.
func (e *Endpoint) wait(f failure, retries int) time.Duration {
	if f.waits {
		return f.wait + time.Duration(e.o.Jitter()*float64(min(f.wait/10, time.Second)))
	}
	backoff := min(ms(e.o.BackoffMS)<<min(retries-1, 20), ms(e.o.MaxWaitMS))
	return backoff/2 + time.Duration(e.o.Jitter()*float64(backoff/2))
}

// spending sums over tries.
type spending struct {
	usage message.Usage
	cost  *float64
}

func (s *spending) add(r model.Response, a *attempt) {
	if a.sent {
		s.usage.ModelCalls++
	}
	s.usage.InputTokens += r.Usage.InputTokens
	s.usage.OutputTokens += r.Usage.OutputTokens
	s.usage.CachedTokens += r.Usage.CachedTokens
	if r.Cost != nil {
		sum := *r.Cost
		if s.cost != nil {
			sum += *s.cost
		}
		s.cost = &sum
	}
}
