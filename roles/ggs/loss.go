package ggs

import (
	"math"
	"slices"

	"orch/blackboard/message"
)

// exact rounds to nine decimals. Figures are rounded before they are compared,
// because 0.6·4/3 is 0.7999999999999999 in floating point and a goal would get
// a round more or less by accident.
func exact(x float64) float64 { return math.Round(x*1e9) / 1e9 }

func clamp01(x float64) float64 { return min(1, max(0, x)) }

// omega is the resource cost. The ratios are not clamped by themselves.
func omega(p Params, replans int, elapsedMS int64, cost float64) float64 {
	o := p.W1*float64(replans)/float64(p.MaxReplans) + p.W2*float64(elapsedMS)/float64(p.TimeBudgetMS)
	if p.CostCap > 0 {
		o += p.W3 * cost / p.CostCap
	}
	return exact(clamp01(o))
}

// criterion is a verdict with its weight in D.
type criterion struct {
	message.Verdict
	weight float64 // 0 when it passed
	never  bool    // its task never started
}

// wholeTask stands in for the criteria of a task that has none to show.
const wholeTask = "the task as a whole"

// criteriaOf weighs the criteria of an outcome. An outcome that did not match
// always has at least one failed criterion: a missing verdict never helps.
func criteriaOf(o message.SubTaskOutcome) []criterion {
	if o.Status == message.Skipped {
		return skippedCriteria(o)
	}
	failed := false
	out := make([]criterion, 0, len(o.CriteriaVerdicts)+1)
	for _, v := range o.CriteriaVerdicts {
		c := criterion{Verdict: v}
		if !v.Passed() {
			failed = true
			c.weight = weightOf(v, o)
		}
		out = append(out, c)
	}
	if o.Status != message.Matched && !failed {
		out = append(out, criterion{weight: 1, Verdict: message.Verdict{
			Criterion: wholeTask, Mode: message.Verifiable, Required: true, Verdict: message.Fail,
			FailureClass: lastCall(o).Class, Kind: lastCall(o).Kind, Evidence: reasonOf(o), By: message.ByCode,
		}})
	}
	return out
}

func skippedCriteria(o message.SubTaskOutcome) []criterion {
	const why = "never started"
	if len(o.CriteriaVerdicts) == 0 {
		return []criterion{{weight: 1, never: true, Verdict: message.Verdict{
			Criterion: wholeTask, Mode: message.Verifiable, Required: true, Verdict: message.Fail, Evidence: why, By: message.ByCode,
		}}}
	}
	out := make([]criterion, 0, len(o.CriteriaVerdicts))
	for _, v := range o.CriteriaVerdicts {
		v.Verdict, v.FailureClass = message.Fail, ""
		if v.Evidence == "" {
			v.Evidence = why
		}
		out = append(out, criterion{Verdict: v, weight: 1, never: true})
	}
	return out
}

func reasonOf(o message.SubTaskOutcome) string {
	if o.FailureReason != nil && *o.FailureReason != "" {
		return *o.FailureReason
	}
	return "it failed before a criterion could be judged"
}

func lastCall(o message.SubTaskOutcome) message.FailedCall {
	if n := len(o.FailedCalls); n > 0 {
		return o.FailedCalls[n-1]
	}
	return message.FailedCall{}
}

// weightOf is 1 for a verifiable criterion and k/N for a plausible one that
// failed in k of N attempts. The last attempt is the one the verdict is about.
func weightOf(v message.Verdict, o message.SubTaskOutcome) float64 {
	if v.Mode != message.Plausible {
		return 1
	}
	runs := max(o.Attempts, 1)
	for _, g := range o.GapTrajectory {
		runs = max(runs, g.Attempt)
	}
	failedIn := map[int]bool{runs: true}
	for _, g := range o.GapTrajectory {
		for _, f := range g.FailedCriteria {
			if sameCriterion(f, v) {
				failedIn[g.Attempt] = true
			}
		}
	}
	return min(1, float64(len(failedIn))/float64(runs))
}

func sameCriterion(f message.FailedCriterion, v message.Verdict) bool {
	if f.CriterionID != "" || v.CriterionID != "" {
		return f.CriterionID == v.CriterionID
	}
	return f.Criterion == v.Criterion
}

