package gate

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Action is a kind of change that needs permission.
type Action string

// The actions a finding or a rule can be about.
const (
	Delete     Action = "delete"      // remove a file or directory the goal did not create
	Overwrite  Action = "overwrite"   // replace the content of one
	Outside    Action = "outside"     // change anything outside the workspace, on this machine or another
	Protected  Action = "protected"   // change .orch/ or .git/
	History    Action = "history"     // change commits, branches, stash or git's configuration
	Privilege  Action = "privilege"   // run as another user
	Kill       Action = "kill"        // signal processes that the command did not start
	InlineCode Action = "inline-code" // code for an interpreter that the gate can not follow
	Unknown    Action = "unknown"     // a program, target or script that can not be known beforehand
	Caution    Action = "caution"     // use an approach of which the memory is unsure; the target is "approach on target"
	Again      Action = "again"       // make a call again of which nobody knows whether it took effect; the target is the call
	Program    Action = "program"     // in rules: any finding of a program
	Command    Action = "command"     // in rules: one command, letter for letter
)

var actions = []Action{Delete, Overwrite, Outside, Protected, History, Privilege, Kill, InlineCode, Unknown, Caution, Again, Program, Command}

// Effect is what a rule does.
type Effect string

// The effects. A matching deny wins over every allow.
const (
	Allow Effect = "allow"
	Deny  Effect = "deny"
)

// Rule permits or forbids what it matches. Pattern is a doublestar glob over
// the finding's target (a path relative to the workspace, or absolute outside
// it; a program for Program; the whole command, literally, for Command). An
// empty Tool means every tool.
type Rule struct {
	ID      string `json:"id" yaml:"id"`
	Tool    string `json:"tool,omitempty" yaml:"tool"`
	Action  Action `json:"action" yaml:"action"`
	Pattern string `json:"pattern" yaml:"pattern"`
	Effect  Effect `json:"effect" yaml:"effect"`
}

// NewRule makes an allowing rule with its stable id: the same tool, action and
// pattern have the same id in every run.
func NewRule(tool string, action Action, pattern string) Rule {
	sum := sha256.Sum256([]byte(tool + "\x00" + string(action) + "\x00" + pattern))
	return Rule{ID: string(action) + "-" + hex.EncodeToString(sum[:4]), Tool: tool, Action: action, Pattern: pattern, Effect: Allow}
}

// ParseRule reads "action:pattern" or "tool:action:pattern", the form of
// --allow and of config, as an allowing rule.
func ParseRule(text string) (Rule, error) {
	first, rest, ok := strings.Cut(text, ":")
	tool := ""
	if ok && !slices.Contains(actions, Action(first)) {
		tool = first
		first, rest, ok = strings.Cut(rest, ":")
	}
	r := NewRule(tool, Action(first), rest)
	if !ok {
		return Rule{}, fmt.Errorf("rule %q: want action:pattern, such as delete:build/**", text)
	}
	return r, r.Validate()
}

// Validate reports the first thing that makes a rule unusable.
func (r Rule) Validate() error {
	switch {
	case !slices.Contains(actions, r.Action):
		return fmt.Errorf("rule action %q is unknown, want one of %s", r.Action, actionNames())
	case r.Pattern == "":
		return fmt.Errorf("rule for %s has no pattern", r.Action)
	case r.Action != Command && !doublestar.ValidatePattern(r.Pattern):
		return fmt.Errorf("rule pattern %q is not a valid glob", r.Pattern)
	case r.Effect != Allow && r.Effect != Deny:
		return fmt.Errorf("rule effect %q is not allow or deny", r.Effect)
	}
	return nil
}

func actionNames() string {
	names := make([]string, len(actions))
	for i, a := range actions {
		names[i] = string(a)
	}
	return strings.Join(names, ", ")
}

// covers tells whether the rule is about a finding of one call.
func (r Rule) covers(tool, command string, f Finding) bool {
	if r.Tool != "" && r.Tool != tool {
		return false
	}
	switch r.Action {
	case Command:
		return r.Pattern == command
	case Program:
		return f.Action != Protected && matches(r.Pattern, f.Program)
	}
	return r.Action == f.Action && matches(r.Pattern, f.Target)
}

func matches(pattern, s string) bool {
	if pattern == s || pattern == "**" {
		return true
	}
	ok, err := doublestar.Match(pattern, s)
	return err == nil && ok
}
