package auditor

import (
	"fmt"
	"strings"

	"orch/blackboard/message"
)

// selfJudged finds a judgement by the agent whose work it is about.
func (a *Auditor) selfJudged(m message.Message, id message.TaskID) {
	if _, t := a.taskOf(m, id); t != nil && t.Worker != "" && t.Worker == m.Agent {
		a.find(Finding{Kind: BoundaryViolation, Severity: Critical, Goal: m.Goal, Subject: string(id), Role: m.From, Agent: m.Agent,
			Message: fmt.Sprintf("%s judged its own work on %s", m.Agent, id)}, t.Since, at(m))
	}
}

// evidenced finds criteria that pass and nothing is shown for it. A repetition
// of the criterion shows nothing.
func (a *Auditor) evidenced(m message.Message, subject string, verdicts []message.Verdict) {
	for _, v := range verdicts {
		if !v.Passed() {
			continue
		}
		said := normalise(v.Evidence)
		if said != "" && said != normalise(v.Criterion) {
			continue
		}
		a.find(Finding{Kind: PassNoEvidence, Severity: Critical, Goal: m.Goal, Subject: subject, Role: m.From, Agent: m.Agent,
			Message: fmt.Sprintf("criterion %q of %s passes without evidence", short(v.Criterion), subject)}, at(m))
	}
}

func (a *Auditor) correction(m message.Message, b message.CorrectionSignal) {
	a.selfJudged(m, b.SubtaskID)
	a.evidenced(m, string(b.SubtaskID), b.Verdicts)
	a.rate(m, m.From, "approvals", false, true)
	a.reject(m, b.SubtaskID)
}

func (a *Auditor) outcome(m message.Message, b message.SubTaskOutcome) {
	a.selfJudged(m, b.SubtaskID)
	a.evidenced(m, string(b.SubtaskID), b.CriteriaVerdicts)
	a.rate(m, m.From, "approvals", b.Status == message.Matched, true)
	if b.Status == message.Matched {
		a.claimsMore(m, string(b.SubtaskID), failuresOf(b.CriteriaVerdicts), len(b.CriteriaVerdicts))
		a.approve(m, b.SubtaskID)
	} else if g := a.s.Goals[m.Goal]; g != nil {
		delete(g.Approved, b.SubtaskID)
	}
	a.settle(m, b.SubtaskID)
}

// claimsMore finds a "matched" that its own verdicts do not bear.
func (a *Auditor) claimsMore(m message.Message, subject string, failed []failure, verdicts int) {
	what := ""
	switch {
	case len(failed) > 0:
		what = fmt.Sprintf("%s counts as matched although %q failed", subject, failed[0].Criterion)
	case verdicts == 0:
		what = fmt.Sprintf("%s counts as matched without a verdict", subject)
	default:
		return
	}
	a.find(Finding{Kind: OverclaimedResult, Severity: Critical, Goal: m.Goal, Subject: subject, Role: m.From, Agent: m.Agent, Message: what}, at(m))
}

func failuresOf(verdicts []message.Verdict) (out []failure) {
	for _, v := range verdicts {
		if !v.Passed() {
			out = append(out, failure{Criterion: cut(v.Criterion), Required: v.Required})
		}
	}
	return out
}

// cut bounds what is remembered of a criterion.
func cut(s string) string {
	const mostBytes = 400
	if len(s) > mostBytes {
		return strings.ToValidUTF8(s[:mostBytes], "")
	}
	return s
}

func (a *Auditor) reviewVerdict(m message.Message, b message.ReviewVerdict) {
	a.selfJudged(m, b.Task)
	a.evidenced(m, string(b.Task), b.Checks)
	yes := b.Decision == message.Approved
	a.rate(m, m.From, "approvals", yes, true)
	if !yes {
		a.reject(m, b.Task)
		return
	}
	if failed := failuresOf(b.Checks); len(failed) > 0 || len(b.Blockers) > 0 {
		if len(failed) == 0 {
			failed = []failure{{Criterion: cut(b.Blockers[0].Defect)}}
		}
		a.claimsMore(m, string(b.Task), failed, len(b.Checks))
	}
	a.approve(m, b.Task)
	if _, t := a.taskOf(m, b.Task); t != nil {
		t.move(reviewed, at(m))
	}
}
