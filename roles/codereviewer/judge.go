package codereviewer

import (
	"context"
	"errors"
	"fmt"

	"orch/blackboard/message"
	"orch/roles/act/workspace"
	"orch/roles/loop/code"
	"orch/roles/think"
	"orch/roles/think/model"
)

// judge asks the reviewers of a panel in turn until one gives a verdict that
// binds. If none does, the error is a *think.NotJudgedError.
func (r *review) judge(ctx context.Context, panel think.Panel) (message.ReviewVerdict, error) {
	shut := r.w.Requests.Open(r.hear)
	defer shut()
	var v message.ReviewVerdict
	thought, err := panel.InTurn(ctx, func(ctx context.Context, who think.Reviewer) (think.Review, error) {
		return r.askTwice(ctx, who, &v)
	})
	if err != nil {
		if _, useless := errors.AsType[*think.UnusableError](err); useless {
			return v, &think.NotJudgedError{What: fmt.Sprintf("commit %.12s", r.commit), Why: err}
		}
		return v, err
	}
	return v, r.note(ctx, thought.Anomalies)
}

// askTwice asks one reviewer for a verdict that binds, which goes into v. One
// that does not bind is given back once with the reason.
func (r *review) askTwice(ctx context.Context, who think.Reviewer, v *message.ReviewVerdict) (think.Review, error) {
	in := r.in
	first, why, err := r.askOnce(ctx, who, in, v)
	if why == "" || err != nil {
		return first, err
	}
	r.e.Log("the verdict of %s on %.12s is given back: %s", r.e.Agent, r.commit, why)
	in.Refused = why
	second, why, err := r.askOnce(ctx, who, in, v)
	second.Usage, second.Cost = sum(first.Usage, second.Usage), addCost(first.Cost, second.Cost)
	if why != "" && err == nil {
		err = &think.UnusableError{Role: string(message.CodeReviewer), Why: why}
	}
	return second, err
}

// askOnce asks one reviewer once. why says what keeps its answer from being a
// verdict that binds; empty when it binds.
func (r *review) askOnce(ctx context.Context, who think.Reviewer, in think.ReviewInput, v *message.ReviewVerdict) (thought think.Review, why string, err error) {
	// Drawn for each question, when all that is shown has been read.
	if in.Word, err = think.NewWord(r.e.Random); err != nil {
		return thought, "", err
	}
	thought, err = r.ask(ctx, who, in)
	if why, hopeless := useless(err); why != "" {
		if hopeless {
			return thought, "", &think.UnusableError{Role: string(message.CodeReviewer), Why: why}
		}
		return thought, why, nil
	}
	if err != nil {
		return thought, "", err
	}
	if err := r.hearPerson(ctx); err != nil {
		return thought, "", err
	}
	if why := r.unacceptable(thought.Accepted); why != "" {
		return thought, why, nil
	}
	*v = r.verdictOf(thought)
	if err := code.Unbound(r.complete(*v), r.task.SubTask, r.task.Review.Pending); err != nil {
		return thought, err.Error(), nil
	}
	return thought, "", nil
}

// useless says why a reviewer's answer is none, where that is its own failure
// and not the world's; hopeless, that it would answer the same again.
func useless(err error) (why string, hopeless bool) {
	if changed, ok := errors.AsType[*ChangedError](err); ok {
		return changed.Error(), false
	}
	if answer, ok := errors.AsType[*think.UnusableError](err); ok {
		return answer.Why, false
	}
	if failed, ok := errors.AsType[*model.Error](err); ok {
		switch failed.Kind {
		case model.Malformed, model.Unreadable:
			return failed.Detail + " (" + string(failed.Kind) + ")", false
		case model.Refused, model.TooLarge:
			return failed.Detail + " (" + string(failed.Kind) + ")", true
		}
	}
	return "", false
}

// ask lets a reviewer look at a checkout nobody may change. If it did all the
// same, what it says counts for nothing.
func (r *review) ask(ctx context.Context, who think.Reviewer, in think.ReviewInput) (think.Review, error) {
	if err := r.w.Repo.Make(ctx, r.readDir(), workspace.Spec{Commit: r.commit, ReadOnly: true}, nil); err != nil {
		return think.Review{}, err
	}
	in.Dir = r.readDir()
	thought, err := who.Review(ctx, in)
	r.e.Spend(thought.Usage)
	if ctx.Err() != nil {
		return thought, errors.Join(err, context.Cause(ctx))
	}
	changed, lerr := r.w.Repo.Differs(ctx, r.readDir(), r.commit) // true with an error: it is no repository any more
	if lerr != nil && !changed {
		return thought, errors.Join(err, fmt.Errorf("look at what the reviewer left: %w", lerr))
	}
	if rerr := workspace.Remove(r.readDir()); rerr != nil {
		return thought, errors.Join(err, rerr)
	}
	if changed && err == nil {
		err = &ChangedError{r.e.Agent, r.commit}
	}
	return thought, err
}

// ChangedError says that a reviewer changed what it was to judge.
type ChangedError struct {
	Agent  message.AgentID
	Commit workspace.Commit
}

func (e *ChangedError) Error() string {
	return fmt.Sprintf("%s changed the checkout of %.12s it was to judge; its verdict does not count", e.Agent, e.Commit)
}

func sum(a, b message.Usage) message.Usage {
	b.InputTokens += a.InputTokens
	b.OutputTokens += a.OutputTokens
	b.CachedTokens += a.CachedTokens
	b.ModelCalls += a.ModelCalls
	if b.Model == "" {
		b.Model = a.Model
	}
	return b
}

// addCost adds what is known; of two costs of which one is unknown the sum is.
func addCost(a, b *float64) *float64 {
	if a == nil || b == nil {
		return nil
	}
	total := *a + *b
	return &total
}
