package playbook

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// DecodeError says what is wrong in a playbook file, where, and what is allowed.
type DecodeError struct {
	File    string
	Line    int // 0 when it is about the file as a whole
	What    string
	Allowed string
}

func (e *DecodeError) Error() string {
	where := e.File
	if e.Line > 0 {
		where = fmt.Sprintf("%s:%d", e.File, e.Line)
	}
	return where + ": " + e.What
}

// Hint says what is allowed instead.
func (e *DecodeError) Hint() string {
	if e.Allowed == "" {
		return "the format is described in docs/playbooks.md"
	}
	return "allowed: " + e.Allowed
}

// NoMatchError says that no playbook fits an intent.
type NoMatchError struct {
	Intent    string
	Available []string
}

func (e *NoMatchError) Error() string {
	return fmt.Sprintf("no playbook fits %q; available: %s", cut(e.Intent, 80), strings.Join(e.Available, ", "))
}

// Hint says how to go on.
func (e *NoMatchError) Hint() string {
	return "name one with --playbook, write .orch/playbooks/NAME.yaml, or set up a model: run `orch doctor`"
}

// UnknownError says that a playbook asked for by name does not exist.
type UnknownError struct {
	Name      string
	Available []string
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("there is no playbook %q; available: %s", e.Name, strings.Join(e.Available, ", "))
}

// Hint says where a person's own playbooks belong.
func (e *UnknownError) Hint() string { return "your own playbooks belong in .orch/playbooks/NAME.yaml" }

// cut shortens a text for a message, at a rune boundary.
func cut(s string, max int) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= max {
		return s
	}
	for max > 0 && !utf8.RuneStart(s[max]) {
		max--
	}
	return s[:max] + "…"
}
