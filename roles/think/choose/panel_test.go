package choose

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"orch/blackboard/message"
	"orch/roles/think"
	"orch/roles/think/model"
)

// judge is a reviewer with one answer, as the panel's question finds it.
type judge struct {
	name string
	err  error
}

func (j judge) Review(context.Context, think.ReviewInput) (think.Review, error) {
	return think.Review{Usage: message.Usage{InputTokens: 1_000_000, Model: j.name}, Concerns: []string{j.name}}, j.err
}

// A reviewer whose verdict can not be used hands the question on and pauses
// nobody; what it took is counted. Of other failures everything stays as it is.
func TestAUselessVerdictGoesToTheNextReviewer(t *testing.T) {
	useless := &think.UnusableError{Role: "code-reviewer", Why: "no verdict"}
	for name, c := range map[string]struct {
		a, b    error
		said    string // by whom the verdict is
		waits   bool
		useless bool
		paused  int
		usd     float64
	}{
		"a verdict":                     {said: "a", usd: 1},
		"useless, then a verdict":       {a: useless, said: "b", usd: 3},
		"both useless":                  {a: useless, b: useless, useless: true, usd: 3},
		"useless, then a limit":         {a: useless, b: fails(model.Limit), waits: true, usd: 1},
		"useless, then out of reach":    {a: useless, b: fails(model.Unreachable), waits: true, usd: 1},
		"out of reach, then useless":    {a: fails(model.Unreachable), b: useless, waits: true, paused: 1, usd: 2},
		"useless, then a wrong key":     {a: useless, b: fails(model.Auth), useless: true, usd: 1},
		"what another would do no more": {a: errors.New("a full disk"), usd: 0},
	} {
		w := newBench(t, nil, nil)
		panel := NewReviewers(w.Meter, []Reviewing{{Entry: entry("a"), Reviewer: judge{"a", c.a}}, {Entry: entry("b"), Reviewer: judge{"b", c.b}}})
		got, err := panel.InTurn(w.ctx, func(ctx context.Context, who think.Reviewer) (think.Review, error) {
			return who.Review(ctx, think.ReviewInput{})
		})
		said := ""
		if err == nil {
			said = fmt.Sprint(got.Concerns[0])
		}
		_, useless := errors.AsType[*think.UnusableError](err)
		_, usd := w.Total()
		if said != c.said || (err == nil) != (c.said != "") || Waits(err) != c.waits || useless != c.useless || len(w.Limits()) != c.paused || usd != c.usd {
			t.Errorf("%s: %q, %v, %d paused, $%g", name, said, err, len(w.Limits()), usd)
		}
	}
}

// planJudge is a plan reviewer with one answer.
type planJudge judge

func (j planJudge) ReviewPlan(context.Context, think.PlanReviewInput) (think.PlanReview, error) {
	return think.PlanReview{Accepted: true, Reason: j.name}, j.err
}

// A plan reviewer whose answer can not be used is replaced, as a reviewer of
// code is; where nobody is left the error says that nothing was judged.
func TestAUselessReviewOfAPlanGoesToTheNext(t *testing.T) {
	garbage := &think.UnusableError{Role: "plan-reviewer", Why: "no verdict"}
	for name, c := range map[string]struct {
		a, b           error
		said           string
		waits, useless bool
		paused         int
	}{
		"an answer":                  {said: "a"},
		"garbage, then an answer":    {a: garbage, said: "b"},
		"refused, then an answer":    {a: fails(model.Refused), said: "b"},
		"garbage of both":            {a: garbage, b: fails(model.Unreadable), useless: true},
		"garbage, then a limit":      {a: garbage, b: fails(model.Limit), waits: true},
		"out of reach, then garbage": {a: fails(model.Unreachable), b: garbage, waits: true, paused: 1},
	} {
		w := newBench(t, nil, nil)
		panel := NewPlanReviewers(w.Meter, []PlanReviewing{{Entry: entry("a"), Reviewer: planJudge{"a", c.a}}, {Entry: entry("b"), Reviewer: planJudge{"b", c.b}}})
		got, err := panel.ReviewPlan(w.ctx, think.PlanReviewInput{})
		_, useless := errors.AsType[*think.UnusableError](err)
		if got.Reason != c.said || (err == nil) != (c.said != "") || Waits(err) != c.waits || useless != c.useless || len(w.Limits()) != c.paused {
			t.Errorf("%s: %q, %v, %d paused", name, got.Reason, err, len(w.Limits()))
		}
	}
}
