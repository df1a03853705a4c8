package playbook_test

import (
	"os"
	"path/filepath"
	"testing"

	"orch/prompts"
	"orch/roles/think/playbook"
)

func TestTestCommandIsWhatTheProjectOffers(t *testing.T) {
	lib, err := playbook.Load(prompts.Playbooks(), os.DirFS(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	b, err := playbook.New(playbook.Options{Library: lib, Orch: "orch", Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ file, text, want string }{
		{"go.mod", "module x\n", "go test ./..."},
		{"Makefile", "test:\n\ttrue\n", "make test"},
		{"notes.txt", "x", ""},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, c.file), []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := b.TestCommand(dir); err != nil || got != c.want {
			t.Errorf("%s: %q, %v, want %q", c.file, got, err, c.want)
		}
	}
}
