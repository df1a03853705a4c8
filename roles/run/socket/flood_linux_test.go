package socket

import (
	"context"
	"errors"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"orch/blackboard/message"
)

// TestAnErrorOfAcceptingEndsNothing connects while no file can be opened any
// more. Once one can, the step answers again.
func TestAnErrorOfAcceptingEndsNothing(t *testing.T) {
	path := serve(t)
	note := message.Anomaly{Task: "t", Kind: "others", Details: map[string]string{"what": "x"}}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	few := limit
	few.Cur = 100
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
			t.Error(err)
		}
	})
	var files []*os.File
	var conn net.Conn
	for try := 1; ; try++ { // what other tests opened may be closed meanwhile, and make room
		for {
			f, err := os.Open(os.DevNull)
			if err != nil {
				break
			}
			files = append(files, f)
		}
		files[0].Close()
		files = files[1:]
		var err error
		if conn, err = net.Dial("unix", path); err != nil { // takes the last file there may be: nobody can accept it
			t.Fatal(err)
		}
		conn.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
		if _, err = conn.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
		if conn.Close(); try == 5 {
			t.Fatalf("it was accepted: %v", err)
		}
	}
	conn.Close()
	for _, f := range files {
		f.Close()
	}
	if _, err := Send(t.Context(), path, token, note); err != nil {
		t.Errorf("nobody is heard any more: %v", err)
	}
}

// TestOnlySoManyAreAnsweredAtOnce leaves the step files of its own to open.
func TestOnlySoManyAreAnsweredAtOnce(t *testing.T) {
	reached := make(chan struct{}, 4*maxOpen)
	hold := make(chan struct{})
	path := listen(t, Session{Step: os.Getppid(), Token: token, Handle: func(context.Context, message.Body) (message.ID, error) {
		reached <- struct{}{}
		<-hold
		return "id", nil
	}})
	done := make(chan error)
	for range 2 * maxOpen {
		go func() {
			_, err := Send(context.Background(), path, token, message.Discovery{Description: "x", Severity: "low", Urgency: "deferred"})
			done <- err
		}()
	}
	for range maxOpen {
		<-reached
	}
	select {
	case <-reached:
		t.Errorf("more than %d are answered", maxOpen)
	case <-time.After(100 * time.Millisecond):
	}
	close(hold)
	for range 2 * maxOpen {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
