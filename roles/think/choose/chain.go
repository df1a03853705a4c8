package choose

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"orch/blackboard/message"
	"orch/roles/think"
	"orch/roles/think/model"
)

// Link is one entry of a chain with what speaks for it.
type Link struct {
	Entry
	Client model.Client
}

// Client asks the first entry of a chain whose account is free, counts what it
// takes, and goes on with the next one when it fails for a reason that another
// would not have. Once it has moved on it stays there: what one provider said
// is handed to another only in plain words.
type Client struct {
	meter *Meter
	links []Link
	inner bool // an Executor decides what a failure of all links means

	mu     sync.Mutex
	at     int
	echoes map[string]int // of the answers, by the link that gave them
}

// NewClient makes the chain's client; links is not empty.
func NewClient(m *Meter, links []Link) *Client {
	return &Client{meter: m, links: links, echoes: map[string]int{}}
}

// NewInnerClient makes the client of one entry of an Executor, which decides
// what its failures mean.
func NewInnerClient(m *Meter, l Link) *Client {
	return &Client{meter: m, links: []Link{l}, inner: true, echoes: map[string]int{}}
}

// Model is the record name of the entry in use.
func (c *Client) Model() string { return c.current().Client.Model() }

// Account is the account of the entry in use.
func (c *Client) Account() string { return c.current().Account() }

func (c *Client) current() Link {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.links[min(c.at, len(c.links)-1)]
}

// Complete asks one question.
func (c *Client) Complete(ctx context.Context, req model.Request) (model.Response, error) {
	c.mu.Lock()
	from := c.at
	c.mu.Unlock()
	var errs []error
	for i := from; i < len(c.links); i++ {
		l := c.links[i]
		if !c.inner && !c.meter.free(l.Account()) {
			errs = append(errs, c.meter.notAsked(l.Entry, l.Client.Model()))
			continue
		}
		got, err := c.meter.ask(ctx, l, c.plain(req, i))
		if err == nil {
			c.stay(i, got.Echo)
			return got, nil
		}
		if c.inner || ctx.Err() != nil || !c.meter.after(err, l.Entry) {
			if !c.inner {
				err = c.meter.givenUp(err)
			}
			return got, err
		}
		errs = append(errs, err)
		c.passOver(i)
	}
	return model.Response{}, c.meter.exhausted(errs)
}

// ask puts a question under the caps.
func (m *Meter) ask(ctx context.Context, l Link, req model.Request) (model.Response, error) {
	name := l.Client.Model()
	if l.IsAgent() {
		q, watched, err := m.run(ctx, l.Entry, name)
		if err != nil {
			return model.Response{}, err
		}
		got, err := l.Client.Complete(watched, req)
		q.end(got.Usage, got.Cost, err, err == nil)
		return got, err
	}
	q, req, err := m.question(ctx, l.Entry, name, req)
	if err != nil {
		return model.Response{}, err
	}
	got, err := l.Client.Complete(ctx, req)
	q.end(got.Usage, got.Cost, err, err == nil)
	return got, err
}

// stay notes who answered, and what of the answer only they understand.
func (c *Client) stay(i int, echo json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = i
	if len(echo) > 0 {
		c.echoes[string(echo)] = i
	}
}

// passOver keeps the board from trying an entry first again that just failed
// while another one is there to answer.
func (c *Client) passOver(i int) {
	if i+1 < len(c.links) && c.meter.free(c.links[i].Account()) {
		c.meter.pause(c.links[i].Account(), time.Time{}, "it failed, and a fallback took over")
	}
}

// plain drops from a request what another link's provider signed.
func (c *Client) plain(req model.Request, i int) model.Request {
	c.mu.Lock()
	defer c.mu.Unlock()
	turns := make([]model.Turn, len(req.Turns))
	for n, t := range req.Turns {
		if by, known := c.echoes[string(t.Echo)]; known && by != i {
			t.Echo = nil
		}
		turns[n] = t
	}
	req.Turns = turns
	return req
}

// Acting is one entry of a chain of executors.
type Acting struct {
	Entry
	Executor think.Executor
	// Metered tells that what it takes is counted by a client already.
	Metered bool
}

// Executor lets the first free entry of a chain work on an attempt.
type Executor struct {
	meter *Meter
	links []Acting
}

// NewExecutor makes the chain's executor; links is not empty.
func NewExecutor(m *Meter, links []Acting) *Executor { return &Executor{m, links} }

// Execute does one attempt. An entry that failed for a reason that another
// would not have hands the attempt on.
func (x *Executor) Execute(ctx context.Context, in think.ExecuteInput, tools think.Tools) (think.Execution, error) {
	done, err := inTurn(ctx, x.meter, len(x.links), func(i int) (Entry, bool) { return x.links[i].Entry, x.links[i].Metered },
		func(ctx context.Context, i int) (think.Execution, message.Usage, *float64, error) {
			if record, ok := tools.(think.Recorder); ok && i > 0 {
				in.Done = record.Resume() // what the entries before it did, too
			}
			done, err := x.links[i].Executor.Execute(ctx, in, tools)
			return done, done.Usage, done.Cost, err
		})
	return done, x.meter.givenUp(err)
}

// handOn wraps a failure that hands something on to the next entry and pauses
// nobody: the entry answered, and its answer is of no use.
type handOn struct{ error }

func (e *handOn) Unwrap() error { return e.error }

// inTurn lets the first free entry do something whole. An entry that failed
// for a reason that another would not have hands it on.
func inTurn[T any](ctx context.Context, m *Meter, n int, entry func(int) (e Entry, metered bool), do func(context.Context, int) (T, message.Usage, *float64, error)) (T, error) {
	var none T
	var errs []error
	for i := range n {
		e, metered := entry(i)
		if !m.free(e.Account()) {
			errs = append(errs, m.notAsked(e, e.Title()))
			continue
		}
		done, err := runOf(ctx, m, e, metered, func(ctx context.Context) (T, message.Usage, *float64, error) { return do(ctx, i) })
		if err == nil {
			return done, nil
		}
		var hand *handOn
		if errors.As(err, &hand) && ctx.Err() == nil {
			m.Log("%s: %v", e.Name, err)
			errs = append(errs, err)
			continue
		}
		if ctx.Err() != nil || !m.after(err, e) {
			return done, err
		}
		errs = append(errs, err)
		if i+1 < n && m.free(e.Account()) {
			m.pause(e.Account(), time.Time{}, "it failed, and a fallback took over")
		}
	}
	return none, m.exhausted(errs)
}

// runOf lets an entry do something under the caps, unless its client sees to
// them already.
func runOf[T any](ctx context.Context, m *Meter, e Entry, metered bool, do func(context.Context) (T, message.Usage, *float64, error)) (T, error) {
	if metered {
		done, _, _, err := do(ctx)
		return done, err
	}
	q, watched, err := m.run(ctx, e, e.Title())
	if err != nil {
		var none T
		return none, err
	}
	done, usage, usd, err := do(watched)
	_, useless := errors.AsType[*handOn](err)
	q.end(usage, usd, err, err == nil || useless && ctx.Err() == nil) // of no use, and paid for
	return done, err
}

// Waits tells whether an error only means that the step is to be started again later.
func Waits(err error) bool { return errors.Is(err, ErrWaits) }

// Missing says that a backend of the configuration is not usable here.
func Missing(e Entry, why error) error {
	return &Error{What: fmt.Sprintf("models.%s: backend %s can not be used: %v", e.Name, e.Backend, why), Do: "orch doctor shows what each role can use"}
}
