package message

import (
	"errors"
	"fmt"
	"slices"
)

// Binds tells whether a verdict says what a binding verdict on the task has to
// say; pending are the blockers of earlier reviews that nobody has seen
// resolved. The error names what is missing.
//
// An approval needs a passing check for every criterion and no failed one, no
// blocker, and every earlier blocker RESOLVED. A rejection needs a failed
// check, or a blocker with file, line, defect and fix. Where no check failed,
// it says what became of each earlier blocker; a check that failed ends the
// review before anybody looks.
func (v ReviewVerdict) Binds(t SubTask, pending []Blocker) error {
	passed, red := map[string]bool{}, 0
	for _, c := range v.Checks {
		if err := c.Validate(); err != nil {
			return err
		}
		passed[c.CriterionID] = c.Passed()
		if !c.Passed() {
			red++
		}
	}
	for _, b := range v.Blockers {
		if err := b.Validate(); err != nil {
			return err
		}
	}
	for _, a := range v.AcceptedFindings {
		if err := need("finding", a.Finding, "content", a.Content); err != nil {
			return fmt.Errorf("accepted_findings: %w", err)
		}
		if a.Reason == "" && a.By != Human {
			return fmt.Errorf("accepted_findings gives no reason for %s", a.Finding)
		}
	}
	left, err := v.feedback(pending, red > 0)
	if err != nil {
		return err
	}
	switch v.Decision {
	case Approved:
		return v.approves(t, passed, red, left)
	case Rejected:
		if red == 0 && len(v.Blockers) == 0 {
			return errors.New("rejected without a blocker or a failed check")
		}
		return nil
	}
	return fmt.Errorf("decision %q is not approved or rejected", v.Decision)
}

func (v ReviewVerdict) approves(t SubTask, passed map[string]bool, red int, left []string) error {
	switch {
	case red > 0:
		return fmt.Errorf("approved with %d failed checks", red)
	case len(v.Blockers) > 0:
		return fmt.Errorf("approved with %d blockers", len(v.Blockers))
	case len(left) > 0:
		return fmt.Errorf("approved although %q is not RESOLVED", left[0])
	}
	for _, c := range t.SuccessCriteria {
		if !passed[c.ID] {
			return fmt.Errorf("approved, but criterion %s has no passing check", c.ID)
		}
	}
	return nil
}

// feedback checks what the verdict says of earlier blockers and lists those
// that are left.
func (v ReviewVerdict) feedback(pending []Blocker, red bool) (left []string, err error) {
	said := map[string]string{}
	for _, f := range v.PriorFeedback {
		if err := f.Validate(); err != nil {
			return nil, fmt.Errorf("prior_feedback: %w", err)
		}
		if _, twice := said[f.What]; twice {
			return nil, fmt.Errorf("prior_feedback says twice what became of %q", f.What)
		}
		if !slices.ContainsFunc(pending, func(b Blocker) bool { return b.Name() == f.What }) {
			return nil, fmt.Errorf("prior_feedback is about %q, which no review left open", f.What)
		}
		said[f.What] = f.State
	}
	for _, b := range pending {
		state, ok := said[b.Name()]
		if !ok && !red {
			return nil, fmt.Errorf("prior_feedback does not say what became of %q", b.Name())
		}
		if state != Resolved {
			left = append(left, b.Name())
		}
	}
	return left, nil
}

// Left are the blockers that are open after the verdict: the earlier ones it
// does not call RESOLVED, and its own.
func (v ReviewVerdict) Left(pending []Blocker) []Blocker {
	var open []Blocker
	add := func(b Blocker) {
		switch i := slices.IndexFunc(open, func(o Blocker) bool { return o.Name() == b.Name() }); {
		case i < 0:
			open = append(open, b)
		case b.Finding != "":
			open[i] = b // it was found again, maybe in other content
		}
	}
	for _, b := range pending {
		if !slices.Contains(v.PriorFeedback, Feedback{What: b.Name(), State: Resolved}) {
			add(b)
		}
	}
	for _, b := range v.Blockers {
		add(b)
	}
	return open
}

// Names are the findings that stand by name, as file:line: what and why.
func (v ReviewVerdict) Names() []string {
	names := slices.Clone(v.Accepted)
	for _, a := range v.AcceptedFindings {
		name := a.Finding + " " + a.What
		if a.Reason != "" {
			name += ", because: " + a.Reason
		}
		if a.By == Human {
			name += " (by a person)"
		}
		names = append(names, name)
	}
	return names
}
