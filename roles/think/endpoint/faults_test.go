package endpoint_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"orch/roles/think/endpoint"
	"orch/roles/think/fakemodel"
	"orch/roles/think/model"
)

func status(n int) fakemodel.Fault { return fakemodel.Fault{Kind: fakemodel.Status, Status: n} }

// faults is every fault the fake server knows, with what must come of it. All
// of them come again at every retry.
var faults = []struct {
	name   string
	fault  fakemodel.Fault
	kind   model.Kind
	status int
	tries  int
	most   time.Duration // simulated
}{
	{"400", status(400), model.BadRequest, 400, 1, 0},
	{"401", status(401), model.Auth, 401, 1, 0},
	{"402", status(402), model.UsedUp, 402, 1, 0},
	{"403", status(403), model.Auth, 403, 1, 0},
	{"404", status(404), model.BadRequest, 404, 1, 0},
	{"408", status(408), model.Server, 408, 4, 10 * time.Second},
	{"413", status(413), model.TooLarge, 413, 1, 0},
	{"422", status(422), model.BadRequest, 422, 1, 0},
	{"429", status(429), model.Limit, 429, 4, 10 * time.Second},
	{"429 with a short wait", fakemodel.Fault{Kind: fakemodel.Status, Status: 429, RetryAfter: "2"}, model.Limit, 429, 4, 10 * time.Second},
	{"429 with a long wait", fakemodel.Fault{Kind: fakemodel.Status, Status: 429, RetryAfter: "3600"}, model.Limit, 429, 1, 0},
	{"429 without credit", fakemodel.Fault{Kind: fakemodel.Status, Status: 429, Type: "insufficient_quota"}, model.UsedUp, 429, 1, 0},
	{"500", status(500), model.Server, 500, 4, 10 * time.Second},
	{"501", status(501), model.Server, 501, 4, 10 * time.Second},
	{"502", status(502), model.Server, 502, 4, 10 * time.Second},
	{"503", status(503), model.Overloaded, 503, 4, 10 * time.Second},
	{"529", status(529), model.Overloaded, 529, 4, 10 * time.Second},
	{"529 that wants no retry", fakemodel.Fault{Kind: fakemodel.Status, Status: 529, Header: map[string]string{"x-should-retry": "false"}}, model.Overloaded, 529, 1, 0},
	{"hangup", fakemodel.Fault{Kind: fakemodel.Hangup}, model.Unreachable, 0, 4, 10 * time.Second},
	{"refused", fakemodel.Fault{Kind: fakemodel.Refuse}, model.Unreachable, 0, 1, 10 * time.Second},
	{"reset", fakemodel.Fault{Kind: fakemodel.Reset}, model.Unreachable, 0, 4, 10 * time.Second},
	{"reset late", fakemodel.Fault{Kind: fakemodel.Reset, Events: 4}, model.Unreachable, 0, 4, 10 * time.Second},
	{"silence", fakemodel.Fault{Kind: fakemodel.Silent}, model.Idle, 0, 1, 2 * time.Minute},
	{"silence in the middle", fakemodel.Fault{Kind: fakemodel.SilentMiddle, Events: 3}, model.Idle, 0, 1, 2 * time.Minute},
	{"endless", fakemodel.Fault{Kind: fakemodel.Endless, DelayMS: 30_000}, model.Idle, 0, 1, 15 * time.Minute},
	{"garbage", fakemodel.Fault{Kind: fakemodel.Garbage}, model.Malformed, 0, 2, 2 * time.Second},
	{"half an event", fakemodel.Fault{Kind: fakemodel.Half, Events: 3}, model.Malformed, 0, 2, 2 * time.Second},
	{"half of the first event", fakemodel.Fault{Kind: fakemodel.Half, Events: -1}, model.Malformed, 0, 2, 2 * time.Second},
	{"10 MB", fakemodel.Fault{Kind: fakemodel.Huge}, model.TooLarge, 0, 1, 0},
	{"empty", fakemodel.Fault{Kind: fakemodel.Empty}, model.Malformed, 0, 2, 2 * time.Second},
	{"error in the stream, overloaded", fakemodel.Fault{Kind: fakemodel.StreamError, Status: 529}, model.Overloaded, 529, 4, 10 * time.Second},
	{"error in the stream, limit", fakemodel.Fault{Kind: fakemodel.StreamError, Status: 429}, model.Limit, 429, 4, 10 * time.Second},
	{"error in the stream, key", fakemodel.Fault{Kind: fakemodel.StreamError, Status: 401}, model.Auth, 401, 1, 0},
	{"error in the stream, other", fakemodel.Fault{Kind: fakemodel.StreamError, Status: 500}, model.Server, 500, 4, 10 * time.Second},
}

