package code

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"orch/blackboard/lazyregexp"
	"orch/blackboard/message"
)

// redDefect begins the defect of a blocker that code makes of a failed check.
const redDefect = "the check fails: "

// location finds the first file and line in what a command printed.
var location = lazyregexp.New(`(?m)(?:^|[\s("'=])((?:[\w.@+-]+/)*[\w.@+-]+\.[A-Za-z]\w{0,9}):(\d{1,7})\b|File "([^"\n]+)", line (\d{1,7})`)

// RedBlockers makes a blocker of every failed check: a red check rejects
// without anybody looking. A check that was red before keeps its place, so
// that it stays one point of the review.
func RedBlockers(t message.SubTask, checks []message.Verdict, pending []message.Blocker) []message.Blocker {
	var out []message.Blocker
	for _, c := range checks {
		if c.Passed() {
			continue
		}
		b := message.Blocker{Line: 1, Defect: redDefect + oneLine(c.Criterion, 200), Fix: "make it pass: " + oneLine(c.Evidence, 300), SpecRef: t.SpecRef}
		b.File, b.Line = placeOf(t, c.Evidence)
		if i := slices.IndexFunc(pending, func(p message.Blocker) bool { return p.Defect == b.Defect }); i >= 0 {
			b.File, b.Line = pending[i].File, pending[i].Line
		}
		out = append(out, b)
	}
	return out
}

// placeOf is the first place the evidence names inside the project, or the
// beginning of the spec, or of the project.
func placeOf(t message.SubTask, evidence string) (file string, line int) {
	for _, m := range location.FindAllStringSubmatch(evidence, 20) {
		name, number := m[1]+m[3], m[2]+m[4]
		if strings.HasPrefix(name, "/") || strings.HasPrefix(name, "..") {
			continue
		}
		if n, err := strconv.Atoi(number); err == nil && n > 0 {
			return name, n
		}
	}
	if file = SpecPath(t.SpecRef); file == "" {
		file = "."
	}
	return file, 1
}

func oneLine(s string, limit int) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > limit {
		return string(r[:limit]) + "…"
	}
	return s
}

// CodeFeedback says of every earlier blocker that a check made what became of
// it, and returns those that only a reviewer can speak about.
func CodeFeedback(pending []message.Blocker, checks []message.Verdict) (said []message.Feedback, rest []message.Blocker) {
	for _, b := range pending {
		i := slices.IndexFunc(checks, func(c message.Verdict) bool { return redDefect+oneLine(c.Criterion, 200) == b.Defect })
		switch {
		case i < 0:
			rest = append(rest, b)
		case checks[i].Passed():
			said = append(said, message.Feedback{What: b.Name(), State: message.Resolved})
		default:
			said = append(said, message.Feedback{What: b.Name(), State: message.StillPresent})
		}
	}
	return said, rest
}

// FindingFeedback says of every earlier blocker that is a finding of code what
// became of it: one that was neither found again nor stands among the blockers
// of this review is resolved, by a change or by somebody's acceptance. unasked
// are the IDs that were found where a failed check ended the review before
// anybody could accept them: they are still there. What a reviewer says of these
// blockers is left out.
func FindingFeedback(v message.ReviewVerdict, pending []message.Blocker, unasked []string) []message.Feedback {
	var said []message.Feedback
	own := map[string]bool{}
	for _, b := range pending {
		if b.Finding == "" {
			continue
		}
		own[b.Name()] = true
		state := message.Resolved
		if slices.Contains(unasked, b.Finding) || slices.ContainsFunc(v.Blockers, func(n message.Blocker) bool { return n.Finding == b.Finding && n.Name() == b.Name() }) {
			state = message.StillPresent
		}
		said = append(said, message.Feedback{What: b.Name(), State: state})
	}
	for _, f := range v.PriorFeedback {
		if !own[f.What] {
			said = append(said, f)
		}
	}
	return said
}

// Complete adds to a verdict what code knows better than who gave it: the
// commit, the checks that were run, the spec where a blocker names none, and
// whether the reviewer logged an anomaly. A failed check makes it a rejection
// whatever was decided.
func Complete(v message.ReviewVerdict, t message.SubTask, commit string, checks []message.Verdict, pending []message.Blocker, logged bool) message.ReviewVerdict {
	v.Task, v.ReviewCommit, v.AnomalyLogged = t.ID, commit, logged
	v.Checks = mergeChecks(v.Checks, checks)
	said, rest := CodeFeedback(pending, checks)
	for _, f := range v.PriorFeedback {
		if slices.ContainsFunc(rest, func(b message.Blocker) bool { return b.Name() == f.What }) {
			said = append(said, f)
		}
	}
	v.PriorFeedback = said
	v.Blockers = slices.Clone(v.Blockers)
	if red := RedBlockers(t, checks, pending); len(red) > 0 {
		v.Decision = message.Rejected
		v.Blockers = append(v.Blockers, red...)
	}
	for i := range v.Blockers {
		if v.Blockers[i].SpecRef == "" {
			v.Blockers[i].SpecRef = t.SpecRef
		}
	}
	return v
}

// Unbound says what keeps a completed verdict of a reviewer from binding; nil
// when it binds. It asks more than the board does: whatever became of the
// checks, a reviewer that was asked speaks of everything it was asked about.
func Unbound(v message.ReviewVerdict, t message.SubTask, pending []message.Blocker) error {
	var missing []string
	for _, b := range pending {
		if !slices.ContainsFunc(v.PriorFeedback, func(f message.Feedback) bool { return f.What == b.Name() }) {
			missing = append(missing, fmt.Sprintf("prior_feedback does not say what became of %q", b.Name()))
		}
	}
	for _, c := range t.SuccessCriteria {
		said := slices.ContainsFunc(v.Checks, func(about message.Verdict) bool { return about.CriterionID == c.ID })
		if !said && v.Decision == message.Approved {
			missing = append(missing, fmt.Sprintf("verdicts has none, with evidence, on criterion %q", c.ID))
		}
	}
	if v.Decision == message.Rejected && len(v.Blockers) == 0 {
		missing = append(missing, "it rejects and names no blocker")
	}
	if len(missing) > 0 {
		return errors.New(strings.Join(missing, "; "))
	}
	return v.Binds(t, pending)
}

// mergeChecks lets what code found stand over what somebody says about the
// same criterion.
func mergeChecks(said, run []message.Verdict) []message.Verdict {
	out := slices.Clone(run)
	for _, v := range said {
		if !slices.ContainsFunc(run, func(r message.Verdict) bool { return r.CriterionID == v.CriterionID }) {
			out = append(out, v)
		}
	}
	return out
}

// OwnModelError says that coder and reviewer would think alike although they
// must not.
type OwnModelError struct{ Model string }

func (e *OwnModelError) Error() string {
	return fmt.Sprintf("the code reviewer would think with %s, as the coder does", e.Model)
}

// Hint names what to change.
func (e *OwnModelError) Hint() string {
	return "set models.code-reviewer in .orch/config.yaml to another model, or code.reviewer_other_model to false"
}

// CheckReviewer refuses a reviewer that thinks with the coder's model where
// another is demanded. An empty name is a backend without a model.
func CheckReviewer(coder, reviewer string, otherModel bool) error {
	if otherModel && coder == reviewer {
		return &OwnModelError{Model: coder}
	}
	return nil
}
