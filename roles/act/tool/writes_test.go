package tool

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestWhatACallIsSeenToWrite(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "docs"), 0o755); err != nil {
		t.Fatal(err)
	}
	b, err := New(Options{Workspace: root, NowMS: func() int64 { return 0 }})
	if err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string][]string{
		"echo x > docs/a.md":        {"docs/a.md"},
		"cd docs && echo x >> b.md": {"docs/b.md"},
		"rm -f go.sum":              {"go.sum"},
		"cat go.mod > /dev/null":    nil,
		"go test ./...":             nil,
	} {
		raw, err := json.Marshal(ShellInput{Command: command})
		if err != nil {
			t.Fatal(err)
		}
		if got := b.Writes(Call{Tool: Shell, Input: raw}); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", command, got, want)
		}
	}
	if got := b.Writes(Call{Tool: WriteFile, Input: []byte(`{"path":"x/y.txt","content":"z"}`)}); !slices.Equal(got, []string{"x/y.txt"}) {
		t.Errorf("write_file: %v", got)
	}
}
