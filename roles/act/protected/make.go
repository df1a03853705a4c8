package protected

import (
	"slices"
	"strings"

	"orch/blackboard/lazyregexp"
)

// makeRules is what is read of a Makefile: recipes with the line of their rule,
// what they need, and variables.
type makeRules struct {
	recipe map[string]string
	needs  map[string][]string
	vars   map[string]string
	always string // lines that reach everywhere: include, define, .SHELLFLAGS, conditions
}

var (
	makeVar  = lazyregexp.New(`^(?:export\s+|override\s+)*([\w.-]+)\s*(?::{0,3}=|\?=|\+=|!=)(.*)$`)
	makeRule = lazyregexp.New(`^([^\t#:=][^:=]*?)\s*::?(?:[^=]|$)(.*)$`)
	makeUse  = lazyregexp.New(`\$[({]([\w.-]+)|\$(\w)`)
)

func readMake(text []byte) makeRules {
	m := makeRules{map[string]string{}, map[string][]string{}, map[string]string{}, ""}
	var now []string // targets of the rule that the lines belong to
	for line := range strings.Lines(strings.ReplaceAll(string(text), "\\\n", " ")) {
		line = strings.TrimRight(line, "\r\n")
		trimmed := strings.TrimSpace(line)
		v, rule := makeVar.FindStringSubmatch(trimmed), makeRule.FindStringSubmatch(line)
		switch {
		case strings.HasPrefix(line, "\t"):
			for _, t := range now {
				m.recipe[t] += line + "\n"
			}
		case trimmed == "" || strings.HasPrefix(trimmed, "#"):
		case v != nil:
			m.vars[v[1]] += trimmed + "\n"
		case rule != nil:
			now = strings.Fields(rule[1])
			_, needs, _ := strings.Cut(line[len(rule[1]):], ":")
			needs, inline, _ := strings.Cut(strings.TrimPrefix(needs, ":"), ";")
			for _, t := range now {
				m.needs[t] = append(m.needs[t], strings.Fields(needs)...)
				m.recipe[t] += trimmed + "\n" + inline
			}
		default:
			m.always += trimmed + "\n"
		}
	}
	return m
}

// closure lists a target with all that it needs and has a rule.
func (m makeRules) closure(target string) (all []string) {
	next := []string{target}
	for len(next) > 0 {
		t := next[0]
		next = next[1:]
		if _, there := m.recipe[t]; there && !slices.Contains(all, t) {
			all = append(all, t)
			next = append(next, m.needs[t]...)
		}
	}
	return all
}

// special are targets and variables that change how every recipe runs.
var (
	specialTargets = []string{".ONESHELL", ".IGNORE", ".SILENT", ".POSIX", ".DEFAULT", ".PHONY.test", ".RECIPEPREFIX"}
	specialVars    = []string{"SHELL", ".SHELLFLAGS", "MAKEFLAGS", ".DEFAULT_GOAL", "PATH", ".RECIPEPREFIX", "GOFLAGS"}
)

// makefile reads the targets that are reached, what they need, and the variables
// that their recipes use.
func makefile(text []byte, r reached) (entries, error) {
	m := readMake(text)
	out := entries{}
	if m.always != "" {
		out["include, define and conditions"] = m.always
	}
	targets := slices.Clone(specialTargets)
	for t := range r.targets {
		targets = append(targets, m.closure(t)...)
	}
	for t := range m.recipe { // a pattern may make anything
		if strings.Contains(t, "%") || strings.Contains(t, "$") {
			targets = append(targets, t)
		}
	}
	uses := slices.Clone(specialVars)
	for _, t := range targets {
		if recipe, there := m.recipe[t]; there {
			out[t] = recipe
			uses = append(uses, used(recipe)...)
		}
	}
	for i := 0; i < len(uses); i++ {
		text, there := m.vars[uses[i]]
		if _, known := out["$"+uses[i]]; there && !known {
			out["$"+uses[i]] = text
			uses = append(uses, used(text)...)
		}
	}
	return out, nil
}

func used(text string) (names []string) {
	for _, m := range makeUse.FindAllStringSubmatch(text, -1) {
		names = append(names, m[1]+m[2])
	}
	return names
}
