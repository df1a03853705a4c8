package ggs

import (
	"slices"
	"strings"

	"orch/blackboard/message"
)

// run is one measurement of a slot: what a task did there and how it came out.
type run struct {
	round     int
	task      message.TaskID
	pair      message.Pair
	d, p      float64
	score     float64 // comparable over all runs of a slot; lower is better
	passes    int
	fails     int
	kind      string // evidence of the failed call: transient, tool, permission or empty
	verdicts  string // what was judged how; equal when nothing changed
	stuck     bool   // the corrections of the fast loop moved nothing
	logical   bool   // P over its criteria is above ρ
	matched   bool
	suspicion *suspect // nil when nothing accuses it
}

// hopeless is the exception to staying with a pair that passes something.
func (r run) hopeless() bool {
	return r.logical && 2*r.fails > r.passes+r.fails && r.stuck
}

// The scores of a run, from worst to best: its own criteria failed (above 1, by
// D), they passed and nobody has judged the goal's (1), only criteria of the
// goal failed (up to 1, by their D). So a pair that gets its own work right is
// never taken for worse because the goal was judged for the first time.
func scoreOf(s suspect) float64 {
	d := share(s.criteria)
	if s.byGoal {
		return d
	}
	return 1 + d
}

const scoreMatched = 1

// runsBySlot follows every slot over the rounds, oldest run first. A task that
// was kept is the run it was.
func runsBySlot(rounds []sensed, rho float64) map[string][]run {
	out := map[string][]run{}
	for i, s := range rounds {
		accused := s.suspects()
		for _, o := range s.outcomes {
			slot := slotOf(o)
			at := slices.IndexFunc(accused, func(x suspect) bool { return x.SubtaskID == o.SubtaskID && slotOf(x.SubTaskOutcome) == slot })
			switch {
			case at >= 0:
				out[slot] = append(out[slot], measuredRun(i+1, accused[at], rho))
			case o.Status == message.Matched && !wasKept(out[slot], o):
				out[slot] = append(out[slot], run{round: i + 1, task: o.SubtaskID, pair: pairOf(o), score: scoreMatched, passes: max(1, len(o.CriteriaVerdicts)), matched: true})
			}
		}
	}
	return out
}

func wasKept(runs []run, o message.SubTaskOutcome) bool {
	return slices.ContainsFunc(runs, func(r run) bool { return r.matched && r.task == o.SubtaskID })
}

func measuredRun(round int, s suspect, rho float64) run {
	r := run{round: round, task: s.SubtaskID, pair: pairOf(s.SubTaskOutcome), d: share(s.criteria), score: scoreOf(s),
		kind: evidence(s), verdicts: fingerprint(s.criteria), stuck: stuck(s), suspicion: &s}
	r.p, _ = ratio(implausible(s.criteria))
	r.logical = r.p > rho
	for _, c := range s.criteria {
		if c.weight > 0 {
			r.fails++
		} else {
			r.passes++
		}
	}
	return r
}

// The kinds of evidence code finds in a failed call.
const (
	kindTransient  = "transient"
	kindTool       = "tool"
	kindPermission = "permission"
)

// evidence is the kind code has given to the failure: that of the failed
// criteria, or of the last failed call. A missing tool outranks an outage,
// because waiting does not install anything. What a model made of the failure
// does not count here.
func evidence(s suspect) string {
	kinds := map[string]bool{}
	for _, c := range s.criteria {
		if c.weight > 0 {
			kinds[c.Kind] = true
		}
	}
	for _, k := range []string{kindTool, kindPermission, kindTransient} {
		if kinds[k] {
			return k
		}
	}
	if s.byGoal {
		return "" // the calls of a task that matched were made good
	}
	return lastCall(s.SubTaskOutcome).Kind
}

func fingerprint(list []criterion) string {
	lines := make([]string, 0, len(list))
	for _, c := range list {
		lines = append(lines, strings.Join([]string{c.Criterion, c.Verdict.Verdict, string(c.FailureClass)}, "\x00"))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// stuck tells whether the fast loop corrected and the same criteria kept failing.
func stuck(s suspect) bool {
	if s.byGoal || s.Attempts < 2 || len(s.GapTrajectory) == 0 {
		return false
	}
	var final []string
	for _, c := range s.criteria {
		if c.weight > 0 {
			final = append(final, c.CriterionID+"\x00"+c.Criterion)
		}
	}
	slices.Sort(final)
	for _, g := range s.GapTrajectory {
		var failed []string
		for _, f := range g.FailedCriteria {
			failed = append(failed, f.CriterionID+"\x00"+f.Criterion)
		}
		slices.Sort(failed)
		if !slices.Equal(failed, final) {
			return false
		}
	}
	return true
}

// record is what is known of one pair of a slot.
type record struct {
	pair    message.Pair
	best    float64 // lowest score
	runs    int
	passed  bool // some criterion passed in some run
	stalled bool // its last run was no better than its best before, or hopeless
	last    int  // round of the last run
}

// records sums up the runs of a slot by pair, in the order the pairs came up.
// Runs that an outage spoiled say nothing about the pair.
func records(runs []run) []record {
	var out []record
	for _, r := range runs {
		if r.kind == kindTransient {
			continue
		}
		i := slices.IndexFunc(out, func(x record) bool { return x.pair == r.pair })
		if i < 0 {
			out = append(out, record{pair: r.pair, best: r.score, runs: 1, passed: r.passes > 0, stalled: r.hopeless(), last: r.round})
			continue
		}
		x := &out[i]
		x.stalled = r.score >= x.best || r.hopeless()
		x.best, x.runs, x.passed, x.last = min(x.best, r.score), x.runs+1, x.passed || r.passes > 0, r.round
	}
	return out
}

func recordOf(list []record, pair message.Pair) (record, bool) {
	i := slices.IndexFunc(list, func(x record) bool { return x.pair == pair })
	if i < 0 {
		return record{}, false
	}
	return list[i], true
}
