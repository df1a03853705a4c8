package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestACopyHoldsWhatIsThereButOrchsOwnFolder(t *testing.T) {
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	put := func(path, text string) {
		t.Helper()
		full := filepath.Join(from, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(text), 0o700)); err != nil {
			t.Fatal(err)
		}
	}
	put("a/b.sh", "echo hi")
	put(".orch/log.jsonl", "{}")
	put(".git/HEAD", "ref: refs/heads/main")
	if err := errors.Join(os.Symlink("b.sh", filepath.Join(from, "a", "in")), os.Symlink("/etc/passwd", filepath.Join(from, "out")), os.Symlink("../..", filepath.Join(from, "a", "up"))); err != nil {
		t.Fatal(err)
	}
	if err := Copy(from, to); err != nil {
		t.Fatal(err)
	}
	for path, there := range map[string]bool{"a/b.sh": true, ".git/HEAD": true, "a/in": true, ".orch": false, "out": false, "a/up": false} {
		if _, err := os.Lstat(filepath.Join(to, path)); (err == nil) != there {
			t.Errorf("%s: %v", path, err)
		}
	}
	if info, err := os.Stat(filepath.Join(to, "a", "b.sh")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestWhatIsTooLargeIsNotCopied(t *testing.T) {
	from := t.TempDir()
	f, err := os.Create(filepath.Join(from, "sparse"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Truncate(copyBytes+1), f.Close()); err != nil {
		t.Fatal(err)
	}
	if err := Copy(from, filepath.Join(t.TempDir(), "copy")); !errors.As(err, new(*CopyTooLargeError)) {
		t.Errorf("got %v", err)
	}
}