func TestFaults(t *testing.T) {
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			reply := fakemodel.Reply{Text: "half a loaf is no bread at all", Fault: f.fault}
			if f.fault.Kind == fakemodel.Huge {
				reply.Text = ""
			}
			with(t, always(reply), nil, func(b bench) {
				e := b.fails()
				if e.Kind != f.kind || e.Status != f.status {
					b.Errorf("%s (HTTP %d): %s; want %s (HTTP %d)", e.Kind, e.Status, e.Detail, f.kind, f.status)
				}
				if n := len(b.server.Requests()); n != f.tries {
					b.Errorf("%d tries, want %d", n, f.tries)
				}
				if e.Usage.ModelCalls < f.tries || e.Usage.Model != b.client.Model() {
					b.Errorf("usage %+v after %d tries", e.Usage, f.tries)
				}
				if took := b.took(); took > f.most {
					b.Errorf("took %v, more than %v", took, f.most)
				}
				if e.Detail == "" {
					b.Error("no detail")
				}
			})
		})
	}
}

// Every fault that passes is survived when it does pass.
func TestRecovery(t *testing.T) {
	for _, f := range faults {
		if f.tries == 1 || f.fault.Kind == fakemodel.Refuse {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			good := fakemodel.Reply{Text: "done", Usage: fakemodel.Usage{Input: 50, Output: 5}}
			with(t, inOrder(fakemodel.Reply{Text: "cut off before the end", Fault: f.fault}, good), nil, func(b bench) {
				got := b.ask(question("x"))
				if got.Text != "done" || got.Usage.ModelCalls != 2 || got.Usage.InputTokens < 50 || got.Usage.OutputTokens < 5 {
					b.Errorf("%+v", got)
				}
			})
		})
	}
}

// What a broken try consumed is paid for, so it is counted.
func TestUsageOfBrokenTries(t *testing.T) {
	broken := fakemodel.Reply{Text: "some text", Usage: fakemodel.Usage{Input: 40, Output: 9, Cached: 10}, Fault: fakemodel.Fault{Kind: fakemodel.Reset, Events: 5}}
	good := fakemodel.Reply{Text: "done", Usage: fakemodel.Usage{Input: 50, Output: 5}}
	with(t, inOrder(broken, good), nil, func(b bench) {
		got := b.ask(question("x")).Usage
		if b.api == fakemodel.Messages && !b.whole {
			// Only this protocol states the input at the start of a stream.
			if got.InputTokens != 90 || got.CachedTokens != 10 || got.OutputTokens < 5 {
				b.Errorf("%+v", got)
			}
			return
		}
		if got.InputTokens != 50 || got.OutputTokens != 5 {
			b.Errorf("%+v", got)
		}
	})
}

