package fakemodel

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"
)

// Server is a Handler behind a listener.
type Server struct {
	*Handler
	listener net.Listener
	http     *http.Server
	serving  sync.WaitGroup
	answers  sync.WaitGroup
	closing  sync.Once
}

// Listen serves a script on a TCP address, such as 127.0.0.1:0.
func Listen(s Script, addr string, log io.Writer) (*Server, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listening for model requests: %w", err)
	}
	srv, err := Serve(s, l, log)
	if err != nil {
		_ = l.Close() // nothing was served yet; the script's error is the news
		return nil, err
	}
	return srv, nil
}

// Serve serves a script on a listener, which it closes when it is closed.
func Serve(s Script, l net.Listener, log io.Writer) (*Server, error) {
	h, err := NewHandler(s, log)
	if err != nil {
		return nil, err
	}
	srv := &Server{Handler: h, listener: l}
	h.refuse = func() { _ = l.Close() } // a second close changes nothing
	srv.http = &http.Server{ReadHeaderTimeout: 10 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			srv.answers.Add(1)
			defer srv.answers.Done()
			h.ServeHTTP(w, r)
		})}
	srv.serving.Go(func() { _ = srv.http.Serve(l) }) // ends with Close, or with the fault Refuse
	return srv, nil
}

// Addr is the address the server listens on.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// URL is the server's root, without a path.
func (s *Server) URL() string { return "http://" + s.Addr() }

// Close ends all answers and connections and waits for them. It may be called
// twice.
func (s *Server) Close() {
	s.closing.Do(func() {
		s.Stop()
		_ = s.http.Close() // its errors are those of listeners closed before
		s.serving.Wait()
		s.answers.Wait()
	})
}

// Network is a listener without sockets: connections live in memory, so that a
// test in a testing/synctest bubble can use simulated time.
type Network struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

// NewNetwork returns a network nobody listens on yet.
func NewNetwork() *Network {
	return &Network{conns: make(chan net.Conn), done: make(chan struct{})}
}

// Accept waits for the next connection.
func (n *Network) Accept() (net.Conn, error) {
	select {
	case c := <-n.conns:
		return c, nil
	case <-n.done:
		return nil, net.ErrClosed
	}
}

// Close refuses connections from now on.
func (n *Network) Close() error {
	n.once.Do(func() { close(n.done) })
	return nil
}

// Addr is a name for the network.
func (n *Network) Addr() net.Addr { return memoryAddr{} }

// Client returns an HTTP client whose every connection leads here. Close its
// idle connections when done.
func (n *Network) Client() *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			select {
			case n.conns <- theirs:
				return ours, nil
			case <-n.done:
				return nil, &net.OpError{Op: "dial", Net: "memory", Err: syscall.ECONNREFUSED}
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		},
	}}
}

type memoryAddr struct{}

func (memoryAddr) Network() string { return "memory" }
func (memoryAddr) String() string  { return "fakemodel" }
