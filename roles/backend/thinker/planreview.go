package thinker

import (
	"context"

	"orch/roles/backend"
	"orch/roles/backend/prompt"
)

var _ backend.PlanReviewer = (*Thinker)(nil)

type planReview struct {
	Decision string                `json:"decision"`
	Reason   string                `json:"reason"`
	Problems []backend.PlanProblem `json:"problems"`
}

// ReviewPlan implements backend.PlanReviewer.
func (t *Thinker) ReviewPlan(ctx context.Context, in backend.PlanReviewInput) (backend.PlanReview, error) {
	p, err := prompt.ForPlanReviewer(in)
	if err != nil {
		return backend.PlanReview{}, err
	}
	c := t.talk(p)
	v, err := object[planReview](ctx, c, nil)
	if err != nil {
		return backend.PlanReview{Usage: c.usage}, err
	}
	return backend.PlanReview{Accepted: v.Decision == "accept", Reason: v.Reason, Problems: v.Problems, Usage: c.usage}, nil
}
