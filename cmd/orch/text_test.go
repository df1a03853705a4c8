package main

import (
	"os"
	"path/filepath"
	"testing"
)

// Words that are not UTF-8 are refused before anything is made of them; JSON
// would change them without a word.
func TestAGoalThatIsNoTextIsRefused(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	orch(t, root, "run", "make caf\xe9 pass").want(t, exitUsage, "the goal is not UTF-8: byte 9 is 0xe9", "iconv")
	if _, err := os.Lstat(filepath.Join(root, ".orch")); err == nil {
		t.Error("there is a board")
	}
	orch(t, root, "init").want(t, exitOK)
	orch(t, root, "memory", "add", "caf\xe9").want(t, exitInternal, "text is not UTF-8: byte 4 is 0xe9")
}
