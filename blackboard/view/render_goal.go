package view

import (
	"strconv"

	"orch/blackboard"
	"orch/blackboard/message"
)

// Marks of a criterion.
const (
	met    = "✓"
	unmet  = "✗"
	unseen = "not judged"
)

func mark(v message.Verdict, judged bool) string {
	switch {
	case !judged:
		return unseen
	case v.Passed():
		return met
	}
	return unmet
}

// goals shows every goal that is not ended, and the last ended ones in short.
func (r *Renderer) goals(e *emitter, s State, names taskNames) {
	goals := s.Goals()
	ended := 0
	for _, g := range goals {
		if g.Status == blackboard.GoalEnded {
			ended++
		}
	}
	hidden := max(ended-maxEndedGoals, 0)
	if r.o.Full {
		hidden = 0
	}
	if len(goals) == 0 {
		e.raw(0, "goals", "{}")
		return
	}
	e.open(0, "goals")
	skip := hidden // the oldest ones
	for _, g := range goals {
		switch {
		case g.Status != blackboard.GoalEnded:
			r.goal(e, g, s.Counts(g.ID), names)
		case skip > 0:
			skip--
		default:
			r.endedGoal(e, g)
		}
	}
	e.optNum(0, "ended_goals_not_shown", int64(hidden))
}

func (r *Renderer) goal(e *emitter, g blackboard.Goal, counts map[blackboard.Status]int, names taskNames) {
	e.open(2, string(g.ID))
	e.str(4, "status", string(g.Status))
	e.str(4, "phase", phase(g, counts))
	r.text(e, 4, "text", g.Input.Text)
	if g.Spec != nil {
		r.text(e, 4, "intent", g.Spec.Intent)
	}
	e.str(4, "profile", g.Input.Profile)
	e.time(4, "started", g.InputRef.TS)
	suspension(e, g)
	if c := g.Clarify; c.Asked.Seq != 0 && c.Answered.Seq == 0 {
		e.list(4, "questions", c.Questions)
	}
	if g.Plan != nil {
		e.str(4, "plan", string(g.Plan.PlanID))
	}
	r.said(e, g)
	r.direction(e, g, names)
	r.goalCriteria(e, g)
	loss(e, g)
}

// said shows what a person said to the roles about the goal.
func (r *Renderer) said(e *emitter, g blackboard.Goal) {
	if len(g.Said) == 0 {
		return
	}
	e.open(4, "said")
	for _, s := range g.Said {
		e.item(6, func(n int) {
			e.optStr(n, "for", s.For)
			r.text(e, n, "text", s.Text)
		})
	}
}

func (r *Renderer) endedGoal(e *emitter, g blackboard.Goal) {
	e.open(2, string(g.ID))
	e.str(4, "status", string(g.Status))
	r.text(e, 4, "text", g.Input.Text)
	if g.Final == nil {
		return
	}
	e.str(4, "directive", string(g.Final.Directive))
	r.text(e, 4, "summary", g.Final.Summary)
	if len(g.Final.UnmetCriteria) > 0 {
		e.open(4, "unmet")
		for _, v := range g.Final.UnmetCriteria {
			e.item(6, func(n int) {
				e.str(n, "criterion", v.Criterion)
				r.text(e, n, "evidence", v.Evidence)
			})
		}
	}
	e.float(4, "L", g.Final.Loss.L)
	e.num(4, "rounds", int64(len(g.Rounds)))
	e.num(4, "active_ms", g.ActiveMS)
	e.float(4, "cost_usd", g.Cost)
	e.time(4, "ended", g.FinalRef.TS)
}

func suspension(e *emitter, g blackboard.Goal) {
	if g.Suspended == nil {
		return
	}
	e.open(4, "suspended")
	e.str(6, "why", g.Suspended.Why)
	e.optStr(6, "detail", g.Suspended.Detail)
	e.str(6, "command", g.Suspended.Command)
	e.time(6, "since", g.Suspended.Since.TS)
}

