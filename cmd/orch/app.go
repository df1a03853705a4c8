package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"golang.org/x/term"

	"orch/blackboard"
	"orch/blackboard/crash"
	"orch/blackboard/journal"
	"orch/blackboard/message"
	"orch/blackboard/plainfile"
	"orch/roles/act/confine"
	"orch/roles/act/process"
	"orch/roles/run/config"
	"orch/roles/think/choose"
)

// Exit codes of orch, as the README lists them.
const (
	exitOK          = 0
	exitInternal    = 1
	exitUsage       = 2
	exitAbandoned   = 3
	exitSuspended   = 4
	exitAgain       = 42
	exitInterrupted = 130
)

// app is what every command is given: streams, global flags, and how to open the board.
type app struct {
	line     []string // what was typed behind the program's name
	in       io.Reader
	out, err io.Writer
	dir      string // where to look for .orch, --dir
	asJSON   bool
	unsafeFS bool
	verbose  bool // show what the controller measured, too

	tried *confine.Machine // what this machine has to confine with, once it was tried

	guards guards

	refuses func(context.Context) error // instead of mustBePerson, for tests

	maxTasks atomic.Int64 // view.max_tasks, once a configuration was read
}

// exitError carries an exit code out of a command. A nil cause prints nothing.
type exitError struct {
	code  int
	cause error
}

func (e *exitError) Error() string {
	if e.cause == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.cause.Error()
}

func (e *exitError) Unwrap() error { return e.cause }

// hinted is an error that names the next command.
type hinted struct {
	error
	hint string
}

func (h hinted) Hint() string  { return h.hint }
func (h hinted) Unwrap() error { return h.error }

// hintOf is what an error says a person can do; empty if it says nothing.
func hintOf(err error) string {
	var h interface{ Hint() string }
	if errors.As(err, &h) {
		return h.Hint()
	}
	var not *plainfile.NotFileError
	if errors.As(err, &not) && filepath.Base(filepath.Dir(not.Path)) == blackboard.DirName {
		return "run `orch board repair`: it moves it out of the way"
	}
	return ""
}

// usagef is a mistake of the caller: exit 2, with a hint.
func usagef(hint, format string, args ...any) error {
	return &exitError{code: exitUsage, cause: hinted{fmt.Errorf(format, args...), hint}}
}

// Main runs one command line and returns the exit code.
func Main(args []string, in io.Reader, out, errw io.Writer) (code int) {
	o, e := newEdge(out, wholeBy(args, false)), newEdge(errw, wholeBy(args, false))
	defer o.flush()
	defer e.flush()
	a := &app{line: args, in: in, out: o, err: e}
	crash.Handle(func(cause any) { os.Exit(a.crashed(cause)) })
	defer func() {
		if cause := recover(); cause != nil {
			code = a.crashed(cause)
		}
	}()
	process.NameHome()
	ctx, list := context.Background(), needed(args)
	if len(list) > 1 || list[0].signals() {
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
		defer stop()
	}
	root := newRoot(a, list)
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(o)
	root.SetErr(e)
	return a.finish(root.ExecuteContext(ctx))
}

// finish prints an error the way people see all of them and picks the exit code.
func (a *app) finish(err error) int {
	if err == nil {
		return exitOK
	}
	code := exitCode(err)
	var e *exitError
	if errors.As(err, &e) && e.cause == nil {
		return code
	}
	say(a.err, "error: %s\n", under(7, err.Error()))
	if hint := hintOf(err); hint != "" {
		say(a.err, "hint: %s\n", under(6, hint))
	}
	return code
}

func exitCode(err error) int {
	var e *exitError
	var c *config.Error
	var u interface{ Usage() bool }
	switch {
	case errors.As(err, &e):
		return e.code
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.As(err, &c), errors.As(err, &u) && u.Usage():
		return exitUsage
	case journal.FaultOf(err) == journal.DiskFull:
		return exitSuspended // nothing was lost, and a person has to make room
	}
	return exitInternal
}

