package auditor

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"orch/blackboard/message"
)

// pattern is one way in which anomalies together call for a stop.
type pattern struct {
	kind     Kind
	severity Severity
	many     int    // how many make it
	text     string // what is compared; empty: all count together
}

// patternOf says to which pattern an anomaly belongs.
func (a *Auditor) patternOf(b message.Anomaly) (pattern, bool) {
	d := b.Details
	switch b.Kind {
	case "retry_loop":
		return pattern{RetryCluster, Architecture, a.p.RetryCluster, d["error_pattern"]}, true
	case "trade_off":
		return pattern{DebtAccumulation, Scope, a.p.DebtAccumulation, ""}, truthy(d["debt_created"])
	case "debt_created":
		return pattern{DebtAccumulation, Scope, a.p.DebtAccumulation, ""}, true
	case "assumption_violated":
		return pattern{AssumptionCascade, Architecture, a.p.AssumptionFails, d["assumption"]}, true
	case "workaround":
		return pattern{WorkaroundPattern, Architecture, a.p.Workarounds, d["what"]}, true
	case "spec_gap":
		return pattern{SpecGapCluster, Spec, a.p.SpecGaps, d["what"]}, true
	case "spec_ambiguity":
		return pattern{SpecGapCluster, Spec, a.p.SpecGaps, d["spec_ref"]}, true
	case "external_blocker":
		return pattern{ServiceOutage, External, a.p.Outages, d["blocker_service"]}, true
	}
	return pattern{}, false
}

// truthy reads what a role wrote down as a yes. A "no" counts whatever stands
// around it, as long as it denies nothing but debt: "No debt." says there is
// none, "no tests for the parser" names one.
func truthy(s string) bool {
	words := strings.FieldsFunc(strings.ToLower(s), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '/' })
	if len(words) == 0 {
		return false
	}
	switch words[0] {
	case "0", "none", "false", "nothing", "n/a":
		return false
	case "no":
		return slices.ContainsFunc(words[1:], func(w string) bool { return !slices.Contains(ofDebt, w) })
	}
	return true
}

// ofDebt are words that name nothing by themselves.
var ofDebt = []string{"debt", "technical", "tech", "new", "more", "further", "additional", "was", "is", "created", "added", "left", "at", "all"}

// cluster is anomalies that say the same.
type cluster struct {
	Text    string   `json:"text"` // normalised
	Members []member `json:"members"`
}

type member struct {
	evidence
	Goal message.GoalID  `json:"goal"`
	Task message.TaskID  `json:"task"`
	By   message.AgentID `json:"by"`
}

// Bounds of comparing: each anomaly is held against each open cluster.
const (
	maxClusters = 64    // of one pattern; the oldest is let go
	maxCompared = 2_000 // anomalies of one goal
)

func (a *Auditor) anomaly(m message.Message, b message.Anomaly) {
	if err := message.MayLog(m.From, b.Kind); err != nil {
		a.find(Finding{Kind: BoundaryViolation, Severity: Critical, Goal: m.Goal, Subject: m.Subject, Role: m.From, Agent: m.Agent,
			Message: "the log has an anomaly that its sender may not report: " + err.Error()}, at(m))
		return
	}
	if b.Kind == message.SystemAmbiguity {
		a.hold(m, "the checkpoint", b.Details["question"], true) // the board suspends the goal itself
	}
	p, ok := a.patternOf(b)
	if !ok {
		return
	}
	g := a.goalOf(m)
	if g.Noticed++; g.Noticed > maxCompared {
		if g.Noticed == maxCompared+1 {
			a.find(Finding{Kind: UncomparedAnomalies, Severity: Warning, Goal: m.Goal, Subject: string(m.Goal), Role: m.From, Agent: m.Agent,
				Message: fmt.Sprintf("more than %d anomalies of one goal: the rest is not compared", maxCompared)}, at(m))
		}
		return
	}
	text := normalise(p.text)
	list := a.s.Clusters[p.kind]
	i := 0
	for i < len(list) && !similar(list[i].Text, text, a.p.Similarity) {
		i++
	}
	if i == len(list) {
		if len(list) >= maxClusters {
			list = list[1:]
			i--
		}
		list = append(list, cluster{Text: text})
	}
	list[i].Members = append(list[i].Members, member{at(m), m.Goal, b.Task, m.Agent})
	if len(list[i].Members) >= p.many {
		a.trip(p, list[i])
		list = append(list[:i:i], list[i+1:]...) // it begins anew
	}
	a.s.Clusters[p.kind] = list
}

// trip reports a pattern. It is about one goal if all its anomalies are.
func (a *Auditor) trip(p pattern, c cluster) {
	goal := c.Members[0].Goal
	var ev []evidence
	for _, m := range c.Members {
		if m.Goal != goal {
			goal = ""
		}
		ev = append(ev, m.evidence)
	}
	what := ""
	if c.Text != "" {
		what = fmt.Sprintf(" about %q", c.Text)
	}
	a.find(Finding{Kind: p.kind, Severity: p.severity, Goal: goal, Subject: c.Text, Trips: true,
		Message: fmt.Sprintf("%s: %d anomalies%s", p.kind, len(c.Members), what)}, ev...)
}

// withoutGoal forgets the anomalies of a goal that has ended.
func withoutGoal(list []cluster, id message.GoalID) []cluster {
	var out []cluster
	for _, c := range list {
		var kept []member
		for _, m := range c.Members {
			if m.Goal != id {
				kept = append(kept, m)
			}
		}
		if c.Members = kept; len(kept) > 0 {
			out = append(out, c)
		}
	}
	return out
}
