package endpoint

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxUntil is the longest wait that is believed; beyond it a header is taken
// for a mistake.
const maxUntil = 32 * 24 * time.Hour

// asked is how long a server asks to wait, and whether it says so. The state
// of its allowances, which many send with every answer, counts only where an
// allowance is what failed.
func asked(h http.Header, now time.Time, limited bool) (time.Duration, bool) {
	reads := []func(http.Header, time.Time) (time.Duration, bool){retryAfterMS, retryAfter}
	if limited {
		reads = append(reads, exhausted)
	}
	for _, read := range reads {
		if d, ok := read(h, now); ok && d <= maxUntil {
			return max(0, d), true
		}
	}
	return 0, false
}

func retryAfterMS(h http.Header, _ time.Time) (time.Duration, bool) {
	return number(h.Get("Retry-After-Ms"), time.Millisecond)
}

// retryAfter reads seconds or a date. A date is compared with the server's own
// clock where it states one, since ours may differ.
func retryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	v := h.Get("Retry-After")
	if d, ok := number(v, time.Second); ok {
		return d, true
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0, false
	}
	if theirs, err := http.ParseTime(h.Get("Date")); err == nil {
		now = theirs
	}
	return at.Sub(now), true
}

func number(v string, unit time.Duration) (time.Duration, bool) {
	f, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
	if err != nil || math.IsNaN(f) || f < 0 || f*float64(unit) > float64(math.MaxInt64)/2 {
		return 0, false
	}
	return time.Duration(f * float64(unit)), true
}

// allowances are headers that say when an allowance is refilled, each with the
// header and its value that say that it is used up, as providers write them.
var allowances = []struct{ reset, state, usedUp string }{
	{"anthropic-ratelimit-requests-reset", "anthropic-ratelimit-requests-remaining", "0"},
	{"anthropic-ratelimit-tokens-reset", "anthropic-ratelimit-tokens-remaining", "0"},
	{"anthropic-ratelimit-input-tokens-reset", "anthropic-ratelimit-input-tokens-remaining", "0"},
	{"anthropic-ratelimit-output-tokens-reset", "anthropic-ratelimit-output-tokens-remaining", "0"},
	{"anthropic-ratelimit-unified-reset", "anthropic-ratelimit-unified-status", "rejected"},
	{"x-ratelimit-reset-requests", "x-ratelimit-remaining-requests", "0"},
	{"x-ratelimit-reset-tokens", "x-ratelimit-remaining-tokens", "0"},
	{"x-ratelimit-reset", "x-ratelimit-remaining", "0"},
}

// exhausted is the wait until the last of the allowances that are used up is
// refilled.
func exhausted(h http.Header, now time.Time) (time.Duration, bool) {
	var longest time.Duration
	found := false
	for _, a := range allowances {
		if h.Get(a.state) != a.usedUp {
			continue
		}
		if d, ok := reset(h.Get(a.reset), now); ok && d <= maxUntil {
			longest, found = max(longest, d), true
		}
	}
	return longest, found
}

// reset reads a moment (RFC 3339, or seconds or milliseconds since 1970) or a
// duration such as 6m0s or 12.5.
func reset(v string, now time.Time) (time.Duration, bool) {
	if v == "" {
		return 0, false
	}
	if at, err := time.Parse(time.RFC3339, v); err == nil {
		return at.Sub(now), true
	}
	if d, err := time.ParseDuration(v); err == nil {
		return d, d >= 0
	}
	f, err := strconv.ParseFloat(v, 64)
	switch {
	case err != nil || math.IsNaN(f) || f < 0 || f > 1e15:
		return 0, false
	case f > 1e11:
		return time.UnixMilli(int64(f)).Sub(now), true
	case f > 1e8:
		return time.Unix(int64(f), 0).Sub(now), true
	}
	return time.Duration(f * float64(time.Second)), true
}
