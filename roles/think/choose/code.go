package choose

import (
	"context"

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
		func(i int) (think.CodeReport, message.Usage, *float64, error) {
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

// Reviewer lets the first free entry of a chain judge.
type Reviewer struct {
	meter *Meter
	links []Reviewing
}

// NewReviewer makes the chain's reviewer; links is not empty.
func NewReviewer(m *Meter, links []Reviewing) *Reviewer { return &Reviewer{m, links} }

// Review judges one commit.
func (r *Reviewer) Review(ctx context.Context, in think.ReviewInput) (think.Review, error) {
	return inTurn(ctx, r.meter, len(r.links), func(i int) (Entry, bool) { return r.links[i].Entry, r.links[i].Metered },
		func(i int) (think.Review, message.Usage, *float64, error) {
			done, err := r.links[i].Reviewer.Review(ctx, in)
			return done, done.Usage, done.Cost, err
		})
}
