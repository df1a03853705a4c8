package thinker

import (
	"context"
	"errors"
	"fmt"

	"orch/blackboard/message"
	"orch/roles/think"
	"orch/roles/think/closing"
	"orch/roles/think/prompt"
)

var _ think.Reviewer = (*Thinker)(nil)

// Review implements think.Reviewer. A plain model sees what it is shown and
// nothing else, so what does not fit into one question is not reviewed: the
// change goes back to be made smaller. It is asked once: whoever demands a
// verdict that binds gives back what does not, with the reason in in.Refused.
func (t *Thinker) Review(ctx context.Context, in think.ReviewInput) (think.Review, error) {
	in.Dir = "" // it can not look there
	p, err := prompt.ForReviewer(in)
	if err != nil {
		return think.Review{}, err
	}
	for _, s := range p.Sections {
		if s.Name == prompt.Inputs && s.LeftOutBytes > 0 {
			return tooLarge(in, s), nil
		}
	}
	c := t.judging(p, in.Word, "decision")
	r, err := c.ask(ctx)
	var said closing.Review
	if none := noAnswer(err); none != nil {
		err = c.unusable(r, errors.New(none.Detail))
	} else if err == nil {
		if said, err = read[closing.Review](c, r, nil); err != nil {
			err = c.unusable(r, err)
		}
	}
	if err != nil {
		return think.Review{Usage: c.usage}, err
	}
	return said.Into(think.Review{Usage: c.usage}, in), nil
}

// tooLarge sends a change back that can not be shown whole.
func tooLarge(in think.ReviewInput, s prompt.Section) think.Review {
	r := think.Review{Blockers: []message.Blocker{{File: ".", Line: 1, SpecRef: in.Task.SpecRef,
		Defect: fmt.Sprintf("the change is too large to be reviewed: %d bytes more than the %d that fit", s.LeftOutBytes, s.BudgetBytes),
		Fix:    "make the change smaller; if the task can not be done in less, stop as blocked and ask for it to be split"}}}
	for _, b := range in.Pending {
		r.Feedback = append(r.Feedback, message.Feedback{What: b.Name(), State: message.StillPresent})
	}
	return r
}
