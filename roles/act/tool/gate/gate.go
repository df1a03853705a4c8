package gate

import (
	"fmt"
	"slices"
	"strings"
)

// Finding is one thing a call would do that needs permission.
type Finding struct {
	Action  Action `json:"action"`
	Program string `json:"program"` // the program at fault, or the tool
	Target  string `json:"target"`  // what a rule's pattern is matched against
	Why     string `json:"why"`

	place bool // Target is one path
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
	Writes   []string  // absolute paths it is seen to write or delete; what a program does by itself is not seen
}

// Entry is what is known about one path.
type Entry struct {
	Real    string // absolute, symbolic links resolved as far as the path exists
	Exists  bool
	Dir     bool
	Inside  bool // Real is in the workspace
	Created bool // made by this goal (for a directory: with all it contains), so it may be lost
	Scratch bool // in the step's temporary directory or among the goal's own files
}

// Facts is what the gate may know of the workspace. Every path is absolute.
type Facts interface {
	Root() string // the workspace, without symbolic links
	// Inspect looks at a path, which need not exist. With follow, a symbolic
	// link stands for what it points to; without, for itself.
	Inspect(path string, follow bool) Entry
	// Glob lists what matches a pattern; false when that can not be told.
	Glob(pattern string) ([]string, bool)
	// Source is a script's text; false when there is none or it is too large.
	Source(path string) (string, bool)
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
	Vars    map[string]string // variables whose value in the command's environment is known
}

// Shell judges a command line that will run in dir (absolute).
func (g Gate) Shell(command, dir string) Decision {
	a := newAnalysis(g.Facts, "")
	st := newState(dir, g.Vars)
	a.shielded(command, st, g.Dialect)
	d := g.decide("shell", command, a.found, a.programs)
	d.Writes = a.writes
	d.Programs, d.ReadOnly = a.programs, a.readOnly && len(a.found) == 0
	return d
}

// Write judges a file tool that will put content at path (absolute): the whole
// file, or with edit a part of an existing one, which is no overwriting.
func (g Gate) Write(tool, path string, edit bool) Decision {
	a := newAnalysis(g.Facts, tool)
	st := newState(g.Facts.Root(), nil)
	a.write(tool, known(path), st, !edit)
	d := g.decide(tool, tool+" "+path, a.found, nil)
	d.Writes = a.writes
	return d
}

// Read judges a file tool that will read path (absolute). Reading in the
// workspace is free; outside it needs a rule.
func (g Gate) Read(tool, path string) Decision {
	var found []Finding
	if e := g.Facts.Inspect(path, true); !e.Inside && !e.Scratch {
		found = []Finding{{Action: Outside, Program: tool, Target: e.Real, Why: tool + " reads outside the workspace: " + e.Real, place: true}}
	}
	return g.decide(tool, tool+" "+path, found, nil)
}

// Ask judges a tool whose input the gate does not read: it needs a rule.
func (g Gate) Ask(tool string, action Action, target, why string) Decision {
	return g.decide(tool, tool+" "+target, []Finding{{Action: action, Program: tool, Target: target, Why: why}}, nil)
}

// Permit judges something that no input shows: it needs a rule of that action
// for exactly this target.
func (g Gate) Permit(action Action, target, why string) Decision {
	d := g.decide("", "", []Finding{{Action: action, Target: target, Why: why}}, nil)
	if !d.Allow && d.DeniedBy == "" {
		d.Needs = ExactRule(action, target)
	}
	return d
}

// ExactRule is the rule that permits an action on one target only.
func ExactRule(action Action, target string) Rule { return NewRule("", action, literal(target)) }

// literal is a pattern that matches one string.
func literal(s string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `{`, `\{`, `}`, `\}`).Replace(s)
}

// decide applies the rules to what was found.
func (g Gate) decide(tool, command string, found []Finding, programs []string) Decision {
	d := Decision{Findings: found}
	if r, ok := g.forbidden(tool, command, programs); ok {
		d.DeniedBy, d.Reason = r.ID, "forbidden by rule "+r.ID
		return d
	}
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

// forbidden finds a deny rule about a program or the command itself: those
// hold whether or not there is a finding.
func (g Gate) forbidden(tool, command string, programs []string) (Rule, bool) {
	for _, r := range g.Rules {
		if r.Effect != Deny || (r.Tool != "" && r.Tool != tool) {
			continue
		}
		if r.Action == Command && r.Pattern == command {
			return r, true
		}
		if r.Action == Program && slices.ContainsFunc(programs, func(p string) bool { return matches(r.Pattern, p) }) {
			return r, true
		}
	}
	return Rule{}, false
}

// need is the narrowest rule that lets the call pass: its one path, or else
// the command itself, so that one yes is enough and gives no more than asked.
func need(tool, command string, unmet []Finding) Rule {
	first := unmet[0]
	for _, f := range unmet[1:] {
		if f.Action != first.Action || f.Target != first.Target {
			return NewRule(tool, Command, command)
		}
	}
	if !first.place || first.Target == "" || strings.ContainsAny(first.Target, `*?[]{}\`) {
		return NewRule(tool, Command, command)
	}
	return NewRule(tool, first.Action, first.Target)
}
