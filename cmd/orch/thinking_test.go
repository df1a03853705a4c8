package main

import (
	"strings"
	"testing"

	"orch/blackboard/message"
	"orch/roles/run/config"
)

// A step keeps the key of everybody it asks, and no other.
func TestAStepKeepsTheKeysOfAllItAsks(t *testing.T) {
	const models = "models: {default: {backend: openai, name: a}, crosscheck: {backend: anthropic, name: b}, plan-reviewer: {backend: anthropic, name: c}}\n"
	for _, c := range []struct {
		yaml string
		role message.Role
		want string
	}{
		{models, message.Planner, "OPENAI_API_KEY"},
		{models + "code: {plan_review: model}\n", message.Planner, "OPENAI_API_KEY ANTHROPIC_API_KEY"},
		{models, message.CodeReviewer, "OPENAI_API_KEY"},
		{models + "code: {crosscheck: true}\n", message.CodeReviewer, "OPENAI_API_KEY ANTHROPIC_API_KEY"},
		{models + "code: {crosscheck: true, plan_review: model}\n", message.Coder, "OPENAI_API_KEY"},
	} {
		cfg, err := config.Parse("config.yaml", []byte(c.yaml))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(keepsOf(asks(cfg, message.UserInput{Profile: "code"}, c.role)), " "); got != c.want {
			t.Errorf("%s of %q keeps %q, want %q", c.role, c.yaml, got, c.want)
		}
	}
}
