package trust

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func project(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		p := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func git(t *testing.T, root string, args ...string) {
	t.Helper()
	if out, err := exec.Command("git", append([]string{"-C", root}, args...)...).CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func TestOwnFilesNeedNoTrust(t *testing.T) {
	root := project(t, map[string]string{".orch/config.yaml": "strict: true\n", ".orch/hooks/on-final": "#!/bin/sh\n"})
	if err := Open(t.TempDir()).Check(t.Context(), root); err != nil {
		t.Error(err)
	}
	git(t, root, "init", "-q")
	if err := Open(t.TempDir()).Check(t.Context(), root); err != nil {
		t.Errorf("untracked files of a repository: %v", err)
	}
}

func TestClonedFilesRunOnlyAfterTrustOfExactlyThem(t *testing.T) {
	root := project(t, map[string]string{".orch/hooks/on final ü": "#!/bin/sh\n", ".orch/playbooks/a.yaml": "name: a\n"})
	git(t, root, "init", "-q")
	git(t, root, "add", "-f", ".orch")
	s := Open(t.TempDir())
	var u *UntrustedError
	if err := s.Check(t.Context(), root); !errors.As(err, &u) || len(u.Files) != 2 {
		t.Fatalf("got %v, want both files", err)
	}
	if files, err := s.Add(t.Context(), root); err != nil || len(files) != 2 {
		t.Fatalf("trusted %v, %v", files, err)
	}
	if err := s.Check(t.Context(), root); err != nil {
		t.Fatalf("after trust: %v", err)
	}
	if err := os.WriteFile(filepath.Join(root, ".orch/playbooks/a.yaml"), []byte("name: b\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := s.Check(t.Context(), root); !errors.As(err, &u) || len(u.Files) != 1 {
		t.Fatalf("after a change: %v", err)
	}
}

// A relative state directory could lie in the project.
func TestARelativeStateDirectoryIsIgnored(t *testing.T) {
	t.Setenv("HOME", "/home/somebody")
	t.Setenv("XDG_STATE_HOME", "state")
	if dir, err := StateDir(); err != nil || dir != filepath.Join("/home/somebody", ".local", "state") {
		t.Errorf("%s, %v", dir, err)
	}
	t.Setenv("XDG_STATE_HOME", "/elsewhere")
	if dir, err := StateDir(); err != nil || dir != "/elsewhere" {
		t.Errorf("%s, %v", dir, err)
	}
}
