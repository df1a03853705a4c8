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

func serve(t *testing.T) string {
	t.Helper()
	path, stop, err := Serve(t.Context(), Dir(rand.Text()), func(_ context.Context, b message.Body) (message.ID, error) {
		if _, ok := b.(message.Anomaly); !ok {
			return "", hinting{errors.New("an executor may not say " + string(b.Type()))}
		}
		return "id-1", nil
	})
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

// Below a long TMPDIR no socket can be.
func TestALongPlaceForTemporaryFilesIsAvoided(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("x", pathBytes))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", long)
	if _, err := Send(t.Context(), serve(t), message.Anomaly{Task: "t", Kind: "others", Details: map[string]string{"what": "x"}}); err != nil {
		t.Error(err)
	}
}

func TestSaysWhatTheHandlerAllows(t *testing.T) {
	path := serve(t)
	id, err := Send(t.Context(), path, message.Anomaly{Task: "t", Kind: "others", Details: map[string]string{"what": "x"}})
	if err != nil || id != "id-1" {
		t.Errorf("got %q, %v", id, err)
	}
	_, err = Send(t.Context(), path, message.Paused{Reason: "x"})
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
		"unknown":    {`{"version":1,"type":"Nope","payload":{}}` + "\n", "unknown message type"},
		"incomplete": {`{"version":1,"type":"Anomaly","payload":{"task":"t","kind":"others","details":{}}}` + "\n", "details.what"},
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
