package blackboard

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"unicode/utf8"

	"orch/blackboard/journal"
	"orch/blackboard/message"
)

// DirName is the directory of a board inside a project.
const DirName = ".orch"

// What is in it. Everything else under DirName belongs to people, or to the
// packages that write it.
const (
	ArchiveDir = "archive" // closed segments, their checkpoints, torn tails
	AuditDir   = "audit"
	GoalsDir   = "goals" // what steps read and wrote
	RunDir     = "run"   // locks and notes of living processes
	CacheDir   = "cache" // may be removed at any time
	MemoryDir  = "memory"
	HooksDir   = "hooks"
	BooksDir   = "playbooks"

	ignoreName     = ".gitignore"
	layoutLockName = "layout.lock"
	dirPerm        = fs.FileMode(0o755)
	filePerm       = fs.FileMode(0o644)
)

// ErrNoBoard: neither the directory nor one above it has a board.
var ErrNoBoard error = noBoardError{}

type noBoardError struct{}

func (noBoardError) Error() string { return "there is no " + DirName + " here or above" }

// Hint says what a person can do.
func (noBoardError) Hint() string { return "run `orch init` in the project's directory" }

// Find returns the nearest directory that holds a board: dir, or one above it.
func Find(dir string) (root string, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find the board: %w", err)
	}
	for from := dir; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(filepath.Join(dir, DirName))
		switch {
		case err == nil && info.IsDir():
			return dir, nil
		case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission):
			return "", fmt.Errorf("find the board: %w", err)
		case dir == filepath.Dir(dir):
			return "", fmt.Errorf("find the board of %s: %w", from, ErrNoBoard)
		}
	}
}

// Git must not move the truth under a living process: stash, clean and checkout
// leave ignored files alone. What people write and read may be tracked.
const ignoreHead = `# What people write, and the views, may be tracked. The rest is the machine's.
/*
!/.gitignore
!/config.yaml
!/values.md
!/playbooks/
!/hooks/
!/state.yaml
!/memory.yaml
!/audit/
/audit/*
!/audit/*.md
`

const ignoreTracked = `# The log is tracked too (orch board track). Do not stash or check it out while orch runs.
!/log.jsonl
!/archive/
/archive/*
!/archive/log-*.jsonl
`

// makeLayout makes the directories that are missing, and .gitignore.
func makeLayout(fsys journal.FS, dir string) error {
	for _, name := range []string{"", ArchiveDir, AuditDir, GoalsDir, RunDir, CacheDir, MemoryDir, HooksDir, BooksDir} {
		if err := fsys.MkdirAll(filepath.Join(dir, name), dirPerm); err != nil {
			return fmt.Errorf("make the board's directories: %w", err)
		}
	}
	// Two that make the board at once must not overlap.
	lock := fsys.NewLock(filepath.Join(dir, RunDir, layoutLockName))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("make the board's directories: %w", err)
	}
	defer func() { _ = lock.Close() }() // the system unlocks a closed file anyway
	name := filepath.Join(dir, ignoreName)
	if _, err := fsys.Stat(name); err == nil {
		return nil // a person may have changed it
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look for %s: %w", ignoreName, err)
	}
	return journal.WriteFileAtomic(fsys, name, []byte(ignoreHead), filePerm)
}

// Track lets git see the log of the board in root, or hides it again. Lines a
// person added to .gitignore stay.
func Track(fsys journal.FS, root string, on bool) error {
	name := filepath.Join(root, DirName, ignoreName)
	text, err := readFile(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = []byte(ignoreHead), nil
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	rest := strings.Replace(string(text), ignoreTracked, "", 1)
	if on {
		if rest != "" && !strings.HasSuffix(rest, "\n") {
			rest += "\n"
		}
		rest += ignoreTracked
	}
	if rest == string(text) {
		return nil
	}
	return journal.WriteFileAtomic(fsys, name, []byte(rest), filePerm)
}

// UserStateDir is where orch keeps what must outlive a project's directory:
// $XDG_STATE_HOME/orch, ~/.local/state/orch without it, and the local
// application data on Windows.
func UserStateDir(getenv func(string) string) (string, error) {
	if dir := getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "orch"), nil
	}
	if dir := getenv("LocalAppData"); runtime.GOOS == "windows" && dir != "" {
		return filepath.Join(dir, "orch"), nil
	}
	home := getenv("HOME")
	if home == "" {
		return "", errors.New("find the user's state directory: neither XDG_STATE_HOME nor HOME is set")
	}
	return filepath.Join(home, ".local", "state", "orch"), nil
}

// Root is the project's directory.
func (b *Board) Root() string { return b.root }

// Dir is the board's directory inside the project.
func (b *Board) Dir() string { return b.dir }

// GoalDir is where the steps of a goal keep what they read and wrote. What
// belongs to no goal is in "_".
func (b *Board) GoalDir(goal message.GoalID) string {
	if goal == "" {
		goal = "_"
	}
	return filepath.Join(b.dir, GoalsDir, string(goal))
}

// FilesDir is the part of a goal's folder that its commands may write: what
// they leave for one another and for the person. Commands write nothing else
// below the board.
func (b *Board) FilesDir(goal message.GoalID) string { return filepath.Join(b.GoalDir(goal), "files") }

// PathError says that a project lies where no board can be: what is said of its
// files is JSON, which holds only text, and many tools fail on such a path too.
type PathError struct{ Path string }

func (e *PathError) Error() string {
	return fmt.Sprintf("the path %+q is not valid UTF-8, so that no record could name what lies there", e.Path)
}

// Hint says what a person can do.
func (e *PathError) Hint() string {
	return "rename the directory, for example with mv and Tab, and try again"
}

func refusePath(root string) error {
	if utf8.ValidString(root) {
		return nil
	}
	return &PathError{root}
}
