package choose

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"orch/roles/think"
	"orch/roles/think/model"
)

// Judging is one entry of a chain of judges. What it takes is counted by its
// client.
type Judging struct {
	Entry
	Judge think.Judge
}

// Judge lets the entries of a chain judge, one after the other, until one gives
// a verdict that can be used. A second judgement is made by another entry than
// the first, where there is one.
type Judge struct {
	meter *Meter
	links []Judging

	mu    sync.Mutex
	first map[string]int // who judged a criterion first
}

// NewJudge makes the chain's judge; links is not empty.
func NewJudge(m *Meter, links []Judging) *Judge {
	return &Judge{meter: m, links: links, first: map[string]int{}}
}

// Judge decides one criterion. An answer that can not be used is a reason to
// ask somebody else, as a failure is that another would not have. Where nobody
// is left, nothing is judged: the error is a *think.UnusableError, or what kept
// the last one from answering.
func (j *Judge) Judge(ctx context.Context, in think.JudgeInput) (think.Judgement, error) {
	var none think.Judgement
	var failed []error
	var unusable *think.UnusableError
	order := j.order(in)
	for n, i := range order {
		if err := j.meter.Stopped(); err != nil {
			return none, err
		}
		l := j.links[i]
		if !j.meter.free(l.Account()) {
			failed = append(failed, j.meter.notAsked(l.Entry, l.Title()))
			continue
		}
		got, err := l.Judge.Judge(ctx, in)
		if err == nil {
			j.remember(in, i)
			return got, nil
		}
		if u := useless(err); u != nil && ctx.Err() == nil {
			unusable = u
			j.meter.Log("%s: %s", l.Name, u)
			continue
		}
		if ctx.Err() != nil || !j.meter.after(err, l.Entry) {
			return got, j.meter.givenUp(err)
		}
		failed = append(failed, err)
		if n+1 < len(order) && j.meter.free(l.Account()) {
			j.meter.pause(l.Account(), time.Time{}, "it failed, and a fallback took over")
		}
	}
	if len(failed) == 0 {
		return none, unusable
	}
	return none, j.meter.exhausted(failed)
}

// order is in which order the entries are asked: a second judgement begins
// behind whoever made the first.
func (j *Judge) order(in think.JudgeInput) []int {
	j.mu.Lock()
	defer j.mu.Unlock()
	all := make([]int, len(j.links))
	for i := range all {
		all[i] = i
	}
	at, known := j.first[in.Criterion.ID]
	if !in.Second || !known {
		return all
	}
	return slices.Concat(all[at+1:], all[:at+1])
}

func (j *Judge) remember(in think.JudgeInput, i int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !in.Second {
		j.first[in.Criterion.ID] = i
	}
}

// useless is an answer that can not be used, however that was found out; nil
// for other failures.
func useless(err error) *think.UnusableError {
	if u, ok := errors.AsType[*think.UnusableError](err); ok {
		return u
	}
	failed, ok := errors.AsType[*model.Error](err)
	if !ok {
		return nil
	}
	switch failed.Kind {
	case model.Malformed, model.Unreadable, model.TooLarge, model.Refused:
		return &think.UnusableError{Role: "judge", Model: failed.Model, Why: failed.Error()}
	}
	return nil
}
