package planner

import (
	"path"
	"strings"
	"sync"
	"unicode"

	"orch/blackboard/message"
	"orch/roles/act/check"
	"orch/roles/think"
)

// criteriaOf refuses what nobody could judge: no criterion at all, an empty
// one, one that names no observable signal, a check that can not be read.
func (v *violations) criteriaOf(what string, specs []think.CriterionSpec) {
	if len(specs) == 0 {
		v.add(RuleCriteria, what, "nothing says when it is done")
	}
	for _, c := range specs {
		checked := message.Criterion{Check: c.Check}.HasCheck()
		switch {
		case strings.TrimSpace(c.Text) == "":
			v.add(RuleCriterion, what, "a criterion is empty")
		case c.Mode != "" && c.Mode != message.Verifiable && c.Mode != message.Plausible:
			v.add(RuleCriterion, what, "mode %q of %q is not verifiable or plausible", c.Mode, c.Text)
		case !checked && vague(c.Text):
			v.add(RuleCriterion, what, "%q names nothing that could be observed to be otherwise", c.Text)
		}
		if !checked {
			continue
		}
		if _, err := check.Decode(c.Check); err != nil {
			v.add(RuleCheck, what, "the check of %q: %v", c.Text, err)
		}
	}
}

// emptyWords say nothing about a result: a criterion made of them alone holds
// for any.
var emptyWords = sync.OnceValue(func() map[string]bool {
	words := map[string]bool{}
	for _, w := range strings.Fields(`
		a all an and are as at be been by can do does for has have in is it its must of on should that the there they this to was were will with
		acceptable accurate appropriate complete completed completely correct correctly done executed expected fine finished fully functional functions
		good great high implemented improved nice ok okay performed proper properly quality reasonable resolved right satisfactory satisfied success
		successful successfully valid well work working works
		answer application change changes code criteria everything functionality goal intent job output problem program project request requested
		requirement requirements result results solution subtask system task things user`) {
		words[w] = true
	}
	return words
})

// vague tells whether a criterion consists of empty words only. Criteria in
// words we do not know are given the benefit of the doubt: a judge weighs them.
func vague(text string) bool {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for _, w := range words {
		if !emptyWords()[w] {
			return false
		}
	}
	return true
}

// outside says why a path is none that a task may change; empty if it may.
func outside(target string) string {
	clean := path.Clean(strings.ReplaceAll(target, `\`, "/"))
	first, _, _ := strings.Cut(clean, "/")
	switch {
	case strings.TrimSpace(target) == "":
		return "is empty"
	case path.IsAbs(clean) || len(first) == 2 && first[1] == ':' || strings.HasPrefix(first, "~"):
		return "is not relative to the workspace"
	case first == "..":
		return "is outside the workspace"
	case first == ".orch":
		return "is orch's own"
	case first == ".git":
		return "belongs to git"
	}
	return ""
}
