package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"orch/blackboard"
)

// crashed ends a panic the way people see every error: the terminal as it was,
// exit 1, and a report that somebody can send. It is called where the panic was
// recovered, so that the stack is the one that led to it.
func (a *app) crashed(cause any) int {
	report := fmt.Sprintf("orch %s\n%s\nargs: %q\n\npanic: %v\n\n%s", version, time.Now().UTC().Format(time.RFC3339), os.Args[1:], cause, debug.Stack())
	if end := wiped(a.err); end != "" {
		fmt.Fprint(a.err, end)
	}
	say(a.err, "error: this is a fault of orch: %v\n", cause)
	path, err := a.keepCrash(blackboard.NewRedactor(os.Environ())([]byte(report)))
	if err != nil {
		say(a.err, "%s\n", block(report))
		return exitInternal
	}
	say(a.err, "hint: the report is in %s; nothing that is on record is lost: orch run --continue\n", path)
	return exitInternal
}

// keepCrash writes a report beside what only this machine needs.
func (a *app) keepCrash(report []byte) (path string, err error) {
	root, err := a.root()
	if err != nil {
		return "", err
	}
	name := fmt.Sprintf("crash-%s-%d.txt", strings.ReplaceAll(time.Now().UTC().Format("20060102-150405.000"), ".", "-"), os.Getpid())
	path = filepath.Join(root, blackboard.DirName, blackboard.RunDir, name)
	if err := os.WriteFile(path, report, 0o600); err != nil {
		return "", fmt.Errorf("keep the report: %w", err)
	}
	return path, nil
}
