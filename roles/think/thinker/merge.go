package thinker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"orch/blackboard/message"
	"orch/roles/think"
	"orch/roles/think/prompt"
)

// mergeBytes is how much a model is given to merge; more would be cut, and
// what is cut would be lost.
const mergeBytes = 128 << 10

type merged struct {
	Summary string `json:"summary"`
	Output  string `json:"output"`
}

// Merge implements think.Merger. One output is the result as it is, without
// a question. More than a model can be given is an error: the outputs then
// stand side by side.
func (t *Thinker) Merge(ctx context.Context, in think.MergeInput) (think.Merged, error) {
	var full []message.SubTaskOutcome
	total := 0
	for _, o := range in.Outcomes {
		if strings.TrimSpace(o.Output) != "" {
			full = append(full, o)
			total += len(o.Output)
		}
	}
	summary := fmt.Sprintf("%d of %d tasks matched", len(in.Outcomes), len(in.Outcomes))
	switch {
	case len(full) == 0:
		return think.Merged{Summary: summary}, nil
	case len(full) == 1:
		return think.Merged{Summary: summary, Output: full[0].Output}, nil
	case total > mergeBytes:
		return think.Merged{}, fmt.Errorf("the outputs have %d bytes, at most %d are merged by a model", total, mergeBytes)
	}
	in.Outcomes = full
	p, err := prompt.ForMerger(in)
	if err != nil {
		return think.Merged{}, err
	}
	c := t.talk(p)
	v, err := object(ctx, c, func(v *merged) error {
		if strings.TrimSpace(v.Output) == "" {
			return errors.New("output is empty")
		}
		return nil
	})
	return think.Merged{Summary: v.Summary, Output: v.Output, Usage: c.usage}, err
}

// Rule is what experiences come to.
type Rule struct {
	Lesson   string `json:"lesson"`
	Category string `json:"category"` // fact, procedure or constraint
}

// Distil turns experiences into one rule, for the memory.
func (t *Thinker) Distil(ctx context.Context, in prompt.Experiences) (Rule, message.Usage, error) {
	p, err := prompt.ForDistiller(in)
	if err != nil {
		return Rule{}, message.Usage{}, err
	}
	c := t.talk(p)
	v, err := object(ctx, c, func(v *Rule) error {
		if strings.TrimSpace(v.Lesson) == "" {
			return errors.New("lesson is empty")
		}
		return nil
	})
	return v, c.usage, err
}

// NextMoves says in two or three moves what a person could do after a goal was
// given up.
func (t *Thinker) NextMoves(ctx context.Context, in prompt.GivenUp) ([]string, message.Usage, error) {
	p, err := prompt.ForNextMoves(in)
	if err != nil {
		return nil, message.Usage{}, err
	}
	c := t.talk(p)
	type moves struct {
		NextMoves []string `json:"next_moves"`
	}
	v, err := object(ctx, c, func(v *moves) error {
		v.NextMoves = slices.DeleteFunc(v.NextMoves, func(s string) bool { return strings.TrimSpace(s) == "" })
		if len(v.NextMoves) == 0 {
			return errors.New("next_moves is empty")
		}
		return nil
	})
	return v.NextMoves[:min(len(v.NextMoves), 3)], c.usage, err
}
