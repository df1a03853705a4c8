package choose

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"orch/blackboard/message"
	"orch/roles/run/config"
	"orch/roles/think"
	"orch/roles/think/model"
)

var t0 = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// said is a client that answers with what it was given, in order.
type said struct {
	name  string
	out   []any // string, error or model.Response
	asked []model.Request
}

func (s *said) Model() string   { return s.name }
func (s *said) Account() string { return "unused" }
func (s *said) Complete(_ context.Context, r model.Request) (model.Response, error) {
	s.asked = append(s.asked, r)
	if len(s.out) == 0 {
		return model.Response{}, errors.New("nothing left to say")
	}
	next := s.out[0]
	s.out = s.out[1:]
	switch v := next.(type) {
	case string:
		return model.Response{Text: v, Usage: message.Usage{InputTokens: 1_000_000, ModelCalls: 1}}, nil
	case model.Response:
		return v, nil
	case *model.Error:
		named := *v
		named.Account = "acct-" + s.name
		return model.Response{}, &named
	case error:
		return model.Response{}, v
	}
	panic("a script of strings, responses and errors")
}

func fails(kind model.Kind) error { return &model.Error{Kind: kind, Model: "m", Detail: "as scripted"} }

func entry(name string) Entry {
	return Entry{Name: name, Model: config.Model{Backend: OpenAI, Name: name, Account: "acct-" + name}}
}

type bench struct {
	*Meter
	a, b *said
	c    *Client
	ctx  context.Context
}

func newBench(t *testing.T, a, b []any) *bench {
	ctx, stop := context.WithCancelCause(t.Context())
	cfg := config.Default()
	cfg.Prices = map[string]config.Price{"a": {In: 1}, "b": {In: 2}}
	m := &Meter{Config: cfg, Now: func() time.Time { return t0 }, Stop: stop, Log: t.Logf, Paused: map[string]time.Time{}}
	w := &bench{Meter: m, a: &said{name: "a", out: a}, b: &said{name: "b", out: b}, ctx: ctx}
	w.c = NewClient(m, []Link{{entry("a"), w.a}})
	if b != nil {
		w.c = NewClient(m, []Link{{entry("a"), w.a}, {entry("b"), w.b}})
	}
	return w
}

func (w *bench) ask() (string, error) {
	got, err := w.c.Complete(w.ctx, model.Request{})
	return got.Text, err
}

func TestWhatAFailureMeans(t *testing.T) {
	for name, c := range map[string]struct {
		a, b   []any
		text   string
		waits  bool
		needs  string
		pauses string
		kind   model.Kind
		down   string // accounts
	}{
		"an answer":                        {a: []any{"yes"}, text: "yes"},
		"a limit":                          {a: []any{fails(model.Limit)}, waits: true, down: "acct-a"},
		"a limit with a time":              {a: []any{&model.Error{Kind: model.Limit, Until: t0.Add(time.Hour)}}, waits: true, pauses: "acct-a"},
		"a limit, and a fallback":          {a: []any{fails(model.Limit)}, b: []any{"b"}, text: "b", pauses: "acct-a"},
		"two limits":                       {a: []any{fails(model.Limit)}, b: []any{fails(model.Limit)}, waits: true, pauses: "acct-a", down: "acct-a acct-b"},
		"a limit, and nobody else":         {a: []any{fails(model.Limit)}, b: []any{fails(model.Unreachable)}, waits: true, pauses: "acct-a", down: "acct-a acct-b"},
		"overloaded":                       {a: []any{fails(model.Overloaded)}, waits: true, down: "acct-a"},
		"overloaded, and a fallback":       {a: []any{fails(model.Overloaded)}, b: []any{"b"}, text: "b", pauses: "acct-a"},
		"silence, and a fallback":          {a: []any{fails(model.Idle)}, b: []any{"b"}, text: "b", pauses: "acct-a"},
		"nobody reachable":                 {a: []any{fails(model.Unreachable)}, b: []any{fails(model.Server)}, waits: true, pauses: "acct-a", down: "acct-a acct-b"},
		"a wrong key":                      {a: []any{fails(model.Auth)}, waits: true, needs: "log in"},
		"a used-up account":                {a: []any{fails(model.UsedUp)}, waits: true, needs: "add credit"},
		"a wrong key, and a fallback":      {a: []any{fails(model.Auth)}, b: []any{"b"}, text: "b", pauses: "acct-a"},
		"an unknown model":                 {a: []any{fails(model.BadRequest)}, waits: true, needs: "check models"},
		"a wrong key, the other is silent": {a: []any{fails(model.Auth)}, b: []any{fails(model.Idle)}, waits: true, pauses: "acct-a", down: "acct-b"},
		"an agent that ended":              {a: []any{fails(model.Ended)}, kind: model.Ended},
		"what a program printed":           {a: []any{&model.Error{Kind: model.Unreachable, Hearsay: true}}, kind: model.Unreachable},
		"garbage is not handed on":         {a: []any{fails(model.Malformed)}, b: []any{"b"}, kind: model.Malformed},
		"neither is a refusal":             {a: []any{fails(model.Refused)}, b: []any{"b"}, kind: model.Refused},
		"nor after a kill from outside":    {a: []any{fails(model.Killed)}, b: []any{"b"}, waits: true, kind: model.Killed},
		"nor what is too large":            {a: []any{fails(model.TooLarge)}, b: []any{"b"}, kind: model.TooLarge},
	} {
		w := newBench(t, c.a, c.b)
		text, err := w.ask()
		var paused []string
		for _, l := range w.Limits() {
			paused = append(paused, l.Account)
			if !l.Until.After(t0) {
				t.Errorf("%s: paused until %s", name, l.Until)
			}
		}
		var failure *model.Error
		errors.As(err, &failure)
		switch {
		case text != c.text, Waits(err) != c.waits, !strings.Contains(w.Needs(), c.needs), (c.needs == "") != (w.Needs() == ""):
			t.Errorf("%s: %q, %v, needs %q", name, text, err, w.Needs())
		case strings.Join(paused, " ") != c.pauses:
			t.Errorf("%s: paused %q, want %q", name, paused, c.pauses)
		case c.waits != (w.ctx.Err() != nil), c.waits != Waits(context.Cause(w.ctx)), c.waits != (w.Stopped() != nil):
			t.Errorf("%s: the step goes on: %v", name, context.Cause(w.ctx))
		case (c.down == "") != (w.Down() == nil), w.Down() != nil && strings.Join(w.Down().Accounts, " ") != c.down:
			t.Errorf("%s: down %+v, want %q", name, w.Down(), c.down)
		case c.kind != "" && (failure == nil || failure.Kind != c.kind):
			t.Errorf("%s: %v, want %s", name, err, c.kind)
		}
	}
}

