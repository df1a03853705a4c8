package choose

import (
	"context"
	"errors"

	"orch/blackboard/message"
	"orch/roles/think"
)

// Coding is one entry of a chain of coders.
type Coding struct {
	Entry
	Coder think.Coder
}

// Coder lets the first free entry of a chain do an iteration.
type Coder struct {
	meter *Meter
	links []Coding
}

// NewCoder makes the chain's coder; links is not empty.
func NewCoder(m *Meter, links []Coding) *Coder { return &Coder{m, links} }

// Code does one iteration.
func (c *Coder) Code(ctx context.Context, in think.CodeInput) (think.CodeReport, error) {
	return inTurn(ctx, c.meter, len(c.links), func(i int) (Entry, bool) { return c.links[i].Entry, false },
		func(ctx context.Context, i int) (think.CodeReport, message.Usage, *float64, error) {
			done, err := c.links[i].Coder.Code(ctx, in)
			return done, done.Usage, done.Cost, err
		})
}

// Reviewing is one entry of a chain of reviewers.
type Reviewing struct {
	Entry
	Reviewer think.Reviewer
	// Metered tells that what it takes is counted by a client already.
	Metered bool
}

// Reviewers is a chain of reviewers.
type Reviewers struct {
	meter *Meter
	links []Reviewing
}

var _ think.Panel = (*Reviewers)(nil)

// NewReviewers makes the chain; links is not empty.
func NewReviewers(m *Meter, links []Reviewing) *Reviewers { return &Reviewers{m, links} }

// InTurn implements think.Panel. A reviewer whose verdict can not be used hands
// the question on; its account stays as free as it was, because others may need
// it for other work.
func (r *Reviewers) InTurn(ctx context.Context, ask func(context.Context, think.Reviewer) (think.Review, error)) (think.Review, error) {
	return inTurn(ctx, r.meter, len(r.links), func(i int) (Entry, bool) { return r.links[i].Entry, r.links[i].Metered },
		func(ctx context.Context, i int) (think.Review, message.Usage, *float64, error) {
			done, err := ask(ctx, r.links[i].Reviewer)
			if useless, ok := errors.AsType[*think.UnusableError](err); ok {
				named := *useless
				named.Model = r.links[i].Title()
				err = &handOn{&named}
			}
			return done, done.Usage, done.Cost, err
		})
}

// PlanReviewing is one entry of a chain of plan reviewers. What it takes is
// counted by its client.
type PlanReviewing struct {
	Entry
	Reviewer think.PlanReviewer
}

// PlanReviewers is a chain of plan reviewers.
type PlanReviewers struct {
	meter *Meter
	links []PlanReviewing
}

var _ think.PlanReviewer = (*PlanReviewers)(nil)

// NewPlanReviewers makes the chain; links is not empty.
func NewPlanReviewers(m *Meter, links []PlanReviewing) *PlanReviewers {
	return &PlanReviewers{m, links}
}

// ReviewPlan lets the first free entry look at a plan. One whose answer can not
// be used hands the question on, as a reviewer of code does.
func (r *PlanReviewers) ReviewPlan(ctx context.Context, in think.PlanReviewInput) (think.PlanReview, error) {
	done, err := inTurn(ctx, r.meter, len(r.links), func(i int) (Entry, bool) { return r.links[i].Entry, true },
		func(ctx context.Context, i int) (think.PlanReview, message.Usage, *float64, error) {
			done, err := r.links[i].Reviewer.ReviewPlan(ctx, in)
			if u := useless(err); u != nil {
				named := *u
				named.Role, named.Model = string(PlanReviewer), r.links[i].Title()
				err = &handOn{&named}
			}
			return done, done.Usage, nil, err
		})
	return done, r.meter.givenUp(err)
}
