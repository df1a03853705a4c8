package playbook

import (
	"encoding/json"
	"fmt"
	"regexp"
)

// When is a condition on the workspace and on the parameters. Everything given
// must hold; the empty condition holds.
type When struct {
	File     Strings       `yaml:"file" json:"file,omitempty"`         // each exists
	Missing  Strings       `yaml:"missing" json:"missing,omitempty"`   // none exists
	Glob     Strings       `yaml:"glob" json:"glob,omitempty"`         // each matches a file
	Command  Strings       `yaml:"command" json:"command,omitempty"`   // each is on PATH
	Contains []FileMatches `yaml:"contains" json:"contains,omitempty"` // each file matches its pattern
	Param    []ParamIs     `yaml:"param" json:"param,omitempty"`       // each parameter matches its pattern
	Any      []When        `yaml:"any" json:"any,omitempty"`           // one of these holds
	Not      *When         `yaml:"not" json:"not,omitempty"`           // this doesn't hold
}

// FileMatches holds when a file's first MiB matches a regular expression (multi-line mode).
type FileMatches struct {
	File    string `yaml:"file" json:"file"`
	Pattern string `yaml:"pattern" json:"pattern"`
}

// ParamIs holds when a parameter's value matches a regular expression.
type ParamIs struct {
	Name    string `yaml:"name" json:"name"`
	Matches string `yaml:"matches" json:"matches"`
}

// Facts is what a condition may ask about a workspace. Paths are relative to it
// and use slashes; what lies outside does not exist.
type Facts interface {
	Exists(path string) bool
	Glob(pattern string) bool
	Command(name string) bool
	Read(path string) ([]byte, error) // at most 1 MiB
	Digest(globs []string) string     // of the matched files; empty without globs
	Sub(dir string) Facts             // the same of a directory inside; nothing exists in what lies outside
	Dirs(depth int) []string          // directories below, nearest first, without those of other people's code
}

// Empty tells whether the condition asks nothing.
func (w When) Empty() bool {
	b, err := json.Marshal(w)
	return err == nil && string(b) == "{}"
}

// Holds evaluates the condition; why names the first part that does not hold.
func (w When) Holds(f Facts, params Values) (ok bool, why string) {
	for _, p := range w.File {
		if !f.Exists(p) {
			return false, "there is no " + p
		}
	}
	for _, p := range w.Missing {
		if f.Exists(p) {
			return false, p + " exists"
		}
	}
	for _, g := range w.Glob {
		if !f.Glob(g) {
			return false, "no file matches " + g
		}
	}
	for _, c := range w.Command {
		if !f.Command(c) {
			return false, "the command " + c + " is not on PATH"
		}
	}
	if ok, why := w.contentsHold(f, params); !ok {
		return false, why
	}
	return w.groupsHold(f, params)
}

func (w When) contentsHold(f Facts, params Values) (bool, string) {
	for _, c := range w.Contains {
		text, err := f.Read(c.File)
		if err != nil {
			return false, "there is no " + c.File
		}
		re, err := regexp.Compile("(?m)" + c.Pattern)
		if err != nil || !re.Match(text) {
			return false, fmt.Sprintf("%s does not contain %s", c.File, c.Pattern)
		}
	}
	for _, p := range w.Param {
		re, err := regexp.Compile(p.Matches)
		if err != nil || !re.MatchString(params.text(p.Name)) {
			return false, fmt.Sprintf("%s is %q", p.Name, params.text(p.Name))
		}
	}
	return true, ""
}

func (w When) groupsHold(f Facts, params Values) (bool, string) {
	if w.Not != nil {
		if ok, _ := w.Not.Holds(f, params); ok {
			return false, "what must not be there is: " + w.Not.describe()
		}
	}
	if len(w.Any) == 0 {
		return true, ""
	}
	first := ""
	for _, a := range w.Any {
		ok, why := a.Holds(f, params)
		if ok {
			return true, ""
		}
		if first == "" {
			first = why
		}
	}
	return false, first
}

func (w When) describe() string {
	b, err := json.Marshal(w)
	if err != nil {
		return "a condition"
	}
	return string(b)
}
