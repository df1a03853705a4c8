package thinker

import (
	"context"
	"errors"

	"orch/blackboard/message"
	"orch/roles/think"
	"orch/roles/think/model"
	"orch/roles/think/prompt"
)

const verdictPass = "pass"

type verdict struct {
	Verdict  string               `json:"verdict"`
	Evidence string               `json:"evidence"`
	Record   string               `json:"record"`
	Quote    string               `json:"quote"`
	Class    message.FailureClass `json:"class"`
	WhatToDo string               `json:"what_to_do"`
}

// Judge implements think.Judge. Where orch recorded nothing, no model is
// asked: nothing could be quoted. Only a verdict that repeats the word of the
// question counts, and a pass must quote a record.
func (t *Thinker) Judge(ctx context.Context, in think.JudgeInput) (think.Judgement, error) {
	if len(in.Records) == 0 {
		return think.Judgement{Class: message.Logical, Evidence: "nothing that was done is on record, so nothing shows it",
			WhatToDo: "do what shows it with tools, or put it into a file: " + in.Criterion.Criterion}, nil
	}
	p, err := prompt.ForJudge(in)
	if err != nil {
		return think.Judgement{}, err
	}
	c := t.judging(p, in.Word, "verdict")
	j, err := t.verdict(ctx, c, in)
	j.Usage = c.usage
	return j, err
}

// verdict asks, and gives one chance to put right what can not be used, or a
// pass without a quote that is in its record. A pass that stays without one is
// no evidence, which the caller makes a fail of.
func (t *Thinker) verdict(ctx context.Context, c *talk, in think.JudgeInput) (think.Judgement, error) {
	for chance := 0; ; chance++ {
		r, err := c.ask(ctx)
		if none := noAnswer(err); none != nil {
			err = errors.New(none.Detail)
		} else if err != nil {
			return think.Judgement{}, err
		}
		var v verdict
		if err == nil {
			v, err = read[verdict](c, r, nil)
		}
		j := v.judgement()
		_, cited := j.Cites(in.Records)
		switch {
		case err == nil && (!j.Pass || cited):
			return j, nil
		case chance > 0 || r.Stop == model.StopRefuse:
			if err != nil {
				return think.Judgement{}, c.unusable(r, err)
			}
			return j, nil
		case err == nil:
			err = errors.New("a pass needs the name of a record and, in quote, the words of that record that decide it, copied exactly: at least twelve letters or digits, or a whole line; yours are not there. If no record shows it, the verdict is fail")
		}
		c.sendBack(r, err)
	}
}

func (v verdict) judgement() think.Judgement {
	j := think.Judgement{Pass: v.Verdict == verdictPass, Evidence: v.Evidence, Record: v.Record, Quote: v.Quote, Class: v.Class, WhatToDo: v.WhatToDo}
	if j.Pass {
		j.Class, j.WhatToDo = "", ""
	}
	return j
}