func TestAPausedAccountIsNotAsked(t *testing.T) {
	w := newBench(t, []any{"a"}, []any{"b"})
	w.Paused["acct-a"] = t0.Add(time.Minute)
	if text, err := w.ask(); text != "b" || err != nil || len(w.a.asked) != 0 {
		t.Errorf("%q %v, asked %d times", text, err, len(w.a.asked))
	}
	w = newBench(t, []any{"a"}, nil)
	w.Paused["acct-a"] = t0 // it is over
	if text, err := w.ask(); text != "a" || err != nil {
		t.Errorf("%q %v", text, err)
	}
}

func TestWhatALimitSaysIsKept(t *testing.T) {
	until := t0.Add(3 * time.Hour)
	for want, said := range map[time.Time]time.Time{until: until, t0.Add(time.Second): t0.Add(-time.Hour)} {
		w := newBench(t, []any{&model.Error{Kind: model.Limit, Until: said}}, nil)
		if _, err := w.ask(); !Waits(err) || !w.Limits()[0].Until.Equal(want) {
			t.Errorf("said %s: paused until %s, want %s", said, w.Limits()[0].Until, want)
		}
	}
}

func TestMoneyIsCountedByModelAndBounds(t *testing.T) {
	used := &model.Error{Kind: model.Server, Usage: message.Usage{InputTokens: 1_000_000}}
	w := newBench(t, []any{"1", used}, []any{"2", "3"})
	w.Purse = Fixed{6}
	for _, want := range []string{"1", "2", "3"} {
		if text, err := w.ask(); text != want || err != nil {
			t.Fatalf("%q %v, want %q", text, err, want)
		}
	}
	spent := w.Spent()
	if len(spent) != 2 || spent[0].Cost != 2 || spent[1].Cost != 4 || spent[0].Unpriced {
		t.Errorf("spent %+v", spent)
	}
	if u, usd := w.Total(); usd != 6 || u.InputTokens != 4_000_000 || u.ModelCalls != 3 {
		t.Errorf("total %+v $%g", u, usd)
	}
	if _, err := w.ask(); !Waits(err) || w.ctx.Err() == nil || w.Needs() != "" {
		t.Errorf("beyond the room: %v", err)
	}
	if len(w.b.asked) != 2 {
		t.Errorf("asked %d times", len(w.b.asked))
	}
}