// goalCriteria weighs the goal's own criteria: they are judged once a round.
func goalCriteria(verdicts []message.Verdict) []criterion {
	out := make([]criterion, 0, len(verdicts))
	for _, v := range verdicts {
		c := criterion{Verdict: v}
		if !v.Passed() {
			c.weight = 1
		}
		out = append(out, c)
	}
	return out
}

// share is the weighted part of the criteria that failed, 0 when there are none.
func share(list []criterion) float64 {
	if len(list) == 0 {
		return 0
	}
	sum := 0.0
	for _, c := range list {
		sum += c.weight
	}
	return exact(sum / float64(len(list)))
}

// implausible counts how the failures of criteria are classified. What never
// started says nothing about the approach.
func implausible(list []criterion) (logical, environmental int) {
	for _, c := range list {
		switch {
		case c.weight == 0 || c.never:
		case c.FailureClass == message.Logical:
			logical++
		case c.FailureClass == message.Environmental:
			environmental++
		}
	}
	return logical, environmental
}

// ratio is P of counted failures; ok is false when none is classified.
func ratio(logical, environmental int) (p float64, ok bool) {
	if logical+environmental == 0 {
		return 0, false
	}
	return exact(float64(logical) / float64(logical+environmental)), true
}

// figures are what is measured of a round.
type figures struct {
	message.Loss
	gradL    float64
	replans  int                  // this round included, unless everything matched
	tasks    []criterion          // of the tasks in plan order
	goal     []criterion          // the goal's own: judged in this round, or failed before and not judged since
	owed     []message.Verdict    // required criteria of the goal that did not pass in this round and did not fail
	gated    bool                 // some task did not match: the goal's criteria measure nothing yet
	class    message.FailureClass // of the round
	complete bool                 // all tasks and criteria of a summary matched
}

func measure(p Params, rounds []sensed, owed []message.Verdict) figures {
	n := len(rounds)
	now := rounds[n-1]
	f := figures{goal: goalCriteria(now.ofGoal()), owed: owed, gated: now.gated()}
	for _, o := range now.outcomes {
		f.tasks = append(f.tasks, criteriaOf(o)...)
	}
	switch {
	case !now.measured():
		f.D = 1
	case f.gated:
		f.D = share(f.tasks)
	default:
		f.D = max(share(f.tasks), share(f.goal))
	}
	f.complete = now.summary && f.D == 0 && len(owed) == 0
	f.replans = n
	if f.complete {
		f.replans = n - 1
	}
	logical, environmental := implausible(f.telling())
	f.P, f.class = classify(logical, environmental, f.complete)
	if now.planFails {
		f.P, f.class = 1, message.Logical
	}
	f.Omega = omega(p, f.replans, now.elapsedMS, now.cost)
	f.L = exact(p.Alpha*f.D + p.Beta*(1-f.Omega)*f.P + p.Lambda*f.Omega)
	if n > 1 {
		f.gradL = exact(f.L - rounds[n-2].answer.Loss.L)
	}
	return f
}

func classify(logical, environmental int, complete bool) (float64, message.FailureClass) {
	p, ok := ratio(logical, environmental)
	switch {
	case !ok && complete:
		return 0.5, ""
	case !ok:
		return 0, ""
	case logical > environmental:
		return p, message.Logical
	case logical < environmental:
		return p, message.Environmental
	}
	return p, message.Mixed
}

// facts are the failed criteria no threshold waives: the required ones, and
// whatever a check has shown to be false.
func (f figures) facts(strict bool) []criterion {
	var out []criterion
	for _, c := range slices.Concat(f.tasks, f.goal) {
		if c.weight > 0 && (strict || c.Required || (c.By == message.ByCode && !c.never)) {
			out = append(out, c)
		}
	}
	return out
}

// heaviest is the failed criterion with the highest weight, the first in plan order on a tie.
func (f figures) heaviest() string {
	best, name := 0.0, ""
	for _, c := range f.telling() {
		w := c.weight
		if c.never {
			w /= 1e3 // something that ran and failed always says more
		}
		if w > best {
			best, name = w, c.Criterion
		}
	}
	return name
}