func TestLimitSaysUntilWhen(t *testing.T) {
	for name, c := range map[string]struct {
		header string
		value  func(now time.Time) string
		more   map[string]string
		want   time.Duration
	}{
		"seconds":      {"Retry-After", func(time.Time) string { return "120" }, nil, 2 * time.Minute},
		"fraction":     {"Retry-After", func(time.Time) string { return "90.5" }, nil, 90*time.Second + 500*time.Millisecond},
		"date":         {"Retry-After", func(now time.Time) string { return now.Add(time.Hour).UTC().Format(http.TimeFormat) }, nil, time.Hour},
		"milliseconds": {"Retry-After-Ms", func(time.Time) string { return "61000" }, map[string]string{"Retry-After": "1"}, 61 * time.Second},
		"anthropic": {"anthropic-ratelimit-tokens-reset", func(now time.Time) string { return now.Add(5 * time.Minute).UTC().Format(time.RFC3339) },
			map[string]string{"anthropic-ratelimit-tokens-remaining": "0", "anthropic-ratelimit-requests-remaining": "9", "anthropic-ratelimit-requests-reset": "2099-01-01T00:00:00Z"}, 5 * time.Minute},
		"openai":     {"x-ratelimit-reset-tokens", func(time.Time) string { return "6m0s" }, map[string]string{"x-ratelimit-remaining-tokens": "0"}, 6 * time.Minute},
		"openrouter": {"X-RateLimit-Reset", func(now time.Time) string { return now.Add(time.Minute).Format("20060102") }, map[string]string{"Retry-After": "60"}, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			script := fakemodel.Script{Rules: []fakemodel.Rule{{Func: func(fakemodel.Request) fakemodel.Reply {
				f := status(429)
				f.Header = map[string]string{c.header: c.value(time.Now())}
				for k, v := range c.more {
					f.Header[k] = v
				}
				return fakemodel.Reply{Fault: f}
			}}}}
			with(t, script, nil, func(b bench) {
				e := b.fails()
				if got := e.Until.Sub(b.started).Round(time.Second / 2); e.Kind != model.Limit || got != c.want {
					b.Errorf("%s until %v from now, want %v", e.Kind, got, c.want)
				}
				if b.took() > 0 {
					b.Errorf("waited %v", b.took())
				}
			})
		})
	}
}

func TestShortRetryAfterIsWaitedOut(t *testing.T) {
	f := status(429)
	f.RetryAfter = "7"
	with(t, inOrder(fakemodel.Reply{Fault: f}, fakemodel.Reply{Text: "ok"}), nil, func(b bench) {
		if got := b.ask(question("x")); got.Text != "ok" || b.took() < 7*time.Second || b.took() > 8*time.Second {
			b.Errorf("%q after %v", got.Text, b.took())
		}
	})
}

func TestNoRetriesWhenNoneAreWanted(t *testing.T) {
	with(t, always(fakemodel.Reply{Fault: status(500)}), func(o *endpoint.Options) { o.Retries = -1 }, func(b bench) {
		if b.fails(); len(b.server.Requests()) != 1 || b.took() > 0 {
			b.Errorf("%d tries in %v", len(b.server.Requests()), b.took())
		}
	})
}

func TestCancelled(t *testing.T) {
	for name, f := range map[string]fakemodel.Fault{
		"before the answer":   {Kind: fakemodel.Silent},
		"during the answer":   {Kind: fakemodel.SilentMiddle},
		"between two tries":   {Kind: fakemodel.Status, Status: 429, RetryAfter: "9"},
		"while it drips":      {Kind: fakemodel.Endless, DelayMS: 100},
		"while it sends much": {Kind: fakemodel.Drip, DelayMS: 4_000},
	} {
		t.Run(name, func(t *testing.T) {
			with(t, always(fakemodel.Reply{Text: "a few words", Fault: f}), nil, func(b bench) {
				for _, c := range []struct {
					want error
					ctx  func() (context.Context, context.CancelFunc)
				}{
					{context.DeadlineExceeded, func() (context.Context, context.CancelFunc) {
						return context.WithTimeout(b.Context(), 5*time.Second)
					}},
					{context.Canceled, func() (context.Context, context.CancelFunc) {
						ctx, cancel := context.WithCancel(b.Context())
						time.AfterFunc(5*time.Second, cancel)
						return ctx, cancel
					}},
				} {
					if name == "between two tries" && c.want == context.DeadlineExceeded {
						continue // see TestNoWaitBeyondTheDeadline
					}
					ctx, cancel := c.ctx()
					started := time.Now()
					_, err := b.client.Complete(ctx, question("x"))
					cancel()
					var e *model.Error
					if !errors.As(err, &e) || e.Kind != model.Cancelled || !errors.Is(err, c.want) || e.Passing() {
						b.Errorf("%v, want %v", err, c.want)
					}
					if took := time.Since(started); took != 5*time.Second {
						b.Errorf("came back after %v", took)
					}
				}
			})
		})
	}
}

