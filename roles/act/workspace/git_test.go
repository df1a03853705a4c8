//go:build unix

package workspace

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// told is closed once what is written to it says so.
type told struct {
	want string
	got  strings.Builder
	done chan struct{}
}

func (t *told) Write(p []byte) (int, error) {
	before := strings.Contains(t.got.String(), t.want)
	t.got.Write(p)
	if !before && strings.Contains(t.got.String(), t.want) {
		close(t.done)
	}
	return len(p), nil
}

// A run may end, and stop its merges, at any moment. Git takes its locks away
// when it is asked to end; killed, it would leave them, and the branch could
// not be moved again.
func TestAGitThatIsStoppedLeavesNoLock(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"},
		{"-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "--allow-empty", "-m", "start"},
	} {
		if _, err := git(t.Context(), dir, args...); err != nil {
			t.Fatal(err)
		}
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if _, err := w.WriteString("start\nupdate refs/heads/integration HEAD\nprepare\n"); err != nil {
		t.Fatal(err)
	}
	lock := filepath.Join(dir, ".git", "refs", "heads", "integration.lock")
	ctx, stop := context.WithCancel(t.Context())
	prepared := &told{want: "prepare: ok", done: make(chan struct{})}
	ended := make(chan error, 1)
	go func() {
		_, err := call{dir: dir, stdin: r, out: prepared, args: []string{"update-ref", "--stdin"}}.run(ctx)
		ended <- err
	}()
	select {
	case <-prepared.done:
	case err := <-ended:
		t.Fatalf("it ended before it had its lock: %v", err)
	}
	if _, err := os.Stat(lock); err != nil {
		t.Fatalf("git locks in another way: %v", err)
	}
	stop()
	if err := <-ended; err == nil {
		t.Error("a call that was stopped went well")
	}
	if _, err := os.Stat(lock); !os.IsNotExist(err) {
		t.Errorf("the lock of a git that is gone is still there: %v", err)
	}
	if _, err := git(t.Context(), dir, "update-ref", "refs/heads/integration", "HEAD"); err != nil {
		t.Errorf("the branch can not be moved any more: %v", err)
	}
}