// root is the project directory: where .orch is, found upwards.
func (a *app) root() (string, error) {
	dir, err := filepath.Abs(a.dir)
	if err != nil {
		return "", fmt.Errorf("resolve directory: %w", err)
	}
	root, err := blackboard.Find(dir)
	if errors.Is(err, blackboard.ErrNoBoard) {
		if lost := blackboard.Lost(dir, a.options(person())); lost != nil {
			return "", noBoardLeft{lost, err}
		}
	}
	if err != nil {
		return "", &exitError{code: exitUsage, cause: err}
	}
	return root, nil
}

// noBoardLeft: the board that this machine remembers here is gone.
type noBoardLeft struct {
	error
	none error
}

func (e noBoardLeft) Unwrap() []error { return []error{e.error, e.none} }

// warn says what went wrong without stopping the command.
func (a *app) warn(err error) {
	if !a.asJSON {
		say(a.err, "warning: %s\n", under(9, err.Error()))
		if hint := hintOf(err); hint != "" {
			say(a.err, "hint: %s\n", under(6, hint))
		}
	}
}

// read opens the board of the project without taking a lock.
func (a *app) read() (*blackboard.Board, error) {
	root, err := a.root()
	if err != nil {
		return nil, err
	}
	o := a.options(blackboard.Identity{})
	o.ReadOnly = true
	b, err := blackboard.Open(root, o)
	if err == nil {
		a.bringUpToDate(context.Background(), b)
	}
	return b, err
}

// options are those of a board to which one agent writes: whatever it says is
// soon in state.yaml as well.
func (a *app) options(id blackboard.Identity) blackboard.Options {
	o, _ := a.boardOptions(id)
	return o
}

func (a *app) boardOptions(id blackboard.Identity) (blackboard.Options, *freshView) {
	collectLess()
	state, err := blackboard.UserStateDir(os.Getenv)
	if err != nil {
		state = "" // without a home nothing can be noted there; the board works all the same
	}
	fresh := &freshView{a: a}
	return blackboard.Options{
		StateDir: state, Redact: blackboard.NewRedactor(os.Environ()),
		FS: journal.OSFS{}, Clock: journal.SystemClock{}, IDs: journal.UUIDs{},
		Identity: id, UnsafeFS: a.unsafeFS, Refuse: notBelow(id),
		Appended: fresh.appended, Closing: fresh.closing,
	}, fresh
}

// person is the identity of whoever types at the terminal.
func person() blackboard.Identity {
	return blackboard.Identity{Agent: "human-1", Speaks: []message.Role{message.Human, message.Board}}
}

// config reads the configuration of the project.
func (a *app) config(root string) (config.Config, error) {
	cfg, err := config.Load(filepath.Join(root, ".orch", "config.yaml"))
	if err != nil {
		return cfg, err
	}
	a.maxTasks.Store(int64(cfg.View.MaxTasks))
	if err := nameKeys(cfg); err != nil {
		return cfg, err
	}
	return cfg.Rooted(root)
}

// nameKeys notes in the environment of this process which variables hold keys,
// so that whoever makes the environment of another one leaves them out.
func nameKeys(cfg config.Config) error {
	names := blackboard.KeysIn([]string{blackboard.KeysEnv + "=" + os.Getenv(blackboard.KeysEnv)}) // as who started it said
	for _, m := range cfg.Models {
		if key := m.Options[choose.OptionKeyEnv]; key != "" && key != "none" {
			names = append(names, key)
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	return os.Setenv(blackboard.KeysEnv, strings.Join(slices.Compact(names), ","))
}

// printJSON writes one value as indented JSON with a final newline.
func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// terminal tells whether a stream is a terminal a person looks at.
func terminal(stream any) bool {
	f, ok := stream.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(f.Fd()))
}
