package choose

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"orch/blackboard/message"
	"orch/roles/run/config"
	"orch/roles/think/model"
)

// Purse keeps the caps: it sets money aside before a question is sent, so that
// all processes see it.
type Purse interface {
	// Reserve sets aside what is wanted, beyond what the step's books say.
	Reserve(ctx context.Context, w Want, books Books) (Grant, error)
	// Settle puts the books on record, after a question was answered or failed.
	Settle(ctx context.Context, books Books) error
}

// Want is what a question may cost, in US dollars.
type Want struct {
	Least, Most float64
	// Share asks for what a run of an agent program usually takes, and at least
	// for Least; Most does not count.
	Share bool
}

// Books are what a step spent and reserved so far.
type Books struct {
	Model    string  // that is asked
	Reserved float64 // US dollars, by the questions under way
	Spent    []message.Spent
}

// Grant is what was set aside.
type Grant struct {
	Capped bool // a cap bounds it; without one nothing is set aside
	USD    float64
	Short  *message.BudgetReached // the cap that does not leave the least; nil if all do
	Waits  bool                   // somebody's unanswered question may leave more of it
}

// Bounds of a question under a cap, in tokens.
const (
	// defaultOutput is the limit of an answer when nobody set one.
	defaultOutput = 8192
	// leastOutput is the lowest limit an answer is given because of a cap.
	leastOutput = 1000
	// overhead is what a provider may add to the input by itself.
	overhead = 1000
)

// purseWait is how long a question that does not fit waits before it looks again.
const purseWait = 100 * time.Millisecond

// inputAtMost bounds the tokens of a question: none stands for less than a byte.
// A schema or tool may reach the model in a longer form than it is written in.
func inputAtMost(r model.Request) int64 {
	n := overhead + len(r.System)
	for _, t := range r.Turns {
		n += 16 + len(t.Text) + len(t.Echo)
		for _, c := range t.Calls {
			n += 32 + len(c.Name) + len(c.Input)
		}
		for _, res := range t.Results {
			n += 32 + len(res.Text)
		}
	}
	for _, t := range r.Tools {
		n += 64 + 2*(len(t.Name)+len(t.Description)+len(t.Input))
	}
	if r.Schema != nil {
		n += 2 * (len(r.Schema.Name) + len(r.Schema.JSON))
	}
	return int64(n)
}

// question is one question, or one run of an agent program, from its reservation
// to its bill.
type question struct {
	m      *Meter
	e      Entry
	name   string
	price  config.Price
	capped bool
	need   float64       // what one try may cost, in US dollars
	held   float64       // set aside now
	tried  bool          // the client tells of each try
	booked message.Usage // of tries that failed

	usage   message.Usage // of a run, as its stream shows it
	known   float64       // cost of that
	largest float64       // step of it
}

// question sets aside what a question may cost and gives its answer a limit. A
// question that costs nothing, or that nobody knows the price of, is asked as it is.
func (m *Meter) question(ctx context.Context, e Entry, name string, req model.Request) (*question, model.Request, error) {
	q := &question{m: m, e: e, name: name}
	p, priced := PriceOf(m.Config, e, e.Model.Name)
	switch {
	case m.Purse == nil, priced && p.In+p.Out == 0:
		return q, req, nil
	case !priced: // a cap on it cannot be kept, but one that is passed ends the step
		return q, req, q.reserve(ctx, Want{})
	}
	q.price = p
	option, _ := strconv.Atoi(e.Options["max_output_tokens"]) // checked when the client was made
	limit := int64(cmp.Or(req.MaxOutputTokens, option, defaultOutput))
	in := inputAtMost(req)
	w := Want{Least: atMost(p, in, min(limit, leastOutput)), Most: atMost(p, in, limit)}
	if err := q.reserve(ctx, w); err != nil || !q.capped {
		return q, req, err
	}
	if q.held < w.Most && p.Out > 0 {
		limit = max(min(limit, leastOutput), min(limit, int64((q.held-atMost(p, in, 0))*1e6/p.Out)))
	}
	req.MaxOutputTokens, req.Bounded, req.Tried = int(limit), true, q.try(ctx)
	return q, req, nil
}

// atMost is the greatest cost of so many tokens, in US dollars.
func atMost(p config.Price, in, out int64) float64 {
	dearest := p.In
	if p.Cached != nil {
		dearest = max(p.In, *p.Cached)
	}
	return (float64(in)*dearest + float64(out)*p.Out) / 1e6
}

