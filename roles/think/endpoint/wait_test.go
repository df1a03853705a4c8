package endpoint

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestWhatServersAskFor(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		header map[string]string
		want   time.Duration
		ok     bool
	}{
		"nothing":               {nil, 0, false},
		"seconds":               {map[string]string{"Retry-After": "3"}, 3 * time.Second, true},
		"spaces":                {map[string]string{"Retry-After": " 3 "}, 3 * time.Second, true},
		"zero":                  {map[string]string{"Retry-After": "0"}, 0, true},
		"negative":              {map[string]string{"Retry-After": "-3"}, 0, false},
		"words":                 {map[string]string{"Retry-After": "soon"}, 0, false},
		"infinite":              {map[string]string{"Retry-After": "Inf"}, 0, false},
		"not a number":          {map[string]string{"Retry-After": "NaN"}, 0, false},
		"a year":                {map[string]string{"Retry-After": "31536000"}, 0, false},
		"beyond any clock":      {map[string]string{"Retry-After": "1e300"}, 0, false},
		"date":                  {map[string]string{"Retry-After": "Sun, 01 Mar 2026 12:01:00 GMT"}, time.Minute, true},
		"date in the past":      {map[string]string{"Retry-After": "Sun, 01 Mar 2026 11:00:00 GMT"}, 0, true},
		"date by their clock":   {map[string]string{"Retry-After": "Sun, 01 Mar 2026 10:01:00 GMT", "Date": "Sun, 01 Mar 2026 10:00:00 GMT"}, time.Minute, true},
		"milliseconds first":    {map[string]string{"Retry-After": "3", "Retry-After-Ms": "250"}, 250 * time.Millisecond, true},
		"nothing used up":       {map[string]string{"x-ratelimit-reset-tokens": "9s", "x-ratelimit-remaining-tokens": "4"}, 0, false},
		"the longest":           {map[string]string{"x-ratelimit-reset-tokens": "9s", "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-requests": "120ms", "x-ratelimit-remaining-requests": "0"}, 9 * time.Second, true},
		"plain seconds":         {map[string]string{"x-ratelimit-reset": "12.5", "x-ratelimit-remaining": "0"}, 12500 * time.Millisecond, true},
		"unix milliseconds":     {map[string]string{"x-ratelimit-reset": "1772366460000", "x-ratelimit-remaining": "0"}, time.Minute, true},
		"unix seconds":          {map[string]string{"anthropic-ratelimit-unified-reset": "1772366460", "anthropic-ratelimit-unified-status": "rejected"}, time.Minute, true},
		"allowed":               {map[string]string{"anthropic-ratelimit-unified-reset": "1772366460", "anthropic-ratelimit-unified-status": "allowed"}, 0, false},
		"nonsense in its place": {map[string]string{"x-ratelimit-reset": "later", "x-ratelimit-remaining": "0"}, 0, false},
	} {
		h := http.Header{}
		for k, v := range c.header {
			h.Set(k, v)
		}
		if got, ok := asked(h, now, true); got != c.want || ok != c.ok {
			t.Errorf("%s: %v %v, want %v %v", name, got, ok, c.want, c.ok)
		}
	}
	h := http.Header{}
	h.Set("x-ratelimit-reset", "9")
	h.Set("x-ratelimit-remaining", "0")
	if d, ok := asked(h, now, false); ok {
		t.Errorf("an allowance counts where none failed: %v", d)
	}
}

func TestBackoffDoublesWithinBounds(t *testing.T) {
	e, err := New(Protocol{Name: "p", BaseURL: "http://x", Auth: func(k string) (string, string) { return "A", k }},
		Options{Model: "m", BackoffMS: 1000, MaxWaitMS: 10_000, Jitter: func() float64 { return 0.999 }})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	var got []time.Duration
	for i := 1; i <= 6; i++ {
		got = append(got, e.wait(failure{}, i).Round(100*time.Millisecond))
	}
	want := []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 10 * time.Second, 10 * time.Second}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("%v, want %v", got, want)
		}
	}
	if d := e.wait(failure{wait: 4 * time.Second, waits: true}, 1); d < 4*time.Second || d > 4400*time.Millisecond {
		t.Errorf("waits %v where 4 s are asked for", d)
	}
	if d := e.wait(failure{}, 1_000_000); d > 10*time.Second {
		t.Errorf("waits %v", d)
	}
}

func TestOptions(t *testing.T) {
	var o Options
	for name, value := range map[string]string{"base_url": "http://localhost:11434/v1", "stream": "false", "max_output_tokens": "900",
		"backoff_ms": "5", "max_answer_bytes": "5000", "header.X-Team": "blue"} {
		if err := o.Set(name, value); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if o.BaseURL != "http://localhost:11434/v1" || !o.Whole || o.MaxOutputTokens != 900 || o.BackoffMS != 5 || o.MaxAnswerBytes != 5000 || o.Headers["X-Team"] != "blue" {
		t.Errorf("%+v", o)
	}
	for name, value := range map[string]string{"base_url": "localhost:11434", "stream": "perhaps", "max_output_tokens": "0",
		"backoff_ms": "-1", "max_answer_bytes": "1e3", "header.": "x", "tempreature": "0"} {
		var bad *OptionError
		if err := o.Set(name, value); !errors.As(err, &bad) || bad.Name != name || bad.Hint() == "" {
			t.Errorf("%s=%s: %v", name, value, err)
		}
	}
	for _, base := range []string{"http://user:hunter2@host/v1", "https://host/v1?key=hunter2", "http://:hunter2@%zz"} {
		if err := o.Set("base_url", base); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", base, err)
		}
	}
	p := Protocol{Name: "p", BaseURL: "https://host/v1", Auth: func(k string) (string, string) { return "A", k }}
	if _, err := New(p, Options{}); err == nil {
		t.Error("a client without a model")
	}
}

func TestSleepEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := sleep(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
