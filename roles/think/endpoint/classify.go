package endpoint

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"orch/roles/think/model"
)

// Reported is an error a server sends where an answer should be, after it
// said that all is well.
type Reported struct{ JSON []byte }

func (r *Reported) Error() string { return "the server reports an error in its answer" }

// failure is a classified error and what the retry loop needs to know.
type failure struct {
	*model.Error
	body   string // lower case, for a client that looks for what was refused
	wait   time.Duration
	waits  bool // the server says how long to wait
	final  bool // the server says that a retry is of no use
	status int
}

// classify says what went wrong. What the caller and the transport know comes
// before what a client makes of it.
func (e *Endpoint) classify(ctx context.Context, a *attempt, err error) failure {
	f := failure{Error: &model.Error{Model: e.name, Account: e.o.Account, Cause: bare(err)}, status: a.status}
	var reported *Reported
	switch {
	case errors.Is(context.Cause(ctx), errWall):
		f.Kind, f.Detail, f.Cause = model.Idle, fmt.Sprintf("no whole answer within %v", ms(e.o.WallMS)), errWall
	case ctx.Err() != nil:
		f.Kind, f.Detail, f.Cause = model.Cancelled, ctx.Err().Error(), ctx.Err()
	case errors.Is(a.failed, errIdle):
		f.Kind, f.Detail, f.Cause = model.Idle, fmt.Sprintf("nothing came for %v", ms(e.o.IdleMS)), errIdle
	case errors.Is(a.failed, ErrTooLarge), errors.Is(err, ErrTooLarge):
		f.Kind, f.Detail, f.Cause = model.TooLarge, fmt.Sprintf("the answer is larger than %d bytes", e.o.MaxAnswerBytes), ErrTooLarge
	case a.status >= 300:
		e.reported(&f, a.body, a.status)
	case errors.As(err, &reported):
		e.reported(&f, reported.JSON, 0)
	case a.failed != nil:
		f.Kind, f.Detail = model.Unreachable, e.clean(bare(a.failed).Error())
		f.Cause = bare(a.failed)
	case !a.sent:
		f.Kind, f.Detail = model.BadRequest, e.clean(err.Error())
	default:
		f.Kind, f.Detail = model.Malformed, e.clean(err.Error())
	}
	if a.header != nil {
		f.wait, f.waits = asked(a.header, e.o.Now(), f.Kind == model.Limit)
		f.final = a.header.Get("X-Should-Retry") == "false"
	}
	if f.waits && (f.Kind == model.Limit || f.Kind == model.Overloaded) {
		f.Until = e.o.Now().Add(f.wait)
	}
	return f
}

func ms(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// bare is the innermost error that still says what happened. The errors around
// it name the URL.
func bare(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	var op *net.OpError
	if errors.As(err, &op) {
		return op
	}
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	return err
}

// reported classifies by status and by what the body says. Without a status
// (an error inside a stream) the body has to say it all.
func (e *Endpoint) reported(f *failure, body []byte, status int) {
	r := readReport(body)
	if status == 0 {
		status = r.status()
	}
	f.Status, f.status, f.Cause = status, status, nil
	f.Kind = kindOfStatus(status)
	words := strings.ToLower(r.Type + " " + r.Code + " " + r.Message)
	// The body as well: some name the part they refuse in a field of its own.
	f.body = words + " " + strings.ToLower(string(body))
	switch {
	case (status == 400 || status == 402 || status == 429) && hasAny(words, "insufficient_quota", "credit balance", "insufficient balance", "insufficient credit", "billing_hard_limit", "exceeded your current quota"):
		f.Kind = model.UsedUp
	case (status == 400 || status == 422 || status == 500) && hasAny(words, "context_length", "context length", "context window", "prompt is too long", "maximum context", "too many tokens", "exceed_context_size", "exceeds the available context"):
		f.Kind = model.TooLarge
	case (status == 400 || status == 403) && hasAny(words, "content_filter", "content_policy", "content management policy", "moderation", "flagged", "usage policies"):
		f.Kind = model.Refused
	}
	f.Detail = e.clean(cmp.Or(r.Message, r.Code, r.Type, string(body), "no explanation"))
}

func kindOfStatus(status int) model.Kind {
	switch {
	case status == 401, status == 403:
		return model.Auth
	case status == 402:
		return model.UsedUp
	case status == 413:
		return model.TooLarge
	case status == 429:
		return model.Limit
	case status == 503, status == 529:
		return model.Overloaded
	case status == 408, status == 409, status == 425, status >= 500:
		return model.Server
	}
	return model.BadRequest
}

// report is the error object all these protocols send in one dress or another.
type report struct{ Type, Code, Message string }

func readReport(body []byte) report {
	var v struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(body, &v) != nil {
		return report{Message: string(body)}
	}
	var text string
	if json.Unmarshal(v.Error, &text) == nil && text != "" {
		return report{Message: text}
	}
	var inner struct {
		Type     any    `json:"type"`
		Code     any    `json:"code"`
		Status   string `json:"status"`
		Message  string `json:"message"`
		Metadata struct {
			Raw any `json:"raw"`
		} `json:"metadata"`
	}
	if json.Unmarshal(v.Error, &inner) == nil {
		r := report{Type: said(inner.Type), Code: cmp.Or(said(inner.Code), inner.Status), Message: inner.Message}
		if raw := said(inner.Metadata.Raw); raw != "" {
			// A router puts the words of the server behind it here.
			r.Message += ": " + raw
		}
		return r
	}
	return report{Message: cmp.Or(v.Message, string(v.Detail), string(body))}
}

func said(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// status guesses the status an error inside a stream would have had.
func (r report) status() int {
	words := strings.ToLower(r.Type + " " + r.Code)
	var code int
	if _, err := fmt.Sscanf(r.Code, "%d", &code); err == nil && code >= 400 && code <= 599 {
		return code
	}
	for _, g := range []struct {
		status int
		words  []string
	}{
		{529, []string{"overloaded", "unavailable"}},
		{429, []string{"rate_limit", "too_many_requests", "resource_exhausted", "insufficient_quota"}},
		{401, []string{"authentication", "invalid_api_key"}},
		{402, []string{"billing"}},
		{403, []string{"permission"}},
		{413, []string{"too_large"}},
		{404, []string{"not_found"}},
		{400, []string{"invalid_request", "bad_request", "context_length", "content_filter"}},
	} {
		if hasAny(words, g.words...) {
			return g.status
		}
	}
	return 500
}

func hasAny(s string, words ...string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}
