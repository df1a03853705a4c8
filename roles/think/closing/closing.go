// Package closing reads what a code reviewer, or a coder, says at its end: the
// parts of their answers that mean the same whether an agent program or a plain
// model gave them.
//
// It promises that a criterion the answer does not speak of, or passes without
// evidence, is not met. It never decides whether a verdict binds: that is the
// reviewer's step.
package closing

import (
	"encoding/json"
	"fmt"
	"strings"

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
	Accepted []string           `json:"accepted_findings"`
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
		out.Blockers[i].Line = max(out.Blockers[i].Line, 1) // of the file as a whole
	}
	for _, c := range in.Task.SuccessCriteria {
		if !c.HasCheck() {
			out.Checks = append(out.Checks, s.of(c))
		}
	}
	return out
}

// of is what the answer says about one criterion.
func (s Review) of(c message.Criterion) message.Verdict {
	v := message.Verdict{CriterionID: c.ID, Criterion: c.Criterion, Mode: c.Mode, Required: c.Required, Verdict: message.Fail,
		FailureClass: message.Logical, By: message.ByModel, Evidence: "the reviewer gave no verdict on it"}
	for _, said := range s.Verdicts {
		if said.ID != c.ID || said.Evidence == "" {
			continue
		}
		v.Evidence = said.Evidence
		if said.Pass {
			v.Verdict, v.FailureClass = message.Pass, ""
		}
	}
	return v
}

// Missing says what an answer leaves out that a binding verdict has to say;
// empty when it is whole.
func (s Review) Missing(in think.ReviewInput) string {
	var missing []string
	for _, b := range in.Pending {
		said := false
		for _, f := range s.Feedback {
			said = said || f.What == b.Name()
		}
		if !said {
			missing = append(missing, fmt.Sprintf("prior_feedback does not say what became of %q", b.Name()))
		}
	}
	for _, c := range in.Task.SuccessCriteria {
		said := c.HasCheck()
		for _, v := range s.Verdicts {
			said = said || v.ID == c.ID
		}
		if !said && s.Decision == message.Approved {
			missing = append(missing, fmt.Sprintf("verdicts has none on criterion %q", c.ID))
		}
	}
	return strings.Join(missing, "; ")
}
