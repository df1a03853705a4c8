package thinker

import (
	"context"

	"orch/roles/think"
	"orch/roles/think/prompt"
)

var _ think.PlanReviewer = (*Thinker)(nil)

type planReview struct {
	Decision string              `json:"decision"`
	Reason   string              `json:"reason"`
	Problems []think.PlanProblem `json:"problems"`
}

// ReviewPlan implements think.PlanReviewer.
func (t *Thinker) ReviewPlan(ctx context.Context, in think.PlanReviewInput) (think.PlanReview, error) {
	p, err := prompt.ForPlanReviewer(in)
	if err != nil {
		return think.PlanReview{}, err
	}
	c := t.judging(p, in.Word, "decision")
	v, err := object[planReview](ctx, c, nil)
	if err != nil {
		return think.PlanReview{Usage: c.usage}, err
	}
	return think.PlanReview{Accepted: v.Decision == "accept", Reason: v.Reason, Problems: v.Problems, Usage: c.usage}, nil
}
