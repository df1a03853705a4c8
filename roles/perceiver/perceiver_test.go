package perceiver

import (
	"context"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/internal/steptest"
	"orch/roles/run/step"
	"orch/roles/think"
)

func TestInvariant_RawInputIsTheWordsByteForByte(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(1, 40, -1).Draw(t, "text")
		g := blackboard.Goal{ID: "g", Input: message.UserInput{Text: text}}
		spec := Spec(g, think.Perception{Intent: rapid.StringN(0, 20, -1).Draw(t, "intent")})
		if spec.RawInput != text || spec.Intent == "" || spec.TaskID != "g" {
			t.Fatalf("spec %+v of %q", spec, text)
		}
	})
	w := steptest.New(t)
	words := "  make\tthe <b>tests</b> pass — bitte!  \n"
	w.Start(words)
	if err := w.Next(message.Perceiver, Run); err != nil {
		t.Fatal(err)
	}
	spec := w.Goal("g").Spec
	if spec == nil || spec.RawInput != words || spec.Intent != "make the <b>tests</b> pass — bitte!" {
		t.Errorf("spec %+v", spec)
	}
}

func TestInvariant_TaskSpecCarriesNoCriteria(t *testing.T) {
	raw, err := message.Encode(message.TaskSpec{TaskID: "g", Intent: "i", RawInput: "i"})
	if err != nil {
		t.Fatal(err)
	}
	with := append(raw[:len(raw)-1:len(raw)-1], `,"success_criteria":["x"]}`...)
	if _, err := message.Decode("TaskSpec", with); err == nil {
		t.Error("a spec with criteria was taken")
	}
}

func TestInvariant_AtMostTwoRoundsOfQuestionsBatched(t *testing.T) {
	w := steptest.New(t)
	w.See.Say = func(think.PerceiveInput) (think.Perception, error) {
		return think.Perception{Questions: []string{"which?", " ", "when?"}}, nil
	}
	w.Start("it")
	for round := 1; round <= MaxRounds; round++ {
		if err := w.Next(message.Perceiver, Run); err != nil {
			t.Fatal(err)
		}
		g := w.Goal("g")
		if g.Status != blackboard.GoalSuspended || g.Clarify.Round != round || len(g.Clarify.Questions) != 2 || len(w.Due()) != 0 {
			t.Fatalf("round %d: %+v", round, g.Clarify)
		}
		w.Say("human-1", "g", g.Clarify.Asked.ID, message.ClarificationAnswer{Round: round, Answers: []string{"this"}})
	}
	if err := w.Next(message.Perceiver, Run); err != nil {
		t.Fatal(err)
	}
	if spec := w.Goal("g").Spec; spec == nil || spec.Intent != "it" {
		t.Errorf("after two rounds it goes on with %+v", spec)
	}
	asked := w.See.Asked[2].Clarify
	if len(asked) != 4 || asked[0] != (think.QA{Question: "which?", Answer: "this"}) || asked[1].Answer != "" {
		t.Errorf("it was told %+v", asked)
	}
}

func TestNoAnswerMeansProceed(t *testing.T) {
	w := steptest.New(t)
	w.See.Say = func(in think.PerceiveInput) (think.Perception, error) {
		if len(in.Clarify) == 0 {
			return think.Perception{Questions: []string{"which?"}}, nil
		}
		return think.Perception{Intent: "the usual"}, nil
	}
	w.Start("it")
	if err := w.Next(message.Perceiver, Run); err != nil {
		t.Fatal(err)
	}
	w.Tidy(steptest.Nobody) // no terminal: the supervisor answers nothing
	if err := w.Next(message.Perceiver, Run); err != nil {
		t.Fatal(err)
	}
	if spec := w.Goal("g").Spec; spec == nil || spec.Intent != "the usual" {
		t.Errorf("spec %+v", spec)
	}
}

func TestFaultsOfABackendSayNothing(t *testing.T) {
	w := steptest.New(t)
	w.See.Say = func(think.PerceiveInput) (think.Perception, error) {
		return think.Perception{}, errors.New("unreachable")
	}
	w.Start("it")
	if err := w.Next(message.Perceiver, Run); err == nil || step.ExitCode(err) != step.ExitCrash {
		t.Errorf("got %v", err)
	}
	e := w.Env(w.Due()[0], "perceiver-1", 0)
	e.Perceiver = nil
	var none *step.NoBackendError
	if err := Run(context.Background(), e); !errors.As(err, &none) || none.Hint() == "" {
		t.Errorf("without a backend: %v", err)
	}
	if n := len(w.Messages("TaskSpec", "ClarificationQuestion")); n != 0 {
		t.Errorf("%d messages", n)
	}
}
