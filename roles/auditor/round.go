package auditor

import (
	"fmt"
	"slices"
	"strings"

	"orch/blackboard/message"
)

// improvement is how much D must fall to have fallen: less is rounding.
const improvement = 1e-9

func (a *Auditor) replanRequest(m message.Message, b message.ReplanRequest) {
	g, ok := a.working(m, m.Type())
	if !ok {
		return
	}
	a.rate(m, message.MetaValidator, "rounds accepted", false, true)
	a.evidenced(m, string(m.Goal), b.TaskVerdicts)
	a.fanIn(m, g, b.PlanID, b.Outcomes)
	if len(b.Outcomes) > 0 {
		g.Round = roundOf(m, b.Outcomes, b.TaskVerdicts)
	}
}

func (a *Auditor) outcomeSummary(m message.Message, b message.OutcomeSummary) {
	g, ok := a.working(m, m.Type())
	if !ok {
		return
	}
	a.rate(m, message.MetaValidator, "rounds accepted", true, true)
	a.evidenced(m, string(m.Goal), b.TaskVerdicts)
	a.fanIn(m, g, b.PlanID, b.Outcomes)
	g.Round = roundOf(m, b.Outcomes, b.TaskVerdicts)
	if len(g.Round.Failed) > 0 {
		a.claimsMore(m, string(m.Goal), g.Round.Failed, 1)
	}
}

func roundOf(m message.Message, outcomes []message.SubTaskOutcome, verdicts []message.Verdict) *round {
	const mostFailures = 1_000
	r := &round{At: at(m)}
	take := func(list []message.Verdict) {
		failed := failuresOf(list)
		r.Passed += len(list) - len(failed)
		r.Failed = append(r.Failed, failed...)
	}
	for _, o := range outcomes {
		if o.Status != message.Skipped {
			take(o.CriteriaVerdicts)
		}
	}
	take(verdicts)
	r.Failed = r.Failed[:min(len(r.Failed), mostFailures)]
	return r
}

// fanIn holds what a round reports against the plan it closes.
func (a *Auditor) fanIn(m message.Message, g *goal, id message.PlanID, outcomes []message.SubTaskOutcome) {
	var wrong []string
	counted := map[message.TaskID]int{}
	ev := []evidence{at(m)}
	for _, o := range outcomes {
		counted[o.SubtaskID]++
		if o.Status != message.Matched {
			continue
		}
		if _, ok := g.Approved[o.SubtaskID]; !ok && len(g.Approved) < maxTasks && g.Tasks[o.SubtaskID] != nil {
			wrong = append(wrong, fmt.Sprintf("%s counts as matched, nobody approved it", o.SubtaskID))
		}
	}
	if g.Plan.ID == id && id != "" {
		ev = append(ev, g.Plan.Made)
		for _, task := range g.Plan.Tasks {
			if counted[task] == 0 {
				wrong = append(wrong, fmt.Sprintf("%s is missing", task))
			}
		}
		for _, task := range sorted(counted) {
			if !slices.Contains(g.Plan.Tasks, task) {
				wrong = append(wrong, fmt.Sprintf("%s is not of this plan", task))
			}
		}
	}
	for _, task := range sorted(counted) {
		if counted[task] > 1 {
			wrong = append(wrong, fmt.Sprintf("%s counts %d times", task, counted[task]))
		}
	}
	if len(wrong) > 0 {
		a.find(Finding{Kind: FanInIncomplete, Severity: Critical, Goal: m.Goal, Subject: string(id), Role: m.From, Agent: m.Agent,
			Message: fmt.Sprintf("the round of plan %s does not fit the plan: %s", id, strings.Join(wrong, "; "))}, ev...)
	}
}

func (a *Auditor) planDirective(m message.Message, b message.PlanDirective) {
	g, ok := a.working(m, m.Type())
	if !ok {
		return
	}
	g.Rounds++
	a.s.Figures.point(a.window, m, LossPoint{Round: b.Round, Seq: m.Seq, TS: m.TS, Loss: b.Loss, GradL: b.GradL, Directive: b.Directive})
	a.improves(m, g, b.Loss.D)
	a.thrashes(m, g, b)
}

