// Package socket lets what a step started speak through the step: one request
// a connection, a line of JSON each way, over a Unix socket that only the
// step's user can reach.
//
// It owns the wire format and the question who is at the other end. It promises
// that only a process which descends from the step and knows its token is heard,
// and that a malformed, oversized or slow request harms nobody and is answered
// with a reason. It never decides what may be said: the step's handler does,
// under the step's own identity.
package socket

import (
	"bufio"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"orch/blackboard/crash"
	"orch/blackboard/message"
	"orch/roles/act/process"
)

// Env is the variable that tells a command where the socket of its step is, and
// TokenEnv what it says there to be heard.
const (
	Env      = "ORCH_SOCK"
	TokenEnv = "ORCH_SOCK_TOKEN"
)

// Bounds of one request.
const (
	maxBytes = 64 << 10
	maxOpen  = 32 // connections that are answered at once; the others wait
	patience = 10 * time.Second
	pause    = 10 * time.Millisecond // before listening again, after an error
)

// Request asks the step to say something.
type Request struct {
	Version int             `json:"version"` // 1
	Token   string          `json:"token"`   // of the step
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

// Stranger is somebody who was not heard.
type Stranger struct {
	PID     int    // 0 when the system did not tell
	Command string // its name, as the system has it; empty when it is not known
	Why     string
}

// Session is one step's side of its socket.
type Session struct {
	Step    int    // pid of the step: who is heard descends from it
	Token   string // that a request must repeat
	Handle  Handler
	Refused func(context.Context, Stranger) // is told who was not heard; may be nil
}

// The path of a Unix socket: this long where it is shortest, and its last part.
const (
	pathBytes = 103
	fileName  = "s"
)

// Folder is where the sockets of all steps of this user are, each in a directory
// of its own. A sandbox hides it but for what is its own.
func Folder() string { return place("orch-sockets-" + strconv.Itoa(os.Getuid())) }

// Dir is where the socket of the step with a marker is. It is not below the
// project, which may be on a file system that has no sockets. Whoever sees a step
// through removes it, in case the step was killed.
func Dir(marker string) string { return filepath.Join(Folder(), marker) }

// Path is the name of that socket.
func Path(marker string) string { return filepath.Join(Dir(marker), fileName) }

// MakeFolder makes the folder of all sockets. One that somebody else made, or
// that others may write, is refused: they could put a socket of theirs in it.
func MakeFolder() error {
	folder := Folder()
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make a place for sockets: %w", err)
	}
	info, err := os.Lstat(folder)
	if err != nil {
		return fmt.Errorf("make a place for sockets: %w", err)
	}
	if !info.IsDir() || info.Mode().Perm()&0o077 != 0 || !ownedByUs(info) {
		return fmt.Errorf("make a place for sockets: %s is not a directory of this user alone", folder)
	}
	return nil
}

// Serve listens in a new directory until stop is called; stop returns after the
// last request was answered and the directory is gone.
func Serve(ctx context.Context, dir string, s Session) (path string, stop func(), err error) {
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
	open.Go(crash.Safe(func() {
		s.accept(ctx, l, &open)
	}))
	return path, func() {
		cancel()
		l.Close()
		open.Wait()
		os.RemoveAll(dir)
	}, nil
}

// accept answers who connects until the listener is closed. It takes no more
// than it can answer: who holds connections open makes others wait, and the
// step, which has files of its own to open, does not run out of them.
func (s Session) accept(ctx context.Context, l *net.UnixListener, open *sync.WaitGroup) {
	places := make(chan struct{}, maxOpen)
	for {
		select {
		case places <- struct{}{}:
		case <-ctx.Done():
			return
		}
		conn, err := l.AcceptUnix()
		if err != nil {
			if <-places; errors.Is(err, net.ErrClosed) || ctx.Err() != nil {
				return
			}
			time.Sleep(pause) // out of files, for example: it may pass
			continue
		}
		open.Go(crash.Safe(func() {
			defer func() { <-places }()
			s.answer(ctx, conn)
		}))
	}
}

// answer looks who connected before it reads what they want.
func (s Session) answer(ctx context.Context, conn *net.UnixConn) {
	defer conn.Close()
	unblock := context.AfterFunc(ctx, crash.Safe(func() { conn.SetDeadline(time.Now()) }))
	defer unblock()
	conn.SetDeadline(time.Now().Add(patience))
	who, heard := s.known(conn)
	reply := Reply{Error: who.Why, Hint: "only what a step started is heard, and only by that step"}
	if heard {
		reply, heard = s.handle(ctx, io.LimitReader(conn, maxBytes+1))
		who.Why = reply.Error
	}
	if !heard && s.Refused != nil {
		s.Refused(ctx, who)
	}
	conn.SetDeadline(time.Now().Add(patience))
	json.NewEncoder(conn).Encode(reply) // who does not wait for the answer does not need it
}

// known tells whether a process below the step is at the other end.
func (s Session) known(conn *net.UnixConn) (Stranger, bool) {
	pid, still, done, err := peerOf(conn)
	if err != nil {
		return Stranger{Why: "nobody can tell who asks: " + err.Error()}, false
	}
	defer done()
	p, below := process.Below(pid, s.Step)
	who := Stranger{PID: pid, Command: p.Name}
	switch {
	case pid <= 0:
		who.Why = "who asks lives where this step cannot see it"
	case !below || !still():
		who.Why = "who asks was not started by this step"
	default:
		return who, true
	}
	return who, false
}

// handle reads one request and says it. heard is false for one without the
// step's token.
func (s Session) handle(ctx context.Context, r io.Reader) (reply Reply, heard bool) {
	line, err := bufio.NewReader(r).ReadBytes('\n')
	switch {
	case len(line) > maxBytes:
		return Reply{Error: "the request is longer than 64 KiB"}, true
	case err != nil:
		return Reply{Error: "the request is not a line of JSON: " + err.Error()}, true
	}
	var q Request
	if err := json.Unmarshal(line, &q); err != nil {
		return Reply{Error: "the request is not JSON: " + err.Error()}, true
	}
	if q.Version != 1 {
		return Reply{Error: fmt.Sprintf("request version %d, this step speaks version 1", q.Version)}, true
	}
	if subtle.ConstantTimeCompare([]byte(q.Token), []byte(s.Token)) != 1 {
		return Reply{Error: "the request does not have the step's token", Hint: "checks, tests and hooks that orch runs by itself speak to no step"}, false
	}
	body, err := message.Decode(q.Type, q.Payload)
	if err != nil {
		return refusal(err), true
	}
	id, err := s.Handle(ctx, body)
	if err != nil {
		return refusal(err), true
	}
	return Reply{OK: true, ID: id}, true
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
func Send(ctx context.Context, path, token string, body message.Body) (message.ID, error) {
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
	spoken := json.NewEncoder(conn).Encode(Request{Version: 1, Token: token, Type: body.Type(), Payload: raw})
	var reply Reply // also to what could not be said: a stranger is answered, and not listened to
	if err := json.NewDecoder(io.LimitReader(conn, maxBytes)).Decode(&reply); err != nil {
		return "", fmt.Errorf("speak to the step: %w", errors.Join(spoken, err))
	}
	if !reply.OK {
		return "", &RefusedError{reply}
	}
	return reply.ID, nil
}
