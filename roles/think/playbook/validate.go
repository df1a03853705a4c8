package playbook

import (
	"fmt"
	"regexp"
	"sort"
	"strings"

	"orch/blackboard/lazyregexp"
)

var (
	namePattern     = lazyregexp.New(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)
	paramPattern    = lazyregexp.New(`^[a-z][a-z0-9_]*$`)
	approachPattern = lazyregexp.New(`^[a-z][a-z0-9]*(-[a-z0-9]+)*(:[a-z0-9][a-z0-9.-]*)?$`)
)

// validator checks what the shape alone doesn't say. It keeps the first error.
type validator struct {
	file   string
	lines  map[string]int
	params map[string]bool
	types  map[string]ParamType
	err    error
}

func validate(p *Playbook, lines map[string]int) error {
	v := &validator{file: p.file, lines: lines, params: builtinNames(), types: map[string]ParamType{}}
	v.head(p)
	v.paramList(p.Params)
	for i, d := range p.Detect {
		at := fmt.Sprintf("detect[%d]", i)
		v.when(at+".when", d.When)
		v.set(at+".set", d.Set, given(p.Params))
	}
	v.detectIn(p)
	if len(p.TaskCriteria) == 0 {
		v.fail("", "there are no task_criteria", "at least one, with a check, that tells whether the goal is reached")
	}
	v.criteria("task_criteria", p.TaskCriteria)
	v.subtasks(p.Subtasks)
	for i, n := range p.NextMoves {
		at := fmt.Sprintf("next_moves[%d]", i)
		v.regexp(at+".seen", n.Seen)
		v.need(at, "say", n.Say)
	}
	if v.err == nil {
		v.examples(p)
	}
	return v.err
}

// fail keeps the first error, at the line of the nearest field that has one.
func (v *validator) fail(at, what, allowed string) {
	if v.err != nil {
		return
	}
	line := 0
	for path := at; ; {
		if l, ok := v.lines[path]; ok {
			line = l
			break
		}
		i := strings.LastIndexAny(path, ".[/")
		if i < 0 {
			break
		}
		path = path[:i]
	}
	v.err = &DecodeError{File: v.file, Line: line, What: what, Allowed: allowed}
}

func (v *validator) need(at, field, value string) {
	if strings.TrimSpace(value) == "" {
		v.fail(join(at, field), fmt.Sprintf("%s has no %s", orFile(at), field), "a text that is not empty")
	}
}

func (v *validator) head(p *Playbook) {
	if !namePattern.MatchString(p.Name) {
		v.fail("name", fmt.Sprintf("the name %q", cut(p.Name, 40)), "small letters, digits and single hyphens, as in tests-green")
	}
	v.need("", "describe", p.Describe)
	if len(p.Match.Words)+len(p.Match.Patterns) == 0 {
		v.fail("match", "match has neither words nor patterns", "words (groups; one of each must occur) or patterns (one must fit)")
	}
	for i, group := range p.Match.Words {
		if len(group) == 0 {
			v.fail(fmt.Sprintf("match.words[%d]", i), "an empty group of words", "a list of words")
		}
	}
	for _, re := range p.Match.Patterns {
		v.regexp("match.patterns", re)
	}
	v.entries("match.known", p.Match.Known)
	v.entries("match.unless", p.Match.Unless)
}

// entries checks those of a list that are expressions.
func (v *validator) entries(at string, list Strings) {
	for _, entry := range list {
		if expr, ok := expression(entry); ok {
			v.regexp(at, expr)
		}
	}
}

func (v *validator) paramList(params []Param) {
	for i, p := range params {
		at := fmt.Sprintf("params[%d]", i)
		if !paramPattern.MatchString(p.Name) {
			v.fail(at+".name", fmt.Sprintf("the parameter name %q", cut(p.Name, 40)), "small letters, digits and _, starting with a letter")
		}
		if v.params[p.Name] {
			v.fail(at+".name", fmt.Sprintf("the parameter %q exists already", p.Name), "other names than "+strings.Join(builtins, ", ")+" and those declared before")
		}
		v.params[p.Name], v.types[p.Name] = true, p.Type
		switch p.Type {
		case "", StringParam, WordsParam, IntParam, PathParam, CommandParam:
		default:
			v.fail(at+".type", fmt.Sprintf("the parameter type %q", cut(string(p.Type), 40)), "string, words, int, path, command")
		}
		for _, re := range p.Pattern {
			v.regexp(at+".pattern", re)
		}
		if err := checkPlain(p.Default, builtinNames()); err != nil {
			v.fail(at+".default", err.Error()+" in a default", "only the built-in "+strings.Join(builtins, ", "))
		}
		if p.Type == CommandParam {
			v.shell(at+".default", p.Default)
		}
		if _, err := accept(p, p.Default); err != nil && p.Default != "" {
			v.fail(at+".default", err.Error(), "a value of type "+string(p.Type))
		}
	}
}

