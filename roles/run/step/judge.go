package step

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"orch/blackboard/message"
	"orch/roles/think"
)

// Weigh asks a judge about one criterion. An error is a *think.NotJudgedError
// if nobody gave a verdict that can be used: then nothing was said for or
// against the criterion, and the step ends.
func (e *Env) Weigh(ctx context.Context, c message.Criterion, v *Evidence, in think.JudgeInput) (verdict message.Verdict, advice string, err error) {
	if e.Judge == nil {
		return verdict, "", e.notJudged(c, errors.New("it has no check that proves it, and no judge is configured"))
	}
	in.Criterion, in.Records, in.Observed, in.Values = c, v.Records, v.Observed, e.Values
	// Drawn now, when everything that is shown has been read: nothing in it can hold the word.
	if in.Word, err = think.NewWord(e.Random); err != nil {
		return verdict, "", err
	}
	said, err := e.Judge.Judge(ctx, in)
	e.Spend(said.Usage)
	if _, unusable := errors.AsType[*think.UnusableError](err); unusable {
		return verdict, "", e.notJudged(c, err)
	}
	if err != nil {
		return verdict, "", fmt.Errorf("judge %q: %w", c.Criterion, err)
	}
	return judged(c, said, v), said.WhatToDo, nil
}

func (e *Env) notJudged(c message.Criterion, why error) error {
	return &think.NotJudgedError{What: fmt.Sprintf("%q", c.Criterion), Why: e.Unread(why)}
}

// judged is the verdict a judge gave on one criterion. Anything but a clear
// pass, with words that are in a record, is a fail.
func judged(c message.Criterion, said think.Judgement, v *Evidence) message.Verdict {
	out := Unjudged(c)
	out.By, out.Evidence = message.ByModel, Cut(said.Evidence, EvidenceBytes)
	record, cited := said.Cites(v.Records)
	switch {
	case !said.Pass:
		if said.Class == message.Environmental && v.World { // a judge only tells which of the failures on record decides
			out.FailureClass = message.Environmental
		}
	case strings.TrimSpace(said.Evidence) == "":
		out.Evidence = "the judge passed it without naming any evidence"
	case !cited:
		out.Evidence = Cut("the judge passed it without a quote from what is on record: "+said.Evidence, EvidenceBytes)
	case !v.Effect:
		out.Evidence = Cut("the judge passed it, but nothing was done: no file has changed and no call had an effect: "+said.Evidence, EvidenceBytes)
	default:
		out.Verdict, out.FailureClass = message.Pass, ""
		out.Evidence = Cut(fmt.Sprintf("%s — %s, %s: “%s”", said.Evidence, record.Name, oneLine(record.What), said.Quote), EvidenceBytes)
	}
	return out
}

func oneLine(s string) string { return firstChars(strings.Join(strings.Fields(s), " "), tailChars) }

// Again judges a criterion that a judge passed a second time, independently. A
// disagreement is a fail, since accepting what is wrong is worse than one more
// round.
func (e *Env) Again(ctx context.Context, c message.Criterion, first message.Verdict, v *Evidence, in think.JudgeInput) (message.Verdict, string, error) {
	in.Second = true
	second, advice, err := e.Weigh(ctx, c, v, in)
	if err != nil {
		return first, "", err
	}
	if second.Passed() {
		first.Second = true
		return first, "", nil
	}
	second.Second = true
	second.Evidence = Cut(fmt.Sprintf("a second, independent judgement disagrees: %s (the first: %s)",
		cmp.Or(second.Evidence, "it gave no reason"), Cut(first.Evidence, EvidenceBytes/3)), EvidenceBytes)
	return second, advice, nil
}
