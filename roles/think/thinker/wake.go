package thinker

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"orch/roles/think"
	"orch/roles/think/prompt"
)

var _ think.Waker = (*Thinker)(nil)

type wakeAnswer struct {
	Answer    string        `json:"answer"`
	Reason    string        `json:"reason"`
	Alignment string        `json:"alignment"`
	Tasks     []plannedTask `json:"tasks"`
	SpecGaps  []string      `json:"spec_gaps"`
}

// Answer implements think.Waker. An answer that is not among those that are
// taken is sent back at once, once.
func (t *Thinker) Answer(ctx context.Context, in think.WakeInput) (think.WakeAnswer, error) {
	p, err := prompt.ForWake(in)
	if err != nil {
		return think.WakeAnswer{}, err
	}
	c := t.talk(p)
	v, err := object(ctx, c, func(v *wakeAnswer) error {
		if !slices.Contains(in.May, v.Answer) {
			return fmt.Errorf("answer is %q, taken is %s", v.Answer, strings.Join(in.May, " or "))
		}
		return nil
	})
	if err != nil {
		return think.WakeAnswer{Usage: c.usage}, err
	}
	out := think.WakeAnswer{Answer: v.Answer, Reason: v.Reason, Alignment: v.Alignment, SpecGaps: v.SpecGaps, Usage: c.usage}
	for _, task := range v.Tasks {
		out.Tasks = append(out.Tasks, task.proposed())
	}
	return out, nil
}