// A wait that would outlast the caller's patience is not begun.
func TestNoWaitBeyondTheDeadline(t *testing.T) {
	f := status(429)
	f.RetryAfter = "9"
	with(t, always(fakemodel.Reply{Fault: f}), nil, func(b bench) {
		ctx, cancel := context.WithTimeout(b.Context(), 5*time.Second)
		defer cancel()
		_, err := b.client.Complete(ctx, question("x"))
		var e *model.Error
		if !errors.As(err, &e) || e.Kind != model.Limit || e.Until.Sub(b.started) != 9*time.Second || b.took() > 0 {
			b.Errorf("%v after %v", err, b.took())
		}
	})
}

func TestWallLimit(t *testing.T) {
	script := always(fakemodel.Reply{Text: "slow", Fault: fakemodel.Fault{Kind: fakemodel.Drip, DelayMS: 50_000}})
	with(t, script, func(o *endpoint.Options) { o.WallMS = 60_000 }, func(b bench) {
		if e := b.fails(); e.Kind != model.Idle || !strings.Contains(e.Detail, "1m0s") || b.took() != time.Minute {
			b.Errorf("%v after %v", e, b.took())
		}
	})
}

func TestNoSecretInErrors(t *testing.T) {
	const header = "s3cret-header-value"
	for name, f := range map[string]fakemodel.Fault{
		"in an error":        {Kind: fakemodel.Status, Status: 401, Message: "bad key " + key + " and " + header + " for Bearer abcdef012345"},
		"of another account": {Kind: fakemodel.Status, Status: 403, Message: "bad key sk-other-9876543210zyxwvu"},
		"in a stream":        {Kind: fakemodel.StreamError, Status: 401, Message: "bad key " + key + " " + header},
	} {
		t.Run(name, func(t *testing.T) {
			edit := func(o *endpoint.Options) { o.Headers = map[string]string{"X-Gateway": header} }
			with(t, always(fakemodel.Reply{Text: "some words", Fault: f}), edit, func(b bench) {
				e := b.fails()
				for _, secret := range []string{header, "abcdef012345", "9876543210zyxwvu"} {
					if strings.Contains(e.Error(), secret) {
						b.Errorf("%q in %v", secret, e)
					}
				}
				if e.Hint() == "" {
					b.Error("no hint")
				}
			})
		})
	}
}

// A redirect would take the key to wherever the server says.
func TestRedirectsAreNotFollowed(t *testing.T) {
	with(t, always(fakemodel.Reply{Fault: fakemodel.Fault{Kind: fakemodel.Status, Status: 307, Header: map[string]string{"Location": "http://elsewhere.test/"}}}), nil, func(b bench) {
		if e := b.fails(); e.Kind != model.BadRequest || e.Status != 307 || len(b.server.Requests()) != 1 {
			b.Errorf("%v after %d requests", e, len(b.server.Requests()))
		}
	})
}

func TestWordsDecideBetweenKinds(t *testing.T) {
	for _, c := range []struct {
		status  int
		message string
		want    model.Kind
	}{
		{400, "This model's maximum context length is 8192 tokens", model.TooLarge},
		{400, "prompt is too long: 210000 tokens > 200000 maximum", model.TooLarge},
		{500, "the request exceeds the available context size, try increasing it", model.TooLarge},
		{400, "Your credit balance is too low to access the API", model.UsedUp},
		{402, "Insufficient Balance", model.UsedUp},
		{429, "You exceeded your current quota, please check your plan", model.UsedUp},
		{429, "Rate limit reached for requests", model.Limit},
		{400, "The response was filtered due to content management policy", model.Refused},
		{403, "Input was flagged", model.Refused},
		{403, "Your account may not use this model", model.Auth},
		{404, "model m-1 not found", model.BadRequest},
	} {
		t.Run(c.message, func(t *testing.T) {
			f := status(c.status)
			f.Message = c.message
			with(t, always(fakemodel.Reply{Fault: f}), nil, func(b bench) {
				if e := b.fails(); e.Kind != c.want || !strings.Contains(e.Detail, c.message) {
					b.Errorf("%s: %s, want %s", e.Kind, e.Detail, c.want)
				}
			})
		})
	}
}
