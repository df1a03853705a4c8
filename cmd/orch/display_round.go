package main

import (
	"fmt"
	"strings"
	"time"

	"orch/blackboard/message"
	"orch/roles/ggs"
)

// What a person is told of a round: how it went, what comes next and why. The
// figures of the controller are for those who ask for them.

func (d *display) remembered(b message.MemoryAnswer) []string {
	var known []string
	if n := len(b.SOPs); n > 0 {
		known = append(known, count(n, "rule"))
	}
	if n := len(b.Potentials); n > 0 {
		known = append(known, "how "+count(n, "approach")+" went before")
	}
	if known == nil || !d.figures { // the plan says what it takes from it
		return nil
	}
	return []string{d.head("memory", "knows "+strings.Join(known, ", and "))}
}

func (d *display) replan(b message.ReplanRequest) []string {
	out := []string{d.head(fmt.Sprintf("round %d", d.round), oneLine(b.GapSummary, 100))}
	return append(out, d.verdicts(b.TaskVerdicts)...)
}

// order is a directive of the controller in a person's words.
func order(d message.Directive) string {
	switch d {
	case message.Refine:
		return "keeping the approach, with changes"
	case message.ChangePath:
		return "another way with the same means"
	case message.ChangeApproach:
		return "trying another approach"
	case message.BreakSymmetry:
		return "trying something quite different"
	case message.Accept:
		return "done"
	case message.Success:
		return "good enough"
	case message.Abandon:
		return "given up"
	}
	return string(d)
}

func (d *display) directive(b message.PlanDirective) []string {
	out := []string{d.head("next", d.paint.bold(order(b.Directive))+": "+oneLine(b.Rationale, 180))}
	for _, t := range b.TaskDirectives {
		if len(b.TaskDirectives) > 1 {
			out = append(out, d.cont(fmt.Sprintf("%s: %s  %s", t.Slot, order(t.Directive), d.paint.dim(oneLine(t.Because, 120)))))
		}
	}
	return append(out, d.measures(b.PrevDirective, b.Directive, b.Loss, b.GradL))
}

// measures is how far a goal is, and what it has used up.
func (d *display) measures(prev, next message.Directive, loss message.Loss, gradL float64) string {
	if d.figures {
		return d.cont(d.paint.dim(ggs.Transition(prev, next, loss, gradL, d.epsilon)))
	}
	far := "no progress yet"
	switch {
	case gradL < -d.epsilon:
		far = "closer than before"
	case gradL > d.epsilon:
		far = "further away than before"
	case d.round > 1:
		far = "no closer than before"
	case loss.D < 1:
		far = fmt.Sprintf("%.0f %% of it met", 100*(1-loss.D))
	}
	return d.cont(d.paint.dim(fmt.Sprintf("%s · %.0f %% of the budget used", far, 100*loss.Omega)))
}

func (d *display) final(b message.FinalResult) []string {
	mark := d.paint.green
	if b.Directive == message.Abandon {
		mark = d.paint.red
	}
	out := []string{d.head("result", mark(order(b.Directive))+": "+oneLine(strings.TrimPrefix(strings.TrimPrefix(b.Summary, "Done: "), "Abandoned: "), 200))}
	for _, v := range b.UnmetCriteria {
		out = append(out, d.verdicts([]message.Verdict{v})...)
	}
	for _, call := range b.InDoubt {
		out = append(out, d.cont(d.paint.yellow("in doubt")+": "+oneLine(call, 200)+" was cut off, and nobody knows whether it took effect"))
	}
	if b.Directive == message.Abandon {
		for _, a := range b.Accomplished {
			out = append(out, d.cont("done: "+oneLine(a, 150)))
		}
	}
	for _, n := range b.NextMoves {
		out = append(out, d.cont("try: "+oneLine(n, 200)))
	}
	if d.figures {
		out = append(out, d.measures(b.PrevDirective, b.Directive, b.Loss, b.GradL))
	}
	spent := time.Duration(b.ElapsedMS) * time.Millisecond
	return append(out, d.cont(d.paint.dim(fmt.Sprintf("%s, %s of work, $%.4f", count(b.Replans, "replan"), spent.Round(100*time.Millisecond), b.Cost))))
}