// reserve sets money aside, or waits for other questions, or stops the step.
func (q *question) reserve(ctx context.Context, w Want) error {
	for {
		g, err := q.m.grant(ctx, w, q.name)
		switch {
		case err != nil:
			return fmt.Errorf("set money aside for %s: %w", q.name, err)
		case !g.Capped:
			return nil
		case g.Short == nil:
			q.capped, q.need, q.held = true, g.USD, q.held+g.USD
			return nil
		case !g.Waits:
			return q.m.isShort(g.Short)
		}
		wait := time.NewTimer(purseWait)
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return context.Cause(ctx)
		}
	}
}

// grant asks the purse once. The books that it sees are those of all questions
// of the step, in one order.
func (m *Meter) grant(ctx context.Context, w Want, name string) (Grant, error) {
	m.pay.Lock()
	defer m.pay.Unlock()
	g, err := m.Purse.Reserve(ctx, w, Books{name, m.held, m.Spent()})
	if err == nil && g.Capped && g.Short == nil {
		m.held += g.USD
	}
	return g, err
}

// isShort stops the step: the caps do not leave what it needs.
func (m *Meter) isShort(c *message.BudgetReached) error {
	m.mu.Lock()
	if m.stopped == nil {
		m.short = c
	}
	m.mu.Unlock()
	return m.stop(fmt.Errorf("%w: the cap on %s leaves too little for the next question: $%.4g of $%.4g are spent, and it may cost $%.4g", ErrWaits, c.Cap, c.Used, c.Limit, c.Needs), "")
}

// try is told of each try that failed. One that may have been billed counts as
// spent at its greatest cost, and the next one needs money of its own.
func (q *question) try(ctx context.Context) func(message.Usage, bool, bool) error {
	return func(u message.Usage, doubtful, again bool) error {
		q.tried = true
		if !doubtful {
			return nil
		}
		known := 0.0
		if u.InputTokens+u.OutputTokens > 0 {
			known, _ = costOf(q.m.Config, q.e, q.name, u, nil)
			q.m.add(q.e, q.name, u, nil)
			q.booked.InputTokens += u.InputTokens
			q.booked.OutputTokens += u.OutputTokens
			q.booked.CachedTokens += u.CachedTokens
		}
		q.doubt(known)
		if !again {
			return nil
		}
		// On record it is still under way: somebody, this step among them, would
		// wait for it.
		if err := q.m.settle(q.name); err != nil {
			return err
		}
		return q.reserve(ctx, Want{Least: q.need, Most: q.need})
	}
}

// doubt books what is set aside as spent, but for what is known and booked, and
// sets nothing aside any more.
func (q *question) doubt(known float64) {
	rest := max(0, q.held-known)
	q.release()
	q.m.mu.Lock()
	defer q.m.mu.Unlock()
	s := q.m.entry(q.name)
	s.Unpriced, s.Doubt = true, s.Doubt+rest
}

func (q *question) release() {
	q.m.pay.Lock()
	q.m.held = max(0, q.m.held-q.held)
	q.m.pay.Unlock()
	q.held = 0
}

// end books what the question took and puts that on record. useful tells
// whether there is an answer, of use or not.
func (q *question) end(u message.Usage, stated *float64, err error, answered bool) {
	switch {
	case answered:
		if known := q.m.add(q.e, q.name, q.rest(u), stated); !known && q.capped {
			q.doubt(0)
		}
	default:
		known := q.m.failed(q, err)
		if !q.tried && mayBeBilled(err) && q.paid() {
			q.doubt(known)
		}
	}
	if !q.capped {
		return
	}
	q.release()
	if err := q.m.settle(q.name); err != nil {
		q.m.Log("what %s took is not on record: %v", q.name, err)
	}
}

// settle puts the books on record, also those of a question that was called off.
func (m *Meter) settle(name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	m.pay.Lock()
	defer m.pay.Unlock()
	return m.Purse.Settle(ctx, Books{name, m.held, m.Spent()})
}

// rest is a usage without what is booked already.
func (q *question) rest(u message.Usage) message.Usage {
	u.InputTokens -= q.booked.InputTokens
	u.OutputTokens -= q.booked.OutputTokens
	u.CachedTokens -= q.booked.CachedTokens
	return u
}

func (q *question) paid() bool { return Paid(q.m.Config, q.e) }

// mayBeBilled tells whether a question that failed may have been answered, as
// far as the provider is concerned.
func mayBeBilled(err error) bool {
	failure, ok := errors.AsType[*model.Error](err)
	if !ok {
		return err != nil // it was called off
	}
	switch failure.Kind {
	case model.Auth, model.UsedUp, model.Limit, model.Overloaded, model.Server, model.BadRequest, model.Unreachable:
		return false
	}
	return failure.Status < 300
}
