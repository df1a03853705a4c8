package socket

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"orch/blackboard/message"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type hinting struct{ error }

func (hinting) Hint() string { return "read your contract" }

const token = "the token of the step"

// serve lets a step listen that this process, as far as the socket knows, is below.
func serve(t *testing.T) string {
	t.Helper()
	return listen(t, Session{Step: os.Getppid(), Token: token, Handle: func(_ context.Context, b message.Body) (message.ID, error) {
		if _, ok := b.(message.Anomaly); !ok {
			return "", hinting{errors.New("an executor may not say " + string(b.Type()))}
		}
		return "id-1", nil
	}})
}

func listen(t *testing.T, s Session) string {
	t.Helper()
	if err := MakeFolder(); err != nil {
		t.Fatal(err)
	}
	path, stop, err := Serve(t.Context(), Dir(rand.Text()), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Error("the socket is still there")
		}
	})
	return path
}

// TestStrangersAreNotHeard has who must not speak through a step: a process that
// the step did not start, and one below it that was not told its token.
func TestStrangersAreNotHeard(t *testing.T) {
	note := message.Anomaly{Task: "t", Kind: "others", Details: map[string]string{"what": "x"}}
	for name, c := range map[string]struct {
		step  int
		token string
		why   string
	}{
		"of another step": {os.Getpid(), token, "not started by this step"},
		"of nobody":       {1 << 30, token, "not started by this step"},
		"without a token": {os.Getppid(), "", "token"},
		"a wrong token":   {os.Getppid(), token + "x", "token"},
	} {
		t.Run(name, func(t *testing.T) {
			refused := make(chan Stranger, 1)
			path := listen(t, Session{Step: c.step, Token: token,
				Handle:  func(context.Context, message.Body) (message.ID, error) { t.Error("it was heard"); return "", nil },
				Refused: func(_ context.Context, s Stranger) { refused <- s }})
			_, err := Send(t.Context(), path, c.token, note)
			var r *RefusedError
			if !errors.As(err, &r) || !strings.Contains(err.Error(), c.why) || r.Hint() == "" {
				t.Errorf("answered %v", err)
			}
			if who := <-refused; who.PID != os.Getpid() || who.Command == "" || !strings.Contains(who.Why, c.why) {
				t.Errorf("noted %+v", who)
			}
		})
	}
}

// TestAFolderOfSomebodyElseIsRefused has what could lie where sockets are made.
func TestAFolderOfSomebodyElseIsRefused(t *testing.T) {
	for name, lay := range map[string]func(string) error{
		"others may write": func(p string) error { return errors.Join(os.Mkdir(p, 0o700), os.Chmod(p, 0o777)) },
		"a link":           func(p string) error { return os.Symlink(os.TempDir(), p) },
		"a file":           func(p string) error { return os.WriteFile(p, nil, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			if err := lay(Folder()); err != nil {
				t.Fatal(err)
			}
			if MakeFolder() == nil {
				t.Error("it is taken")
			}
		})
	}
}

// Below a long TMPDIR no socket can be.
func TestALongPlaceForTemporaryFilesIsAvoided(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("x", pathBytes))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", long)
	if _, err := Send(t.Context(), serve(t), token, message.Anomaly{Task: "t", Kind: "others", Details: map[string]string{"what": "x"}}); err != nil {
		t.Error(err)
	}
}

func TestSaysWhatTheHandlerAllows(t *testing.T) {
	path := serve(t)
	id, err := Send(t.Context(), path, token, message.Anomaly{Task: "t", Kind: "others", Details: map[string]string{"what": "x"}})
	if err != nil || id != "id-1" {
		t.Errorf("got %q, %v", id, err)
	}
	_, err = Send(t.Context(), path, token, message.Paused{Reason: "x"})
	var r *RefusedError
	if !errors.As(err, &r) || r.Hint() != "read your contract" {
		t.Errorf("got %v", err)
	}
}

func TestBadRequestsAreAnsweredWithAReason(t *testing.T) {
	path := serve(t)
	for name, c := range map[string]struct{ send, want string }{
		"not json":   {"hello\n", "not JSON"},
		"no line":    {"{", "not a line"},
		"version":    {`{"version":2,"type":"Anomaly","payload":{}}` + "\n", "version 2"},
		"unknown":    {`{"version":1,"token":"the token of the step","type":"Nope","payload":{}}` + "\n", "unknown message type"},
		"incomplete": {`{"version":1,"token":"the token of the step","type":"Anomaly","payload":{"task":"t","kind":"others","details":{}}}` + "\n", "details.what"},
		"very long":  {strings.Repeat("x", maxBytes+2), "longer than"},
	} {
		conn, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			io.WriteString(conn, c.send)
			conn.(*net.UnixConn).CloseWrite()
		}()
		answer, err := io.ReadAll(conn)
		if err != nil && len(answer) == 0 {
			t.Errorf("%s: %v", name, err)
		}
		conn.Close()
		if !strings.Contains(string(answer), c.want) {
			t.Errorf("%s: got %s, want %q", name, answer, c.want)
		}
	}
}
