package choose

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"orch/blackboard/message"
	"orch/roles/run/config"
	"orch/roles/think/model"
)

// shared is a purse of several steps: what one reserves the others lack.
type shared struct {
	mu    sync.Mutex
	limit float64
	books map[int]Books
	worst float64 // the most that was spent and reserved at once
}

type purseOf struct {
	*shared
	step int
}

func total(b Books) float64 {
	usd, doubt := message.SumOf(b.Spent)
	return usd + doubt + b.Reserved
}

func (p purseOf) Reserve(_ context.Context, w Want, books Books) (Grant, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	room, waits := p.limit+total(p.books[p.step])-total(books), false
	for _, b := range p.books { // as they are on record
		room -= total(b)
		waits = waits || b.Reserved > 0
	}
	if w.Share {
		w.Least = max(w.Least, 0.1)
		w.Most = 2 * w.Least
	}
	if room < w.Least || room <= 0 {
		return Grant{Capped: true, Short: &message.BudgetReached{Cap: message.CapCost, Limit: p.limit}, Waits: waits}, nil
	}
	g := Grant{Capped: true, USD: min(w.Most, room)}
	books.Reserved += g.USD
	p.put(books)
	return g, nil
}

func (p purseOf) Settle(_ context.Context, books Books) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.put(books)
	return nil
}

func (p purseOf) put(books Books) {
	p.books[p.step] = books
	sum := 0.0
	for _, b := range p.books {
		sum += total(b)
	}
	p.worst = max(p.worst, sum)
}

// billing is a provider that bills what it did, whether or not anybody hears of it.
type billing struct {
	mu     sync.Mutex
	rng    *rand.Rand
	price  config.Price
	billed float64
	limits []int // of the answers that were asked for
}

func (*billing) Model() string   { return "m" }
func (*billing) Account() string { return "acct" }

func (b *billing) Complete(ctx context.Context, r model.Request) (model.Response, error) {
	for {
		b.mu.Lock()
		if r.MaxOutputTokens == 0 || !r.Bounded {
			b.mu.Unlock()
			return model.Response{}, errors.New("a question without a limit")
		}
		b.limits = append(b.limits, r.MaxOutputTokens)
		out := 1 + b.rng.IntN(r.MaxOutputTokens)
		luck := b.rng.IntN(10)
		in := int64(len(r.System)) / int64(1+b.rng.IntN(4))
		if luck != 0 { // a refusal is not billed
			b.billed += b.price.Cost(in, 0, int64(out))
		}
		b.mu.Unlock()
		failed := &model.Error{Kind: model.Server, Model: "m", Account: "acct"}
		switch luck {
		case 0, 1, 2: // refused, or lost
			if err := r.Tried(message.Usage{}, luck != 0, true); err != nil {
				return model.Response{}, failed
			}
		case 3: // lost for good
			_ = r.Tried(message.Usage{InputTokens: in}, true, false)
			failed.Kind, failed.Usage = model.Malformed, message.Usage{InputTokens: in}
			return model.Response{}, failed
		default:
			return model.Response{Text: "yes", Usage: message.Usage{InputTokens: in, OutputTokens: int64(out), ModelCalls: 1}}, nil
		}
	}
}

// TestNoCapIsPassedHoweverQuestionsEnd lets steps ask at once a provider that
// refuses some questions and loses the answers to others.
func TestNoCapIsPassedHoweverQuestionsEnd(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		price := config.Price{In: 1 + 9*rng.Float64(), Out: 1 + 99*rng.Float64()}
		share := []float64{0.01, 0.1, 0.6, 3}[rng.IntN(4)]
		system := strings.Repeat("x", rng.IntN(4000))
		p := &shared{books: map[int]Books{}, limit: atMost(price, inputAtMost(model.Request{System: system}), defaultOutput) / share}
		server := &billing{rng: rng, price: price}
		var steps sync.WaitGroup
		for n := range 1 + rng.IntN(8) {
			steps.Go(func() {
				ctx, stop := context.WithCancelCause(t.Context())
				cfg := config.Default()
				cfg.Prices = map[string]config.Price{"m": price}
				m := &Meter{Config: cfg, Now: func() time.Time { return t0 }, Stop: stop, Log: t.Logf, Purse: purseOf{p, n}}
				c := NewClient(m, []Link{{entry("m"), server}})
				for range 500 {
					if _, err := c.Complete(ctx, model.Request{System: system}); Waits(err) {
						if m.Short() == nil {
							t.Errorf("seed %d: it stopped by %v", seed, err)
						}
						return
					}
				}
			})
		}
		steps.Wait()
		if server.billed > p.limit+1e-9 || p.worst > p.limit+1e-9 {
			t.Errorf("seed %d: billed $%g, on record $%g of $%g", seed, server.billed, p.worst, p.limit)
		}
		spent := 0.0
		for _, b := range p.books {
			spent += total(b)
			if b.Reserved > 1e-9 {
				t.Errorf("seed %d: $%g stay reserved", seed, b.Reserved)
			}
		}
		if server.billed > spent+1e-9 {
			t.Errorf("seed %d: billed $%g, on record $%g", seed, server.billed, spent)
		}
		if slices.Min(append(server.limits, leastOutput)) < leastOutput {
			t.Errorf("seed %d: an answer was given %d tokens", seed, slices.Min(server.limits))
		}
	}
}

