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

// NoMatchError says that no playbook fits an intent, and which nearly do.
type NoMatchError struct {
	Intent    string
	Available []string
	Near      []Fit // whose words are in the intent; best first
}

func (e *NoMatchError) Error() string {
	text := fmt.Sprintf("no playbook fits %q", cut(e.Intent, 80))
	if len(e.Near) == 0 {
		return text + "; available: " + strings.Join(e.Available, ", ")
	}
	reasons := make([]string, len(e.Near))
	for i, f := range e.Near {
		reasons[i] = f.Book.Name + " would, but " + f.why()
	}
	return text + ": " + strings.Join(reasons, "; ")
}

// Hint says what does fit, and how to go on.
func (e *NoMatchError) Hint() string {
	if near := e.NearHint(); near != "" {
		return near + ", or set up a model: run `orch doctor`"
	}
	return "name one with --playbook, write .orch/playbooks/NAME.yaml, or set up a model: run `orch doctor`"
}

// NearHint says what the nearest playbook does fit, and how to take it all the
// same; empty if none is near.
func (e *NoMatchError) NearHint() string {
	if len(e.Near) == 0 {
		return ""
	}
	p := e.Near[0].Book
	text := fmt.Sprintf("--playbook %s takes it without matching", p.Name)
	if len(p.Examples) > 0 {
		text = fmt.Sprintf("%s fits %s; %s", p.Name, quotedList(p.Examples[:min(len(p.Examples), 3)]), text)
	}
	return text
}

// Doubtful is the best playbook against which nothing speaks but words that it
// does not know: a person may say whether to take it.
func (e *NoMatchError) Doubtful() (Fit, bool) {
	if len(e.Near) == 0 || e.Near[0].Against != "" {
		return Fit{}, false
	}
	return e.Near[0], true
}

// why says what keeps a playbook from fitting.
func (f Fit) why() string {
	if f.Against != "" {
		return f.Against
	}
	return "it does not know " + quotedList(f.Unknown)
}

func quotedList(list []string) string {
	all := make([]string, len(list))
	for i, s := range list {
		all[i] = quoted(s)
	}
	return strings.Join(all, ", ")
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
