package gate

import (
	"fmt"
	"strings"
)

// Finding is one thing a call would do that needs permission.
type Finding struct {
	Action  Action `json:"action"`
	Program string `json:"program"` // the program at fault, or the tool
	Target  string `json:"target"`  // what a rule's pattern is matched against
	Why     string `json:"why"`
}

// Decision is the answer for one call.
type Decision struct {
	Allow    bool
	Reason   string    // why not, in one line; empty when allowed
	Needs    Rule      // the rule that would let this call pass; zero when allowed or denied by a rule
	DeniedBy string    // id of the deny rule that forbids it for good
	Findings []Finding // everything that needed permission, also what rules already gave
	ReadOnly bool      // provably changes nothing
	Programs []string  // the programs it runs, wrappers left out, in order
}

// Entry is what is known about one path.
type Entry struct {
	Real    string // absolute, symbolic links resolved as far as the path exists
	Exists  bool
	Dir     bool
	Inside  bool // Real is in the workspace
	Created bool // made by this goal (for a directory: with all it contains), so it may be lost
	Scratch bool // in the step's temporary directory, or a device such as /dev/null
}

// Facts is what the gate may know of the workspace. Implementations must be
// quick and must not follow names out of what they describe.
type Facts interface {
	Root() string                            // the workspace, absolute and without symbolic links
	Home() string                            // the person's home, for a leading ~; may be empty
	Inspect(abs string) Entry                // abs need not exist
	Glob(abs string) ([]string, bool)        // existing paths that match; false when there are too many to tell
	Source(abs string) (src []byte, ok bool) // a script's text, when it is small enough to read
}

// Dialect is the shell that will run the command: the gate must read it alike.
type Dialect string

// The dialects the gate can read.
const (
	Bash  Dialect = "bash"
	POSIX Dialect = "posix"
)

// Gate judges calls against rules and facts.
type Gate struct {
	Facts   Facts
	Rules   []Rule
	Dialect Dialect
}

// decide applies the rules to what was found.
func (g Gate) decide(tool, command string, found []Finding) Decision {
	d := Decision{Findings: found}
	var unmet []Finding
	for _, f := range found {
		allowed := false
		for _, r := range g.Rules {
			if !r.covers(tool, command, f) {
				continue
			}
			if r.Effect == Deny {
				d.DeniedBy, d.Reason = r.ID, fmt.Sprintf("%s (forbidden by rule %s)", f.Why, r.ID)
				return d
			}
			allowed = true
		}
		if !allowed {
			unmet = append(unmet, f)
		}
	}
	if len(unmet) == 0 {
		d.Allow = true
		return d
	}
	whys := make([]string, 0, 3)
	for i, f := range unmet {
		if i == 3 {
			whys = append(whys, fmt.Sprintf("and %d more", len(unmet)-i))
			break
		}
		whys = append(whys, f.Why)
	}
	d.Reason = strings.Join(whys, "; ")
	d.Needs = need(tool, command, unmet)
	return d
}

// need is the narrowest rule that lets the call pass: for one finding its
// target, for several the command itself, so that one yes is enough.
func need(tool, command string, unmet []Finding) Rule {
	first := unmet[0]
	for _, f := range unmet[1:] {
		if f.Action != first.Action || f.Target != first.Target {
			return NewRule(tool, Command, command)
		}
	}
	if first.Target == "" || strings.ContainsAny(first.Target, `*?[{\`) {
		return NewRule(tool, Command, command)
	}
	return NewRule(tool, first.Action, first.Target)
}