func TestAQuestionThatDoesNotFitGetsALowerLimit(t *testing.T) {
	price := config.Price{Out: 1000} // a token is a tenth of a cent
	for name, c := range map[string]struct {
		room, asked float64
		option      string
		limit       int
		short       bool
	}{
		"it fits":           {room: 100, limit: defaultOutput},
		"it nearly fits":    {room: 3, limit: 3000},
		"the least":         {room: 1, limit: leastOutput},
		"too little":        {room: 0.9, short: true},
		"nothing":           {short: true},
		"a small limit":     {room: 0.9, option: "800", limit: 800},
		"the option counts": {room: 100, option: "20000", limit: 20000},
	} {
		ctx, stop := context.WithCancelCause(t.Context())
		cfg := config.Default()
		cfg.Prices = map[string]config.Price{"m": price}
		m := &Meter{Config: cfg, Now: func() time.Time { return t0 }, Stop: stop, Log: t.Logf, Purse: purseOf{&shared{books: map[int]Books{}, limit: c.room}, 1}}
		e := entry("m")
		if c.option != "" {
			e.Options = map[string]string{"max_output_tokens": c.option}
		}
		_, req, err := m.question(ctx, e, "m", model.Request{})
		if Waits(err) != c.short || (m.Short() != nil) != c.short || !c.short && (req.MaxOutputTokens != c.limit || !req.Bounded) {
			t.Errorf("%s: a limit of %d, %v", name, req.MaxOutputTokens, err)
		}
	}
}

// A question waits as long as another one may leave something.
func TestAQuestionWaitsForOthers(t *testing.T) {
	p := &shared{books: map[int]Books{2: {Reserved: 1}}, limit: 1}
	ctx, stop := context.WithCancelCause(t.Context())
	cfg := config.Default()
	cfg.Prices = map[string]config.Price{"m": {Out: 10}}
	m := &Meter{Config: cfg, Now: func() time.Time { return t0 }, Stop: stop, Log: t.Logf, Purse: purseOf{p, 1}}
	done := make(chan error)
	go func() {
		_, _, err := m.question(ctx, entry("m"), "m", model.Request{})
		done <- err
	}()
	select {
	case err := <-done:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(3 * purseWait):
	}
	_ = purseOf{p, 2}.Settle(ctx, Books{Spent: []message.Spent{{Cost: 0.5}}})
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	_ = purseOf{p, 2}.Settle(ctx, Books{Reserved: 1})
	gone, cancel := context.WithTimeout(ctx, purseWait)
	defer cancel()
	if _, _, err := m.question(gone, entry("m"), "m", model.Request{}); err == nil || m.Stopped() != nil {
		t.Errorf("a step that is stopped while it waits: %v, %v", err, m.Stopped())
	}
}

// The program is stopped before another step like its largest passes what is there.
func TestAnAgentIsStoppedWhereNothingIsLeft(t *testing.T) {
	p := &shared{books: map[int]Books{}, limit: 1}
	ctx, stop := context.WithCancelCause(t.Context())
	cfg := config.Default()
	cfg.Prices = map[string]config.Price{"m": {Out: 10}}
	m := &Meter{Config: cfg, Now: func() time.Time { return t0 }, Stop: stop, Log: t.Logf, Purse: purseOf{p, 1}}
	e := Entry{Name: "agent", Model: config.Model{Backend: Exec, Name: "m"}}
	done, err := runOf(ctx, m, e, false, func(ctx context.Context) (int, message.Usage, *float64, error) {
		var u message.Usage
		for n := range 100 {
			if ctx.Err() != nil {
				return n, u, nil, context.Cause(ctx)
			}
			u.OutputTokens += 10_000 // a tenth of the cap
			model.WatchOf(ctx)(u, nil)
		}
		return 100, u, nil, nil
	})
	if !Waits(err) || m.Short() == nil || done < 9 || done > 10 {
		t.Errorf("it did %d of 10 steps: %v", done, err)
	}
	if p.worst > 1+1e-9 || total(p.books[1]) > 1+1e-9 || p.books[1].Reserved != 0 {
		t.Errorf("on record $%g, %+v", p.worst, p.books[1])
	}
	var known float64
	for _, s := range m.Spent() {
		known += s.Cost
	}
	if known < 0.9-1e-9 {
		t.Errorf("spent %+v", m.Spent())
	}
}