// improves finds rounds in a row none of which came closer than the best before.
func (a *Auditor) improves(m message.Message, g *goal, d float64) {
	if g.Rounds == 1 || d < g.Best-improvement {
		g.Best, g.Worse = d, nil
		return
	}
	if len(g.Worse) >= a.p.Rounds {
		return // it was said, and holds until D falls
	}
	if g.Worse = append(g.Worse, at(m)); len(g.Worse) < a.p.Rounds {
		return
	}
	a.find(Finding{Kind: NoImprovement, Severity: Warning, Goal: m.Goal, Subject: string(m.Goal), Role: m.From, Agent: m.Agent,
		Message: fmt.Sprintf("%d replans in a row did not bring D below %.3g", len(g.Worse), g.Best)}, g.Worse...)
}

// thrashes finds break_symmetry after break_symmetry with D not falling: the
// loss says nothing about this goal.
func (a *Auditor) thrashes(m message.Message, g *goal, b message.PlanDirective) {
	if b.Directive != message.BreakSymmetry {
		g.Breaks = nil
		return
	}
	if len(g.Breaks) > 0 && b.Loss.D < g.BreakD-improvement {
		g.Breaks = nil
	}
	g.BreakD = b.Loss.D
	if len(g.Breaks) >= a.p.Thrash {
		return // it was said, and holds until D falls or something else is ordered
	}
	if g.Breaks = append(g.Breaks, at(m)); len(g.Breaks) < a.p.Thrash {
		return
	}
	a.find(Finding{Kind: GGSThrashing, Severity: Warning, Goal: m.Goal, Subject: string(m.Goal), Role: m.From, Agent: m.Agent,
		Message: fmt.Sprintf("%d times break_symmetry in a row, and D stays at %.3g", len(g.Breaks), b.Loss.D)}, g.Breaks...)
}

func (a *Auditor) finalResult(m message.Message, b message.FinalResult) {
	g, ok := a.working(m, m.Type())
	if !ok {
		return
	}
	a.s.Figures.point(a.window, m, LossPoint{Round: g.Rounds + 1, Seq: m.Seq, TS: m.TS, Loss: b.Loss, GradL: b.GradL, Directive: b.Directive, Final: true})
	ev := []evidence{at(m)}
	if g.Round != nil {
		ev = append(ev, g.Round.At)
	}
	if why := overclaims(b, g); why != "" {
		a.find(Finding{Kind: OverclaimedResult, Severity: Critical, Goal: m.Goal, Subject: string(m.Goal), Role: m.From, Agent: m.Agent,
			Message: fmt.Sprintf("the result of %s says %s, but %s", m.Goal, b.Directive, why)}, ev...)
	}
	a.ended(m, g, b)
	for _, id := range sorted(g.Tasks) {
		a.waited(m.Goal, id, g.Tasks[id], m.TS)
	}
	delete(a.s.Goals, m.Goal)
	a.s.Ended.add(string(m.Goal), m.Seq)
	for kind, list := range a.s.Clusters {
		a.s.Clusters[kind] = withoutGoal(list, m.Goal)
	}
}

// overclaims says in what a result claims more than the last round shows. A
// fact to remember is accepted without a round, if no work was done for it.
func overclaims(b message.FinalResult, g *goal) string {
	r := g.Round
	if r == nil {
		r = &round{}
		if fact := g.Fact && len(g.Tasks) == 0; b.Directive != message.Abandon && !fact {
			return "nothing was ever measured"
		}
	}
	if len(b.Accomplished) > r.Passed {
		return fmt.Sprintf("it lists %d criteria as met, %d passed", len(b.Accomplished), r.Passed)
	}
	if b.Directive == message.Abandon {
		return ""
	}
	if b.Directive == message.Accept && (len(b.UnmetCriteria) > 0 || b.Loss.D != 0) {
		return fmt.Sprintf("D is %.3g and %d criteria are unmet", b.Loss.D, len(b.UnmetCriteria))
	}
	for _, f := range r.Failed {
		switch {
		case f.Required:
			return fmt.Sprintf("the required criterion %q failed", f.Criterion)
		case b.Directive == message.Accept || !names(b.UnmetCriteria, f):
			return fmt.Sprintf("%q failed and is not named as unmet", f.Criterion)
		}
	}
	return ""
}

func names(unmet []message.Verdict, f failure) bool {
	return slices.ContainsFunc(unmet, func(v message.Verdict) bool {
		return cut(v.Criterion) == f.Criterion // ids are unique within one task only
	})
}