func (v *validator) regexp(at, re string) {
	if _, err := regexp.Compile(re); err != nil {
		v.fail(at, cut(err.Error(), 120), "a regular expression in Go's syntax")
	}
}

func (v *validator) when(at string, w When) {
	for _, list := range []Strings{w.File, w.Missing, w.Glob, w.Command} {
		for _, name := range list {
			if name == "" || reference.MatchString(name) {
				v.fail(at, fmt.Sprintf("the condition %q is empty or holds a parameter", cut(name, 40)), "a plain name; use param for parameters")
			}
		}
	}
	for _, c := range w.Contains {
		v.need(at, "file", c.File)
		v.regexp(at+".contains", c.Pattern)
	}
	for _, p := range w.Param {
		if !v.params[p.Name] {
			v.fail(at+".param", fmt.Sprintf("unknown parameter %q", cut(p.Name, 40)), v.known())
		}
		v.regexp(at+".param", p.Matches)
	}
	for i, a := range w.Any {
		v.when(fmt.Sprintf("%s.any[%d]", at, i), a)
	}
	if w.Not != nil {
		v.when(at+".not", *w.Not)
	}
}

// detectIn checks where detect looks.
func (v *validator) detectIn(p *Playbook) {
	if p.DetectIn == nil {
		return
	}
	if p.DetectIn.Param != "" && v.types[p.DetectIn.Param] != PathParam {
		v.fail("detect_in.param", fmt.Sprintf("%q is not a parameter of type path", cut(p.DetectIn.Param, 40)), "the name of a path under params")
	}
	if p.DetectIn.Depth < 0 || p.DetectIn.Depth > maxDepth {
		v.fail("detect_in.depth", fmt.Sprintf("the depth %d", p.DetectIn.Depth), fmt.Sprintf("0 to %d", maxDepth))
	}
}

// maxDepth bounds how deep below the workspace is looked.
const maxDepth = 5

// given are the parameters that may have a value before anything is detected:
// the built-in ones and those that the words can give.
func given(params []Param) map[string]bool {
	names := builtinNames()
	for _, p := range params {
		names[p.Name] = names[p.Name] || len(p.Pattern) > 0
	}
	return names
}

// set checks parameters the playbook sets itself, and that they refer only to
// parameters that have their values already.
func (v *validator) set(at string, set map[string]string, known map[string]bool) {
	names := make([]string, 0, len(set))
	for name := range set {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if _, declared := v.types[name]; !declared {
			v.fail(at, fmt.Sprintf("sets the unknown parameter %q", cut(name, 40)), "a parameter declared under params")
		}
		if err := checkPlain(set[name], known); err != nil {
			v.fail(at, err.Error()+" in a value that is set", "parameters that have their value by then")
		}
		if v.types[name] == CommandParam {
			v.shell(at, set[name])
		} else {
			v.plain(at, set[name])
		}
	}
}

func (v *validator) plain(at, s string) {
	if err := checkPlain(s, v.params); err != nil {
		v.fail(at, err.Error(), v.known())
	}
}

func (v *validator) shell(at, s string) {
	if err := checkShell(s, v.params); err != nil {
		v.fail(at, err.Error(), v.known())
	}
}

func (v *validator) known() string {
	names := make([]string, 0, len(v.params))
	for name := range v.params {
		names = append(names, "${"+name+"}")
	}
	sort.Strings(names)
	return strings.Join(names, ", ")
}

// data checks the references in a tool input or a check.
func (v *validator) data(at string, data any) {
	switch d := data.(type) {
	case string:
		v.plain(at, d)
	case []any:
		for _, e := range d {
			v.data(at, e)
		}
	case map[string]any:
		for key, e := range d {
			if text, ok := e.(string); ok && isCommand(key) {
				v.shell(at, text)
				continue
			}
			v.data(at, e)
		}
	}
}

// examples makes sure that the playbook fits what it says it is for.
func (v *validator) examples(p *Playbook) {
	for _, e := range p.Examples {
		switch f := fit(p, e); {
		case f.score == 0:
			v.fail("examples", fmt.Sprintf("the example %q does not match", cut(e, 60)), "an intent that match fits")
		case !f.Fits():
			v.fail("examples", fmt.Sprintf("the example %q does not match: %s", cut(e, 60), f.why()), "an intent that match fits; match.known declares words")
		}
	}
}
