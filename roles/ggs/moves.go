package ggs

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"orch/blackboard/message"
)

// mostMoves is how many next moves a person is given: enough to choose from,
// few enough to read.
const mostMoves = 3

// nextMoves are two or three things a person can do now, the most telling first.
// They come from the evidence of what failed.
func (s situation) nextMoves(last sensed) []string {
	var moves []string
	moves = addNew(moves, fromEvidence(last)...)
	if !s.now().measured() && len(s.now().refusals) > 0 {
		moves = addNew(moves, fmt.Sprintf("give it something else to try, by another wording or a playbook of yours: no plan was allowed any more (%s)", short(refusals(s.now()))))
	}
	moves = addNew(moves, fromCriteria(last)...)
	if len(moves) > mostMoves-1 {
		moves = moves[:mostMoves-1]
	}
	if !s.nothingToTry() { // more of the budget would buy more of the same
		moves = addNew(moves, s.fromBudget())
	}
	if len(moves) < 2 {
		moves = addNew(moves, "read what happened round by round with orch why, then say more precisely what done would look like")
	}
	return moves
}

func fromEvidence(last sensed) []string {
	var moves []string
	for _, kind := range []string{kindTool, kindPermission, kindTransient} {
		for _, t := range last.suspects() {
			if evidence(t) != kind {
				continue
			}
			what := label(pairOf(t.SubTaskOutcome))
			if call := lastCall(t.SubTaskOutcome); call.Kind == kind && call.Pair.Tool != "" {
				what = label(call.Pair)
			}
			moves = addNew(moves, fmt.Sprintf(map[string]string{
				kindTool:       "install what %s needs, then start again",
				kindPermission: "allow %s (orch allow) or do that step by hand, then start again",
				kindTransient:  "try again later: %s was not reachable or too slow",
			}[kind], what))
			break
		}
	}
	return moves
}

// fromCriteria points at the failed criterion that weighs most.
func fromCriteria(last sensed) []string {
	type failed struct {
		criterion
		slot string
	}
	var all []failed
	for _, o := range last.outcomes {
		for _, c := range criteriaOf(o) {
			if c.weight > 0 && !c.never {
				all = append(all, failed{c, slotOf(o)})
			}
		}
	}
	for _, c := range goalCriteria(last.ofGoal()) {
		if c.weight > 0 {
			all = append(all, failed{c, ""})
		}
	}
	slices.SortStableFunc(all, func(a, b failed) int {
		switch {
		case a.weight > b.weight:
			return -1
		case a.weight < b.weight:
			return 1
		}
		return 0
	})
	var moves []string
	for _, f := range all {
		where := ""
		if f.slot != "" {
			where = " of " + f.slot
		}
		verb := "look into"
		if f.By == message.ByCode {
			verb = "run the check yourself for"
		}
		moves = addNew(moves, fmt.Sprintf("%s “%s”%s: %s", verb, f.Criterion, where, short(f.Evidence)))
		if len(moves) == 2 {
			break
		}
	}
	return moves
}

// fromBudget says which limit ended it and how to lift it, or where it was best.
func (s situation) fromBudget() string {
	p := s.params
	if s.Omega < p.Theta {
		best, at := 2.0, 0
		for i, round := range s.rounds[:len(s.rounds)-1] {
			if round.measured() && round.answer.Loss.D < best {
				best, at = round.answer.Loss.D, i+1
			}
		}
		if at > 0 {
			return fmt.Sprintf("go on from what round %d left, which came closest (D %.2f); later rounds made it worse", at, best)
		}
		return "start again with a goal cut into smaller ones"
	}
	tried := s.tried()
	advice := fmt.Sprintf("give it more rounds (--max-replans %d)", 2*p.MaxReplans)
	if p.W2*float64(s.now().elapsedMS)/float64(p.TimeBudgetMS) > p.W1*float64(s.replans)/float64(p.MaxReplans) {
		twice := time.Duration(2*max(s.now().elapsedMS, p.TimeBudgetMS)) * time.Millisecond
		advice = fmt.Sprintf("give it more time (--timeout %.0fm)", math.Ceil(twice.Minutes()))
	}
	if tried == "" {
		return advice
	}
	return fmt.Sprintf("%s, or another way than %s", advice, tried)
}

// tried names the approaches that ran, for people.
func (s situation) tried() string {
	const most = 4
	var names []string
	for _, round := range s.rounds {
		for _, t := range round.suspects() {
			if t.Approach != "" {
				names = addNew(names, t.Approach)
			}
		}
	}
	if len(names) > most {
		names = append(names[:most], "others")
	}
	return strings.Join(names, ", ")
}