func TestWhatAProviderSignedGoesToNobodyElse(t *testing.T) {
	w := newBench(t, []any{model.Response{Echo: json.RawMessage(`"a"`)}, fails(model.Server)}, []any{model.Response{Echo: json.RawMessage(`"b"`)}, "end"})
	turns := []model.Turn{{By: model.User}}
	for i := range 3 {
		got, err := w.c.Complete(w.ctx, model.Request{Turns: turns})
		if err != nil {
			t.Fatal(i, err)
		}
		turns = append(turns, model.Turn{By: model.Assistant, Echo: got.Echo})
	}
	last := w.b.asked[len(w.b.asked)-1].Turns
	if last[1].Echo != nil || string(last[2].Echo) != `"b"` {
		t.Errorf("b was handed %s and %s", last[1].Echo, last[2].Echo)
	}
	if string(turns[1].Echo) != `"a"` {
		t.Error("the caller's turns were changed")
	}
	if len(w.a.asked) != 2 {
		t.Errorf("it went back to a: %d", len(w.a.asked))
	}
}

func TestACancelledQuestionIsNoFailure(t *testing.T) {
	w := newBench(t, []any{&model.Error{Kind: model.Cancelled, Cause: context.Canceled}}, []any{"b"})
	if _, err := w.ask(); err == nil || len(w.b.asked) != 0 || w.Stopped() != nil {
		t.Errorf("%v, asked %d", err, len(w.b.asked))
	}
}

// actor is an executor that ends as it is told.
type actor struct {
	done think.Execution
	err  error
	ran  int
	in   think.ExecuteInput
}

func (a *actor) Execute(_ context.Context, in think.ExecuteInput, _ think.Tools) (think.Execution, error) {
	a.ran++
	a.in = in
	return a.done, a.err
}

func TestExecutorsTakeOver(t *testing.T) {
	usd := 0.5
	for name, c := range map[string]struct {
		a, b  *actor
		out   string
		waits bool
		cost  float64
	}{
		"the first":              {&actor{done: think.Execution{Output: "a", Cost: &usd}}, &actor{}, "a", false, 0.5},
		"a limit":                {&actor{err: fails(model.Limit)}, &actor{done: think.Execution{Output: "b", Cost: &usd}}, "b", false, 0.5},
		"limits":                 {&actor{err: fails(model.Limit)}, &actor{err: fails(model.Limit)}, "", true, 0},
		"ended from outside":     {&actor{err: fails(model.Killed)}, &actor{done: think.Execution{Output: "b"}}, "", true, 0},
		"a fault of what it did": {&actor{err: errors.New("broken")}, &actor{done: think.Execution{Output: "b"}}, "", false, 0},
	} {
		w := newBench(t, nil, nil)
		x := NewExecutor(w.Meter, []Acting{{Entry: entry("a"), Executor: c.a}, {Entry: entry("b"), Executor: c.b}})
		done, err := x.Execute(w.ctx, think.ExecuteInput{}, nil)
		if _, usd := w.Total(); done.Output != c.out || Waits(err) != c.waits || usd != c.cost {
			t.Errorf("%s: %+v %v $%g", name, done, err, usd)
		}
		if (c.out == "" || c.waits) && err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// A chain of a model and an agent: the model's limit must not stop the step.
func TestAMeteredExecutorHandsOn(t *testing.T) {
	w := newBench(t, []any{fails(model.Limit)}, nil)
	inner := NewInnerClient(w.Meter, Link{entry("a"), w.a})
	first := executorFunc(func(ctx context.Context) (think.Execution, error) {
		_, err := inner.Complete(ctx, model.Request{})
		return think.Execution{}, err
	})
	second := &actor{done: think.Execution{Output: "b"}}
	x := NewExecutor(w.Meter, []Acting{{Entry: entry("a"), Executor: first, Metered: true}, {Entry: entry("b"), Executor: second}})
	if done, err := x.Execute(w.ctx, think.ExecuteInput{}, nil); done.Output != "b" || err != nil || w.Stopped() != nil {
		t.Errorf("%+v %v", done, err)
	}
}

// record is a tool layer that has one call on record.
type record struct{ think.Recorder }

func (record) Resume() []think.Done { return []think.Done{{Tool: "shell", Output: "paid"}} }

// Who takes over goes on behind what the one before it did.
func TestAnExecutorThatTakesOverIsToldWhatWasDone(t *testing.T) {
	w := newBench(t, nil, nil)
	first, second := &actor{err: fails(model.Limit)}, &actor{}
	x := NewExecutor(w.Meter, []Acting{{Entry: entry("a"), Executor: first}, {Entry: entry("b"), Executor: second}})
	if _, err := x.Execute(w.ctx, think.ExecuteInput{}, record{}); err != nil {
		t.Fatal(err)
	}
	if len(first.in.Done) != 0 || len(second.in.Done) != 1 || second.in.Done[0].Output != "paid" {
		t.Errorf("the first was told %+v, the second %+v", first.in.Done, second.in.Done)
	}
}

type executorFunc func(context.Context) (think.Execution, error)

func (f executorFunc) Execute(ctx context.Context, _ think.ExecuteInput, _ think.Tools) (think.Execution, error) {
	return f(ctx)
}
