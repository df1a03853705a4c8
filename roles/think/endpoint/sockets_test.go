package endpoint_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"orch/roles/think/endpoint"
	"orch/roles/think/fakemodel"
	"orch/roles/think/model"
)

// What only real sockets do: resets and refused connections. No connection is
// left when the client is closed.
func TestSockets(t *testing.T) {
	for name, c := range map[string]struct {
		fault fakemodel.Fault
		kind  model.Kind
		cause error
	}{
		"reset":   {fakemodel.Fault{Kind: fakemodel.Reset, Events: 2}, model.Unreachable, syscall.ECONNRESET},
		"refused": {fakemodel.Fault{Kind: fakemodel.Refuse}, model.Unreachable, syscall.ECONNREFUSED},
		"silence": {fakemodel.Fault{Kind: fakemodel.Silent}, model.Idle, nil},
		"middle":  {fakemodel.Fault{Kind: fakemodel.SilentMiddle}, model.Idle, nil},
		"10 MB":   {fakemodel.Fault{Kind: fakemodel.Huge}, model.TooLarge, nil},
		"none":    {},
	} {
		for api, dial := range protocols {
			for _, whole := range []bool{false, true} {
				t.Run(name+"/"+string(api)+map[bool]string{false: "/streamed", true: "/whole"}[whole], func(t *testing.T) {
					srv, err := fakemodel.Listen(always(fakemodel.Reply{Fault: c.fault}), "127.0.0.1:0", nil)
					if err != nil {
						t.Fatal(err)
					}
					defer srv.Close()
					var open sync.WaitGroup
					o := endpoint.Options{BaseURL: srv.URL(), Key: key, Model: "m", Whole: whole, BackoffMS: 1, HTTP: counting(&open)}
					if c.kind == model.Idle {
						o.IdleMS = 100
					}
					client, err := dial(o)
					if err != nil {
						t.Fatal(err)
					}
					_, err = client.Complete(t.Context(), question("x"))
					client.Close()
					var e *model.Error
					switch {
					case c.kind == "" && err != nil, c.kind != "" && (!errors.As(err, &e) || e.Kind != c.kind):
						t.Errorf("%v, want %q", err, c.kind)
					case c.cause != nil && !errors.Is(err, c.cause):
						t.Errorf("cause %v, want %v", errors.Unwrap(err), c.cause)
					}
					closed := make(chan struct{})
					go func() { open.Wait(); close(closed) }()
					select {
					case <-closed:
					case <-time.After(30 * time.Second):
						t.Error("a connection is still open")
					}
				})
			}
		}
	}
}

// counting is an HTTP client that counts its open connections.
func counting(open *sync.WaitGroup) *http.Client {
	var d net.Dialer
	t := &http.Transport{DisableKeepAlives: true}
	t.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := d.DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		open.Add(1)
		return &counted{Conn: c, open: open}, nil
	}
	return &http.Client{Transport: t}
}

type counted struct {
	net.Conn
	open   *sync.WaitGroup
	closed atomic.Bool
}

func (c *counted) Close() error {
	if c.closed.CompareAndSwap(false, true) {
		c.open.Done()
	}
	return c.Conn.Close()
}
