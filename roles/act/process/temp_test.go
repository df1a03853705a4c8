package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

func TestTemporaryDirectoriesOfTheDeadAreCleared(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	own, err := MakeTemp()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "helper", "mktemp")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	dead := string(out)
	if err := os.WriteFile(filepath.Join(dead, "file"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	odd := filepath.Join(os.TempDir(), tempPrefix+pidSpace()+"-x")
	elsewhere := filepath.Join(os.TempDir(), tempPrefix+"zz-1-1-1")
	for _, dir := range []string{odd, elsewhere} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	cleared, err := ClearTemp()
	if err != nil || !slices.Equal(cleared, []string{dead}) {
		t.Errorf("cleared %v, %v; want %s", cleared, err, dead)
	}
	for dir, want := range map[string]bool{own: true, dead: false, odd: true, elsewhere: true} {
		if _, err := os.Stat(dir); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", dir, err == nil, want)
		}
	}
}
