package playbook

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"

	"orch/blackboard/message"
	"orch/roles/think"
)

// option is one way to do a slot: an approach on a target.
type option struct {
	approach *Approach
	target   string
	dir      string // where its commands run; empty: the workspace
	set      map[string]string
	start    int // first variant
	waitMS   int64
	why      string
	rank     int
}

func (o option) pair() message.Pair {
	return message.Pair{Tool: o.approach.Name, Target: o.target}
}

// variants are the parameter sets from the first one to be tried.
func (o option) variants() []Variant {
	if len(o.approach.Variants) == 0 {
		return []Variant{{Name: "only"}}
	}
	return o.approach.Variants[min(o.start, len(o.approach.Variants)-1):]
}

// optionList is what a slot offers.
type optionList struct {
	possible   []option // conditions on the workspace hold
	applicable []option // and the evidence calls for it, or nothing has to; best first
	excluded   []string // why the others are out
}

// Ranks order applicable options: what the memory prefers, then remedies the
// evidence calls for, then the rest as written, then in the same order what it
// says to be careful with.
const (
	rankRemedy  = 1_000_000
	rankPlain   = 2_000_000
	rankDoubted = 3_000_000
)

// options lists what the workspace and the evidence admit for a slot.
func (s *situation) options(t Subtask) optionList {
	var list optionList
	evidence := s.past.evidence(t.Slot)
	seen := map[message.Pair]bool{}
	for i := range t.Approaches {
		a := &t.Approaches[i]
		line, called := seenIn(a.WhenSeen, evidence)
		here, why := s.here(a)
		if why != "" {
			list.excluded = append(list.excluded, a.Name+": "+why)
			continue
		}
		for _, o := range here {
			if seen[o.pair()] {
				continue
			}
			seen[o.pair()] = true
			list.possible = append(list.possible, o)
			if slices.Contains(s.in.Constraint.Caution, o.pair()) {
				o.rank, o.why = rankDoubted, "it led nowhere before"
			}
			if slices.Contains(s.in.Constraint.AskFirst, o.pair()) {
				o.why = "the memory is of two minds about it"
			}
			switch preferred := slices.Index(s.in.Constraint.Prefer, o.pair()); {
			case preferred >= 0:
				o.rank, o.why = preferred, "it worked before"
			case called && len(a.WhenSeen) > 0:
				o.rank, o.why = o.rank+rankRemedy+i, fmt.Sprintf("the failure said %q", line)
			case len(a.WhenSeen) == 0:
				o.rank += rankPlain + i
			default:
				list.excluded = append(list.excluded, a.Name+": nothing in the failures calls for it")
				continue
			}
			list.applicable = append(list.applicable, o)
		}
	}
	sort.SliceStable(list.applicable, func(i, j int) bool { return list.applicable[i].rank < list.applicable[j].rank })
	return list
}

// here are the approach's ways whose conditions hold: its targets, in each
// directory if it is one for every directory. Why says what speaks against all.
func (s *situation) here(a *Approach) (list []option, why string) {
	dirs := []string{"."}
	if a.PerDir {
		dirs = s.dirs
	}
	holds := false
	for _, dir := range dirs {
		facts, in := s.facts, ""
		if dir != "." {
			facts, in = s.facts.Sub(dir), dir
		}
		ok, reason := a.When.Holds(facts, s.values)
		if !ok {
			why = cmp.Or(why, reason)
			continue
		}
		holds = true
		for _, t := range s.targets(a, facts) {
			list = append(list, option{approach: a, target: under(in, t.Target), dir: in, set: t.Set})
		}
	}
	if holds {
		why = ""
	}
	return list, why
}

// under names a target of a directory.
func under(dir, target string) string {
	switch {
	case dir == "":
		return target
	case target == ".":
		return dir
	}
	return dir + "/" + strings.TrimPrefix(target, "./")
}

// targets are the approach's targets whose condition holds, values put in.
func (s *situation) targets(a *Approach, facts Facts) []Target {
	if len(a.Targets) == 0 {
		return []Target{{Target: s.values.plain(a.Target)}}
	}
	var list []Target
	for _, t := range a.Targets {
		if ok, _ := t.When.Holds(facts, s.values); ok {
			list = append(list, Target{Target: s.values.with(t.Set).plain(t.Target), Set: t.Set})
		}
	}
	return list
}

// seenIn returns the line of the evidence that calls for a remedy.
func seenIn(patterns []string, evidence string) (string, bool) {
	for _, p := range patterns {
		re, err := regexp.Compile("(?m)" + p)
		if err != nil {
			continue // Decode has refused it
		}
		if at := re.FindStringIndex(evidence); at != nil {
			from := strings.LastIndexByte(evidence[:at[0]], '\n') + 1
			line, _, _ := strings.Cut(evidence[from:], "\n")
			return cut(line, 120), true
		}
	}
	return "", false
}

// chooseAll takes an option for every slot, or says for which there is none.
func (s *situation) chooseAll(redo []Subtask) ([]option, error) {
	var none think.NoPlanError
	var why []string
	chosen := make([]option, len(redo))
	ranked := make([][]option, len(redo))
	for i, t := range redo {
		list, reasons := s.choices(t)
		if len(list) == 0 {
			none.Slots = append(none.Slots, t.Slot)
			why = append(why, t.Slot+": "+strings.Join(reasons, "; "))
			continue
		}
		ranked[i], chosen[i] = list, list[0]
	}
	if len(none.Slots) == 0 && len(s.in.Violations) > 0 {
		return s.vary(redo, ranked, chosen)
	}
	if len(none.Slots) > 0 {
		none.Why = strings.Join(why, "; ")
		return nil, &none
	}
	return chosen, nil
}

// vary makes another plan after the last one of this round was refused: without
// the approaches the refusal names, else with the next choice of one slot.
func (s *situation) vary(redo []Subtask, ranked [][]option, chosen []option) ([]option, error) {
	moved := false
	for i := range redo {
		for j, o := range ranked[i] {
			if !s.named(redo[i].Slot, o) {
				moved = moved || j > 0
				chosen[i] = ranked[i][j]
				break
			}
		}
	}
	for i := 0; !moved && i < len(redo); i++ {
		if len(ranked[i]) > 1 {
			chosen[i], moved = ranked[i][1], true
		}
	}
	if !moved {
		return nil, &think.NoPlanError{Why: "the plan was refused and there is no other: " + s.in.Violations[0].What + ": " + s.in.Violations[0].Because}
	}
	return chosen, nil
}

// named tells whether a refusal speaks of the option in this slot.
func (s *situation) named(slot string, o option) bool {
	for _, v := range s.in.Violations {
		words := strings.FieldsFunc(v.What+" "+v.Because, func(r rune) bool { return strings.ContainsRune(" ,;()\"'`[]", r) })
		if s.isSlot(v.What) && v.What != slot {
			continue
		}
		if slices.Contains(words, o.approach.Name) {
			return true
		}
	}
	return false
}

func (s *situation) isSlot(name string) bool { return hasSlot(s.book.Subtasks, name) }
