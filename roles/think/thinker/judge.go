package thinker

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"orch/blackboard/message"
	"orch/roles/think"
	"orch/roles/think/answer"
	"orch/roles/think/model"
	"orch/roles/think/prompt"
)

const (
	verdictPass = "pass"
	minQuote    = 2 // characters; less would be found anywhere
)

type verdict struct {
	Verdict  string               `json:"verdict"`
	Evidence string               `json:"evidence"`
	Quote    string               `json:"quote"`
	Class    message.FailureClass `json:"class"`
	WhatToDo string               `json:"what_to_do"`
}

// Judge implements think.Judge. Where there is nothing to judge by, no model
// is asked. If an answer holds more than one verdict, all of them must be the
// same for it to count; a pass must quote what was shown.
func (t *Thinker) Judge(ctx context.Context, in think.JudgeInput) (think.Judgement, error) {
	shown := in.Output + "\n" + strings.Join(in.ToolCalls, "\n")
	if strings.TrimSpace(shown) == "" {
		return think.Judgement{Class: message.Logical, Evidence: "there is no output and no tool call to judge by",
			WhatToDo: "put what shows it into the output: " + in.Criterion.Criterion}, nil
	}
	p, err := prompt.ForJudge(in)
	if err != nil {
		return think.Judgement{}, err
	}
	c := t.talk(p)
	v, err := t.verdict(ctx, c, shown)
	if err != nil {
		return think.Judgement{Usage: c.usage}, err
	}
	j := think.Judgement{Pass: v.Verdict == verdictPass, Evidence: v.Evidence, Class: v.Class, WhatToDo: v.WhatToDo, Usage: c.usage}
	if j.Pass {
		j.Class, j.WhatToDo = "", ""
	}
	if v.Quote != "" {
		j.Evidence += " — “" + v.Quote + "”"
	}
	return j, nil
}

// verdict asks, and gives one chance to put right what can not be read, or a
// pass whose quote is not there. A pass that stays without one is a fail.
func (t *Thinker) verdict(ctx context.Context, c *talk, shown string) (verdict, error) {
	for chance := 0; ; chance++ {
		r, err := c.ask(ctx)
		if err != nil {
			return verdict{}, err
		}
		v, err := readVerdict(c.p, r)
		if err == nil && (v.Verdict != verdictPass || quoted(v.Quote, shown)) {
			return v, nil
		}
		if chance > 0 || r.Stop == model.StopRefuse {
			if err != nil {
				return verdict{}, c.unusable(r, err)
			}
			return verdict{Verdict: "fail", Class: message.Logical, Evidence: "it was passed without a quote that is in the evidence: " + v.Evidence}, nil
		}
		if err == nil {
			err = errors.New("a pass needs in quote the words that decide it, copied exactly from the data; yours are not there. If nothing there shows it, the verdict is fail")
		}
		c.sendBack(r, err)
	}
}

func readVerdict(p prompt.Prompt, r model.Response) (verdict, error) {
	if r.Stop == model.StopRefuse {
		return verdict{}, errors.New("the model declined to answer")
	}
	all, err := answer.Values(said(r), p.Schema)
	if err != nil {
		return verdict{}, err
	}
	var first verdict
	for i, raw := range all {
		var v verdict
		if err := json.Unmarshal(raw, &v); err != nil {
			return verdict{}, &answer.Error{Kind: answer.WrongShape, Why: err.Error()}
		}
		if i == 0 {
			first = v
		} else if v.Verdict != first.Verdict {
			return verdict{}, errors.New("it holds two verdicts that contradict each other")
		}
	}
	return first, nil
}

// quoted tells whether a quote is in what was shown, however it is spaced.
// Dots may stand for what was left out between pieces that follow each other.
func quoted(quote, shown string) bool {
	rest := spaced(shown)
	pieces := 0
	for _, piece := range strings.Split(strings.ReplaceAll(spaced(quote), "...", "…"), "…") {
		piece = strings.Trim(piece, ` "'“”‘’`+"`")
		if piece == "" {
			continue
		}
		i := strings.Index(rest, piece)
		if i < 0 {
			return false
		}
		rest = rest[i+len(piece):]
		pieces += len([]rune(piece))
	}
	return pieces >= minQuote
}

func spaced(s string) string { return strings.Join(strings.Fields(s), " ") }
