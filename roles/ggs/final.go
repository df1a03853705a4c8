package ggs

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"orch/blackboard/message"
)

func (s situation) final(name string, h History, r ruling) *message.FinalResult {
	last := s.lastMeasured()
	f := &message.FinalResult{
		TaskID: h.Goal, Policy: name, Loss: s.Loss, GradL: s.gradL, Replans: len(s.rounds) - 1,
		PrevDirective: s.previous(), Directive: r.directive, MacroState: s.cell(), Rationale: r.why,
		UnmetCriteria: s.unmet(last, owed(h, s.rounds)), Accomplished: accomplished(last),
		Cost: s.now().cost, ElapsedMS: s.now().elapsedMS, Output: output(last), InDoubt: h.InDoubt,
	}
	if r.directive == message.Abandon {
		f.NextMoves = s.nextMoves(last)
	}
	f.Summary = s.summary(h, f)
	return f
}

// lastMeasured is the last round that ran something, or an empty one.
func (s situation) lastMeasured() sensed {
	for i := len(s.rounds) - 1; i >= 0; i-- {
		if s.rounds[i].measured() {
			return s.rounds[i]
		}
	}
	return sensed{}
}

// unmet are the criteria that failed when something last ran, the required ones
// of the goal that did not pass then, and what kept the plan from being made if
// that is why it ends.
func (s situation) unmet(last sensed, owed []message.Verdict) []message.Verdict {
	var out []message.Verdict
	for _, o := range last.outcomes {
		for _, c := range criteriaOf(o) {
			if c.weight > 0 {
				out = append(out, named(c, o))
			}
		}
	}
	for _, c := range goalCriteria(last.ofGoal()) {
		if c.weight > 0 {
			out = append(out, c.Verdict)
		}
	}
	if last.measured() {
		out = append(out, owed...)
	}
	if !s.now().measured() {
		out = append(out, message.Verdict{
			Criterion: "a plan that passes the rules", Mode: message.Verifiable, Required: true, Verdict: message.Fail,
			FailureClass: message.Logical, Evidence: refusals(s.now()), By: message.ByCode,
		})
	}
	return out
}

// named says which task is meant where a verdict alone would not.
func named(c criterion, o message.SubTaskOutcome) message.Verdict {
	v := c.Verdict
	if v.Criterion == wholeTask {
		v.Criterion = fmt.Sprintf("task %s as a whole", slotOf(o))
	}
	return v
}

func refusals(s sensed) string {
	var whats []string
	for _, v := range s.refusals {
		what := fmt.Sprintf("%s: %s", v.Rule, v.What)
		if v.Rule == RuleNoApproachLeft && v.Because != "" {
			what = v.Because // the rule says nothing more
		}
		whats = addNew(whats, what)
	}
	if len(whats) == 0 {
		return "the round brought no result"
	}
	return strings.Join(whats, "; ")
}

// accomplished says per criterion what was reached.
func accomplished(last sensed) []string {
	var out []string
	for _, o := range last.outcomes {
		if o.Status == message.Skipped {
			continue
		}
		for _, v := range o.CriteriaVerdicts {
			if v.Passed() {
				out = append(out, fmt.Sprintf("%s: %s (%s)", slotOf(o), v.Criterion, short(v.Evidence)))
			}
		}
	}
	for _, v := range last.verdicts {
		if v.Passed() {
			out = append(out, fmt.Sprintf("%s (%s)", v.Criterion, short(v.Evidence)))
		}
	}
	return out
}

// maxOutputBytes bounds the output in a result, so that the result always fits a
// line of the log: a goal must not stay open because it has too much to say.
const maxOutputBytes = 256 << 10

// output is the merged result, or what the tasks that matched put out.
func output(last sensed) string {
	text := last.merged
	if text == "" {
		text = outputs(last)
	}
	if len(text) <= maxOutputBytes {
		return text
	}
	return strings.ToValidUTF8(text[:maxOutputBytes], "") + "\n… (cut; the outputs of the tasks have the rest)"
}

func outputs(last sensed) string {
	var parts []string
	for _, o := range last.outcomes {
		if o.Status == message.Matched && o.Output != "" {
			parts = append(parts, o.Output)
		}
	}
	return strings.Join(parts, "\n")
}

func (s situation) summary(h History, f *message.FinalResult) string {
	name := h.Intent
	if name == "" {
		name = string(h.Goal)
	}
	met := len(f.Accomplished)
	all := met + len(f.UnmetCriteria)
	switch f.Directive {
	case message.Accept:
		return fmt.Sprintf("Done: %s. All %d criteria pass.", name, all)
	case message.Success:
		if len(f.UnmetCriteria) == 0 {
			return fmt.Sprintf("Done: %s. All %d criteria pass.", name, all)
		}
		return fmt.Sprintf("Close enough: %s. %d of %d criteria pass; not met: %s.", name, met, all, listed(f.UnmetCriteria))
	}
	return fmt.Sprintf("Abandoned: %s. %d of %d criteria pass; not met: %s.", name, met, all, listed(f.UnmetCriteria))
}

// listed names the first few criteria; the result has them all.
func listed(verdicts []message.Verdict) string {
	const most = 3
	var names []string
	for _, v := range verdicts {
		if len(names) == most {
			names = append(names, fmt.Sprintf("%d more", len(verdicts)-most))
			break
		}
		names = append(names, v.Criterion)
	}
	return strings.Join(names, ", ")
}

// short cuts evidence to a line that fits a screen.
func short(text string) string {
	const most = 120
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}
