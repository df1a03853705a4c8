package thinker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"orch/blackboard/message"
	"orch/roles/think"
	"orch/roles/think/prompt"
)

// maxQuestions is how many questions one round may hold.
const maxQuestions = 3

type perceived struct {
	Intent      string `json:"intent"`
	Constraints *struct {
		Scope    *string `json:"scope"`
		Deadline *string `json:"deadline"`
	} `json:"constraints"`
	Tags        []string `json:"tags"`
	Declarative bool     `json:"declarative"`
	Questions   []string `json:"questions"`

	deadline *time.Time
}

func (p *perceived) check() error {
	if strings.TrimSpace(p.Intent) == "" {
		return errors.New("intent is empty")
	}
	if p.Constraints == nil || p.Constraints.Deadline == nil || strings.TrimSpace(*p.Constraints.Deadline) == "" {
		return nil
	}
	at, err := time.Parse(time.RFC3339, strings.TrimSpace(*p.Constraints.Deadline))
	if err != nil {
		return fmt.Errorf("constraints.deadline %q is not RFC 3339 with a time zone; null if the words name no moment", *p.Constraints.Deadline)
	}
	p.deadline = &at
	return nil
}

// Perceive implements think.Perceiver. Who was asked and answered nothing is
// not asked again.
func (t *Thinker) Perceive(ctx context.Context, in think.PerceiveInput) (think.Perception, error) {
	p, err := prompt.ForPerceiver(in)
	if err != nil {
		return think.Perception{}, err
	}
	c := t.talk(p)
	v, err := object(ctx, c, (*perceived).check)
	if err != nil {
		return think.Perception{Usage: c.usage}, err
	}
	seen := think.Perception{Intent: v.Intent, Declarative: v.Declarative, Tags: tags(v.Tags), Usage: c.usage}
	seen.Constraints = message.Constraints{Deadline: v.deadline}
	if v.Constraints != nil && v.Constraints.Scope != nil && strings.TrimSpace(*v.Constraints.Scope) != "" {
		seen.Constraints.Scope = v.Constraints.Scope
	}
	if silent(in.Clarify) {
		return seen, nil
	}
	for _, q := range v.Questions {
		if q = strings.TrimSpace(q); q != "" && len(seen.Questions) < maxQuestions {
			seen.Questions = append(seen.Questions, q)
		}
	}
	return seen, nil
}

// silent tells whether a person was asked and gave no answer at all.
func silent(asked []think.QA) bool {
	for _, qa := range asked {
		if strings.TrimSpace(qa.Answer) != "" {
			return false
		}
	}
	return len(asked) > 0
}

// tags are at most five, in small letters, each once.
func tags(said []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, tag := range said {
		tag = strings.ToLower(strings.Join(strings.Fields(tag), "-"))
		if tag != "" && len(tag) <= 60 && !seen[tag] && len(out) < 5 {
			seen[tag] = true
			out = append(out, tag)
		}
	}
	return out
}
