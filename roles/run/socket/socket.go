// Package socket lets what a step started speak through the step: one request
// a connection, a line of JSON each way, over a Unix socket that only the
// step's user can reach.
//
// It owns the wire format. It promises that a malformed, oversized or slow
// request harms nobody and is answered with a reason. It never decides what
// may be said: the step's handler does, under the step's own identity.
package socket

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"orch/blackboard/message"
)

// Env is the variable that tells a command where the socket of its step is.
const Env = "ORCH_SOCK"

// Bounds of one request.
const (
	maxBytes = 1 << 20
	patience = 10 * time.Second
)

// Request asks the step to say something.
type Request struct {
	Version int             `json:"version"` // 1
	Type    message.Type    `json:"type"`
	Payload json.RawMessage `json:"payload"`
}

// Reply says what became of it.
type Reply struct {
	OK    bool       `json:"ok"`
	ID    message.ID `json:"id,omitempty"` // of the message that was appended
	Error string     `json:"error,omitempty"`
	Hint  string     `json:"hint,omitempty"`
}

// Handler says the body under the step's identity, or refuses.
type Handler func(context.Context, message.Body) (message.ID, error)

// The path of a Unix socket: this long where it is shortest, and its last part.
const (
	pathBytes = 103
	fileName  = "s"
)

// Dir is where the socket of the step with a marker is. It is not below the
// project, which may be on a file system that has no sockets. Whoever sees a step
// through removes it, in case the step was killed.
func Dir(marker string) string { return place("orch-" + marker) }

// Serve listens in a new directory until stop is called; stop returns after the
// last request was answered and the directory is gone.
func Serve(ctx context.Context, dir string, h Handler) (path string, stop func(), err error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", nil, fmt.Errorf("make a place for the step's socket: %w", err)
	}
	path = filepath.Join(dir, fileName)
	var l *net.UnixListener
	err = shortened(path, func(short string) (err error) {
		l, err = net.ListenUnix("unix", &net.UnixAddr{Name: short, Net: "unix"})
		return err
	})
	if err != nil {
		return "", nil, errors.Join(fmt.Errorf("listen on the step's socket: %w", err), os.RemoveAll(dir))
	}
	l.SetUnlinkOnClose(false) // by a name that may be a shortened one; stop removes the directory
	ctx, cancel := context.WithCancel(ctx)
	var open sync.WaitGroup
	open.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			open.Go(func() { answer(ctx, conn, h) })
		}
	})
	return path, func() {
		cancel()
		l.Close()
		open.Wait()
		os.RemoveAll(dir)
	}, nil
}

func answer(ctx context.Context, conn net.Conn, h Handler) {
	defer conn.Close()
	unblock := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Now()) })
	defer unblock()
	conn.SetDeadline(time.Now().Add(patience))
	reply := handle(ctx, io.LimitReader(conn, maxBytes+1), h)
	conn.SetDeadline(time.Now().Add(patience))
	json.NewEncoder(conn).Encode(reply) // who does not wait for the answer does not need it
}

func handle(ctx context.Context, r io.Reader, h Handler) Reply {
	line, err := bufio.NewReader(r).ReadBytes('\n')
	switch {
	case len(line) > maxBytes:
		return Reply{Error: "the request is longer than 1 MiB"}
	case err != nil:
		return Reply{Error: "the request is not a line of JSON: " + err.Error()}
	}
	var q Request
	if err := json.Unmarshal(line, &q); err != nil {
		return Reply{Error: "the request is not JSON: " + err.Error()}
	}
	if q.Version != 1 {
		return Reply{Error: fmt.Sprintf("request version %d, this step speaks version 1", q.Version)}
	}
	body, err := message.Decode(q.Type, q.Payload)
	if err != nil {
		return refusal(err)
	}
	id, err := h(ctx, body)
	if err != nil {
		return refusal(err)
	}
	return Reply{OK: true, ID: id}
}

func refusal(err error) Reply {
	r := Reply{Error: err.Error()}
	var hint interface{ Hint() string }
	if errors.As(err, &hint) {
		r.Hint = hint.Hint()
	}
	return r
}

// RefusedError is a request the step did not carry out.
type RefusedError struct{ Reply Reply }

func (e *RefusedError) Error() string { return e.Reply.Error }

// Hint is the step's hint.
func (e *RefusedError) Hint() string { return e.Reply.Hint }

// Send asks the step behind the socket to say a body.
func Send(ctx context.Context, path string, body message.Body) (message.ID, error) {
	raw, err := message.Encode(body)
	if err != nil {
		return "", err
	}
	var d net.Dialer
	var conn net.Conn
	err = shortened(path, func(short string) (err error) {
		conn, err = d.DialContext(ctx, "unix", short)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("reach the step: %w", err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(2 * patience))
	if err := json.NewEncoder(conn).Encode(Request{Version: 1, Type: body.Type(), Payload: raw}); err != nil {
		return "", fmt.Errorf("speak to the step: %w", err)
	}
	var reply Reply
	if err := json.NewDecoder(io.LimitReader(conn, maxBytes)).Decode(&reply); err != nil {
		return "", fmt.Errorf("hear from the step: %w", err)
	}
	if !reply.OK {
		return "", &RefusedError{reply}
	}
	return reply.ID, nil
}