// phase says which role's turn it is, as far as the log tells.
func phase(g blackboard.Goal, counts map[blackboard.Status]int) string {
	working := counts[blackboard.Unclaimed] + counts[blackboard.Claimed] + counts[blackboard.Rejected] + counts[blackboard.IntegrationFailed]
	switch {
	case g.Status == blackboard.GoalSuspended:
		return "waiting for a person"
	case g.Spec == nil:
		return "perceive"
	case len(g.Rounds) > 0 && g.Rounds[len(g.Rounds)-1].Answer.Seq == 0:
		return "control"
	case g.PlanCause.Seq != 0 || g.Plan == nil:
		return "plan"
	case working > 0:
		return "execute"
	case counts[blackboard.ReadyForReview] > 0:
		return "review"
	}
	return "validate"
}

// goalCriteria shows what the last round judged, against the criteria of the
// current plan. A verdict on other words is no verdict on these.
func (r *Renderer) goalCriteria(e *emitter, g blackboard.Goal) {
	if g.Plan == nil || len(g.Plan.TaskCriteria) == 0 {
		return
	}
	e.open(4, "criteria")
	r.criteria(e, 6, g.Plan.TaskCriteria, lastVerdicts(g))
}

func lastVerdicts(g blackboard.Goal) []message.Verdict {
	for i := len(g.Rounds) - 1; i >= 0; i-- {
		if q := g.Rounds[i].Request; q != nil {
			return q.TaskVerdicts
		}
		if s := g.Rounds[i].Summary; s != nil {
			return s.TaskVerdicts
		}
	}
	return nil
}

// criteria shows criteria under their ids. What is said of one stands before
// the words it is about, so that a change of it is seen with the id above.
func (r *Renderer) criteria(e *emitter, n int, criteria []message.Criterion, verdicts []message.Verdict) {
	seen := map[string]bool{}
	for _, c := range criteria {
		v, judged := verdictOn(c, verdicts)
		e.open(n, unused(c.ID, seen))
		e.str(n+2, "met", mark(v, judged))
		if judged {
			r.text(e, n+2, "evidence", v.Evidence)
			e.optStr(n+2, "failure_class", string(v.FailureClass))
			e.optStr(n+2, "by", v.By)
		} else if c.HasCheck() {
			e.str(n+2, "by", message.ByCode)
		}
		e.str(n+2, "criterion", c.Criterion)
		if c.Required {
			e.raw(n+2, "required", "true")
		}
	}
}

// unused is a key that is not taken yet, and takes it: the key itself, or with
// a number behind it.
func unused(key string, taken map[string]bool) string {
	name := key
	for n := 2; taken[name]; n++ {
		name = key + "." + strconv.Itoa(n)
	}
	taken[name] = true
	return name
}

func verdictOn(c message.Criterion, verdicts []message.Verdict) (message.Verdict, bool) {
	for _, v := range verdicts {
		if v.CriterionID == c.ID && v.Criterion == c.Criterion {
			return v, true
		}
	}
	return message.Verdict{}, false
}

// loss shows how the error went, a line a round that the controller answered.
func loss(e *emitter, g blackboard.Goal) {
	at := len(e.b)
	e.open(4, "loss")
	empty := len(e.b)
	for i, round := range g.Rounds {
		d := round.Directive
		if d == nil {
			continue
		}
		e.indent(6)
		e.b = strconv.AppendInt(append(e.b, "- {round: "...), int64(i+1), 10)
		for _, part := range []struct {
			name  string
			value float64
		}{{"L", d.Loss.L}, {"D", d.Loss.D}, {"P", d.Loss.P}, {"Omega", d.Loss.Omega}} {
			e.b = append(append(append(e.b, ", "...), part.name...), ": "...)
			e.b = appendFloat(e.b, part.value)
		}
		e.b = appendQuoted(append(e.b, ", directive: "...), string(d.Directive))
		e.b = append(e.b, "}\n"...)
	}
	if len(e.b) == empty {
		e.b = e.b[:at]
	}
}
