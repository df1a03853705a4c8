package main

import (
	"strings"
	"testing"
	"time"

	"orch/blackboard/message"
	"orch/roles/ggs"
	"orch/roles/run/config"
)

func thinksWith(t *testing.T, backend string) config.Config {
	t.Helper()
	cfg := config.Default()
	if backend != "playbook" {
		cfg.Models[config.DefaultModel] = config.Model{Backend: backend, Name: "m", Options: map[string]string{"preset": "claude"}}
	}
	return cfg
}

// 540 seconds in which an agent works are no reason to give a goal up that was
// not planned anew once. With a playbook they are.
func TestTheTimeBudgetFollowsTheBackend(t *testing.T) {
	for _, c := range []struct {
		backend, profile string
		budget           time.Duration
		abandons         bool
	}{
		{"playbook", "task", 5 * time.Minute, true},
		{"openai", "task", time.Hour, false},
		{"exec", "task", 4 * time.Hour, false},
		{"acp", "task", 4 * time.Hour, false},
		{"openai", "code", 4 * time.Hour, false},
	} {
		cfg, in := thinksWith(t, c.backend), message.UserInput{Profile: c.profile}
		p, err := paramsOf(cfg, in)
		if err != nil || p.TimeBudgetMS != c.budget.Milliseconds() {
			t.Fatalf("%s, %s: %d ms, %v", c.backend, c.profile, p.TimeBudgetMS, err)
		}
		failed := "it did not compile"
		round := ggs.Round{ElapsedMS: 540_000, Request: &message.ReplanRequest{TaskID: "g", ElapsedMS: 540_000, FailedSubtasks: []message.TaskID{"t"},
			Outcomes: []message.SubTaskOutcome{{SubtaskID: "t", ParentTaskID: "g", Slot: "s", Approach: "a", Status: message.Failed, FailureReason: &failed, Attempts: 1}}}}
		d, err := ggs.Decide(message.LikeForLike, p, ggs.History{Goal: "g", Rounds: []ggs.Round{round}}, time.Unix(0, 0), func() string { return "id" })
		if err != nil || (d.Final != nil) != c.abandons {
			t.Errorf("%s, %s: final %+v, %v", c.backend, c.profile, d.Final, err)
		}
		lines := strings.Join(newDisplay(paint{}, cfg).lines(message.Message{Goal: "g", Body: in}), "\n")
		if !strings.Contains(lines, c.budget.String()) || !strings.Contains(lines, "6 replans") {
			t.Errorf("%s, %s: the start does not show its budget: %s", c.backend, c.profile, lines)
		}
	}
}

// What counts as a plateau is shown as the configured controller sees it.
func TestAPlateauIsShownByTheConfiguredEpsilon(t *testing.T) {
	cfg := config.Default()
	cfg.Controller.Epsilon = 0.01
	d := message.Message{Body: message.PlanDirective{PrevDirective: "init", Directive: message.Refine, GradL: -0.05}}
	shown := func(cfg config.Config) string {
		show := newDisplay(paint{}, cfg)
		show.figures = true
		return strings.Join(show.lines(d), "\n")
	}
	if line := shown(cfg); !strings.Contains(line, "↓0.05") {
		t.Errorf("ε 0.01: %s", line)
	}
	if line := shown(config.Default()); !strings.Contains(line, "⊥0.05") {
		t.Errorf("ε 0.1: %s", line)
	}
}
