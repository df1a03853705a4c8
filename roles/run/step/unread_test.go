package step_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orch/blackboard/message"
	"orch/roles/internal/steptest"
	"orch/roles/perceiver"
	"orch/roles/planner"
	"orch/roles/run/step"
	"orch/roles/think"
)

const gibberish = "I would rather not say."

func unusable(role string) error {
	return fmt.Errorf("ask: %w", &think.UnusableError{Role: role, Model: "m", Why: "it has no JSON in it", Raw: gibberish})
}

// kept reads the answer a text names.
func kept(t *testing.T, w *steptest.World, goal message.GoalID, text string) string {
	t.Helper()
	_, hash, ok := strings.Cut(text, "blobs/")
	if !ok {
		t.Fatalf("%q names no answer", text)
	}
	raw, err := os.ReadFile(w.As("supervisor-1").BlobPath(goal, hash[:64]))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestWordsNobodyCouldReadAreTakenAsTheyAre(t *testing.T) {
	w := steptest.New(t)
	w.See.Say = func(think.PerceiveInput) (think.Perception, error) {
		return think.Perception{}, unusable("perceiver")
	}
	id := w.Start("make   the tests pass")
	if err := w.Next(message.Perceiver, perceiver.Run); err != nil {
		t.Fatal(err)
	}
	if spec := w.Goal(id).Spec; spec == nil || spec.Intent != "make the tests pass" || spec.RawInput != "make   the tests pass" {
		t.Errorf("%+v", spec)
	}
	blobs, err := filepath.Glob(w.As("supervisor-1").BlobPath(id, "*"))
	if err != nil || len(blobs) != 1 {
		t.Errorf("%v, %v", blobs, err)
	}
}

func TestAPlanNobodyCouldReadCountsAsRefused(t *testing.T) {
	w := steptest.New(t)
	w.Plan.Propose = func(think.PlanInput) (think.Proposal, error) { return think.Proposal{}, unusable("planner") }
	id := w.Start("make the tests pass")
	play(t, w, id)
	g := w.Goal(id)
	if len(g.PlanRejected) == 0 {
		t.Fatalf("%+v", g)
	}
	for _, r := range g.PlanRejected {
		if v := r.Violations[0]; v.Rule != planner.RuleUnusable || kept(t, w, id, v.Because) != gibberish {
			t.Errorf("%+v", v)
		}
	}
}

func TestAnAttemptNobodyCouldReadFailsAsEnvironmental(t *testing.T) {
	w := steptest.New(t)
	w.Plan.Propose = oneTask
	w.Work.Act = func(context.Context, think.ExecuteInput, think.Tools) (think.Execution, error) {
		return think.Execution{}, unusable("executor")
	}
	id := w.Start("make the tests pass")
	play(t, w, id)
	results := w.Messages("ExecutionResult")
	if len(results) == 0 {
		t.Fatal("there is no result")
	}
	r := results[0].Body.(message.ExecutionResult)
	if r.Status != message.Failed || r.Class != message.Environmental || kept(t, w, id, r.Reason) != gibberish {
		t.Errorf("%+v", r)
	}
}

func TestUnreadLeavesOtherFailuresAlone(t *testing.T) {
	other := errors.New("other")
	if got := (&step.Env{}).Unread(other); got != other {
		t.Errorf("%v", got)
	}
	empty := error(&think.UnusableError{Why: "empty"})
	if got := (&step.Env{}).Unread(empty); got != empty {
		t.Errorf("%v", got)
	}
}
