package main

import (
	"strings"
	"testing"

	"orch/blackboard/message"
	"orch/roles/run/config"
)

// A coding run that nobody could work on is refused before anything is written.
func TestWhoACodingRunNeeds(t *testing.T) {
	const script = "{backend: exec, options: {command: 'true', format: json}}"
	const model = "{backend: openai, name: m, options: {base_url: 'http://127.0.0.1:1/v1'}}"
	for _, c := range []struct{ yaml, refused string }{
		{"models: {default: " + script + "}", ""},
		{"models: {default: " + model + ", coder: " + script + "}", ""},
		{"models: {planner: " + model + ", coder: " + script + ", code-reviewer: " + model + "}", ""},
		{"{}", "nobody is there to be the planner"},
		{"models: {coder: " + script + ", code-reviewer: " + script + "}", "nobody is there to be the planner"},
		{"models: {planner: " + script + ", code-reviewer: " + script + "}", "nobody is there to be the coder"},
		{"models: {planner: " + script + ", coder: " + script + "}", "nobody is there to be the code-reviewer"},
		{"models: {default: " + model + "}", "a coder needs an agent program"},
		{"models: {default: " + script + "}\ncode: {plan_review: model}", "as the planner it checks"},
		{"models: {default: " + script + ", plan-reviewer: " + model + "}\ncode: {plan_review: model}", ""},
		{"models: {default: " + script + "}\ncode: {reviewer_other_model: true}", "as the coder does"},
		{"models: {default: " + script + ", code-reviewer: " + model + "}\ncode: {reviewer_other_model: true}", ""},
	} {
		cfg, err := config.Parse("config.yaml", []byte(c.yaml))
		if err != nil {
			t.Fatal(err)
		}
		err = codeIsPossible(cfg, message.UserInput{Profile: codeProfile})
		if (err != nil) != (c.refused != "") || err != nil && !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%s: %v, want %q", c.yaml, err, c.refused)
		}
	}
}
