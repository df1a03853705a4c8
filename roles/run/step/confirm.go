package step

import (
	"context"
	"slices"

	"orch/blackboard/message"
	"orch/roles/think"
)

// Weighing is the judgement of a task's or a goal's criteria.
type Weighing struct {
	Criteria []message.Criterion
	Verdicts []message.Verdict // one for each criterion, so far
	Advice   map[string]string // what would satisfy a failed one, by criterion id
	Evidence *Evidence
	Ask      think.JudgeInput // what every question has
	// Unproven is set if checks that nobody has seen fail prove nothing; WasRed
	// tells which were.
	Unproven bool
	WasRed   func(message.Criterion) bool
}

// Weigh judges each criterion that has no check.
func (w *Weighing) Weigh(ctx context.Context, e *Env) error {
	for i, c := range w.Criteria {
		if c.HasCheck() {
			continue
		}
		v, advice, err := e.Weigh(ctx, c, w.Evidence, w.Ask)
		if err != nil {
			return err
		}
		w.Verdicts[i], w.Advice[c.ID] = v, advice
	}
	return nil
}

// Confirm takes nothing for granted once every criterion has passed. What rests
// on a judge is judged again. And where no criterion is proven, by a judge or
// by a check that was seen red and is green now, all of them are judged: the
// checks held before anything was done.
func (w *Weighing) Confirm(ctx context.Context, e *Env) error {
	if !w.passed() {
		return nil
	}
	for i, c := range w.Criteria {
		if w.Verdicts[i].By == message.ByModel {
			if err := w.again(ctx, e, i, c); err != nil {
				return err
			}
		}
	}
	if !w.Unproven || !w.passed() || w.proven() {
		return nil
	}
	for i, c := range w.Criteria {
		if err := w.vouch(ctx, e, i, c); err != nil {
			return err
		}
	}
	return nil
}

// vouch has a judge look at a criterion whose check passes and proves nothing.
// The verdict stays that of the check, with what the judge saw, if both of the
// judge's looks pass.
func (w *Weighing) vouch(ctx context.Context, e *Env, i int, c message.Criterion) error {
	checked := w.Verdicts[i]
	v, advice, err := e.Weigh(ctx, c, w.Evidence, w.Ask)
	if err != nil {
		return err
	}
	if w.Verdicts[i], w.Advice[c.ID] = v, advice; !v.Passed() {
		w.Verdicts[i].Evidence = Cut("its check was never seen to fail and proves nothing, and a judge says: "+v.Evidence, EvidenceBytes)
		return nil
	}
	if err := w.again(ctx, e, i, c); err != nil || !w.Verdicts[i].Passed() {
		return err
	}
	seen := w.Verdicts[i].Evidence
	w.Verdicts[i] = checked
	w.Verdicts[i].Evidence = Cut(checked.Evidence+"; its check was never seen to fail, and a judge says: "+seen, EvidenceBytes)
	return nil
}

func (w *Weighing) again(ctx context.Context, e *Env, i int, c message.Criterion) error {
	v, advice, err := e.Again(ctx, c, w.Verdicts[i], w.Evidence, w.Ask)
	if err != nil {
		return err
	}
	w.Verdicts[i] = v
	if advice != "" {
		w.Advice[c.ID] = advice
	}
	return nil
}

func (w *Weighing) passed() bool {
	return !slices.ContainsFunc(w.Verdicts, func(v message.Verdict) bool { return !v.Passed() })
}

func (w *Weighing) proven() bool {
	for i, c := range w.Criteria {
		if w.Verdicts[i].By == message.ByModel || w.WasRed(c) {
			return true
		}
	}
	return len(w.Criteria) == 0
}
