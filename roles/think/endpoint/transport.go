package endpoint

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"orch/blackboard/crash"
)

// Ways an exchange ends early.
var (
	errIdle = errors.New("nothing came for the idle limit")
	errWall = errors.New("no whole answer within the wall limit")

	// ErrTooLarge is for a client that sees the assembled answer pass the limit.
	ErrTooLarge = errors.New("the answer is larger than the limit")
)

// maxErrorBytes bounds what is kept of the body of an error status.
const maxErrorBytes = 64 << 10

// attempt is what the transport saw of one request. Only the goroutine that
// made the request touches it.
type attempt struct {
	sent   bool
	status int
	header http.Header
	body   []byte // of an error status
	failed error  // of the connection, idle or size; nil when it ended well
}

// mayBeBilled tells whether a try that failed may have been answered, as far as
// the provider is concerned: it was sent, and not refused.
func (a *attempt) mayBeBilled() bool {
	dial, ok := errors.AsType[*net.OpError](a.failed)
	return a.sent && a.status < 300 && !(ok && dial.Op == "dial")
}

type attemptKey struct{}

func attemptOf(ctx context.Context) *attempt {
	if a, ok := ctx.Value(attemptKey{}).(*attempt); ok {
		return a
	}
	return &attempt{}
}

func isStream(h http.Header) bool {
	return strings.HasPrefix(strings.ToLower(strings.TrimSpace(h.Get("Content-Type"))), "text/event-stream")
}

func (e *Endpoint) patientClient(given *http.Client, headers http.Header) *http.Client {
	c := &http.Client{}
	if given != nil {
		*c = *given
	}
	if c.Transport == nil {
		if t, ok := http.DefaultTransport.(*http.Transport); ok {
			c.Transport = t.Clone()
		} else {
			c.Transport = http.DefaultTransport
		}
	}
	c.Transport = &patient{base: c.Transport, headers: headers, idle: ms(e.o.IdleMS), wholeBytes: e.wholeBytes(), streamBytes: 64 * e.o.MaxAnswerBytes}
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c
}

// wholeBytes is how many bytes of an answer in one piece, or of one event, are
// read: JSON may take two bytes for one.
func (e *Endpoint) wholeBytes() int64 { return 2*e.o.MaxAnswerBytes + maxErrorBytes }

// patient is a transport that gives up on silence and on excess. It also adds
// the headers that hold secrets, so that no error above it has them to print.
type patient struct {
	base        http.RoundTripper
	headers     http.Header
	idle        time.Duration
	wholeBytes  int64
	streamBytes int64 // events wrap a few letters of text in a few hundred bytes each
}

// CloseIdleConnections is what http.Client looks for.
func (p *patient) CloseIdleConnections() {
	if c, ok := p.base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

func (p *patient) RoundTrip(req *http.Request) (*http.Response, error) {
	a := attemptOf(req.Context())
	a.sent = true
	ctx, cancel := context.WithCancelCause(req.Context())
	timer := time.AfterFunc(p.idle, crash.Safe(func() { cancel(errIdle) }))
	out := req.Clone(ctx)
	for name, values := range p.headers {
		out.Header[name] = values
	}
	if req.Body != nil {
		// A long request on a slow line is progress too.
		out.Body = &upload{req.Body, func() { timer.Reset(p.idle) }}
	}
	res, err := p.base.RoundTrip(out)
	if err != nil {
		timer.Stop()
		a.failed = cause(ctx, err)
		cancel(nil)
		return nil, a.failed
	}
	timer.Stop()
	a.status, a.header = res.StatusCode, res.Header
	w := &watched{rc: res.Body, ctx: ctx, cancel: cancel, timer: timer, idle: p.idle, left: p.bound(res), a: a}
	res.Body = w
	if res.StatusCode >= 300 {
		p.keepError(res, w, a)
	}
	return res, nil
}

// bound is how many bytes of a response are read.
func (p *patient) bound(res *http.Response) int64 {
	if isStream(res.Header) {
		return p.streamBytes
	}
	return p.wholeBytes
}

// keepError reads the body of an error status, as far as it is of use, and
// puts it back for whoever comes next.
func (p *patient) keepError(res *http.Response, w *watched, a *attempt) {
	a.body, _ = io.ReadAll(io.LimitReader(w, maxErrorBytes)) // the status is the news; of the body, what came
	_ = w.Close()
	a.failed = nil
	res.Body = io.NopCloser(bytes.NewReader(a.body))
}

// cause is why a request of this context failed.
func cause(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errIdle) {
		return errIdle
	}
	return err
}

// upload tells of each part of a request body that is taken.
type upload struct {
	io.ReadCloser
	progress func()
}

func (u *upload) Read(p []byte) (int, error) {
	u.progress()
	return u.ReadCloser.Read(p)
}

// watched is a response body under the idle and the size limit.
type watched struct {
	rc     io.ReadCloser
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	idle   time.Duration
	left   int64
	a      *attempt
}

// Read runs the clock only while it waits: what the reader does with what it
// got is not the server's silence.
func (w *watched) Read(p []byte) (int, error) {
	w.timer.Reset(w.idle)
	n, err := w.rc.Read(p)
	w.timer.Stop()
	w.left -= int64(n)
	switch {
	case w.left < 0:
		err = ErrTooLarge
	case err == nil, err == io.EOF:
		return n, err
	}
	w.a.failed = cause(w.ctx, err)
	return n, w.a.failed
}

func (w *watched) Close() error {
	w.timer.Stop()
	err := w.rc.Close()
	w.cancel(nil)
	return err
}
