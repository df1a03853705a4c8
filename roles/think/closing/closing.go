// Package closing reads what a code reviewer, or a coder, says at its end: the
// parts of their answers that mean the same whether an agent program or a plain
// model gave them.
//
// It promises that a criterion the answer does not speak of, or passes without
// evidence, gets no verdict: neither a pass nor a fail that the work would have
// to answer for. It never decides whether a verdict binds: that is the
// reviewer's step.
package closing

import (
	"encoding/json"

	"orch/blackboard/message"
	"orch/roles/think"
)

// Review is a code reviewer's answer, as its page has it.
type Review struct {
	Decision string             `json:"decision"`
	Blockers []message.Blocker  `json:"blockers"`
	Verdicts []Criterion        `json:"verdicts"`
	Concerns []string           `json:"concerns"`
	Feedback []message.Feedback `json:"prior_feedback"`
	Accepted []think.Acceptance `json:"accepted_findings"`
	Problems []Anomaly          `json:"anomalies"`
}

// Criterion is what an answer says about one criterion.
type Criterion struct {
	ID       string `json:"id"`
	Pass     bool   `json:"pass"`
	Evidence string `json:"evidence"`
}

// Anomaly is one note in an answer.
type Anomaly struct {
	Type    string         `json:"type"`
	Details map[string]any `json:"details"`
}

// Anomalies are the notes as the board has them.
func Anomalies(said []Anomaly) []message.Anomaly {
	var all []message.Anomaly
	for _, n := range said {
		details := map[string]string{}
		for k, v := range n.Details {
			text, isText := v.(string)
			if !isText {
				raw, err := json.Marshal(v)
				if err != nil {
					continue
				}
				text = string(raw)
			}
			details[k] = text
		}
		all = append(all, message.Anomaly{Kind: n.Type, Details: details})
	}
	return all
}

// Into adds an answer to what is known of the review already.
func (s Review) Into(out think.Review, in think.ReviewInput) think.Review {
	out.Approved = s.Decision == message.Approved
	out.Blockers, out.Concerns, out.Feedback, out.Accepted = s.Blockers, s.Concerns, s.Feedback, s.Accepted
	out.Anomalies = Anomalies(s.Problems)
	for i := range out.Blockers {
		out.Blockers[i].Line = max(out.Blockers[i].Line, 1)       // of the file as a whole
		out.Blockers[i].Finding, out.Blockers[i].Content = "", "" // code alone finds
	}
	for _, c := range in.Task.SuccessCriteria {
		if v, said := s.of(c); said && !c.HasCheck() {
			out.Checks = append(out.Checks, v)
		}
	}
	return out
}

// of is what the answer says about one criterion. A word without evidence says
// nothing.
func (s Review) of(c message.Criterion) (v message.Verdict, said bool) {
	for _, about := range s.Verdicts {
		if about.ID != c.ID || about.Evidence == "" {
			continue
		}
		v = message.Verdict{CriterionID: c.ID, Criterion: c.Criterion, Mode: c.Mode, Required: c.Required, Verdict: message.Fail,
			FailureClass: message.Logical, By: message.ByModel, Evidence: about.Evidence}
		if about.Pass {
			v.Verdict, v.FailureClass = message.Pass, ""
		}
		said = true
	}
	return v, said
}
