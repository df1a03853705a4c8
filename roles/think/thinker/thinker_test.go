package thinker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"orch/blackboard/message"
	"orch/roles/act/tool"
	"orch/roles/think"
	"orch/roles/think/model"
	"orch/roles/think/prompt"
	"orch/roles/think/thinker/internal/modeltest"
)

func thinker(t *testing.T, answers ...modeltest.Answer) (*Thinker, *modeltest.Script) {
	t.Helper()
	s := &modeltest.Script{Answers: answers}
	th, err := New(s, Options{Survey: func(string) string { return "README.md\n" }})
	if err != nil {
		t.Fatal(err)
	}
	return th, s
}

func said1(text string) modeltest.Answer { return modeltest.Text(text) }

func perceive(text string, asked ...think.QA) think.PerceiveInput {
	return think.PerceiveInput{Goal: "g", Input: message.UserInput{Text: text}, Clarify: asked}
}

func TestPerceive(t *testing.T) {
	th, s := thinker(t, said1(`<think>hm</think>{"intent":"Fix it by Friday","constraints":{"scope":"src/","deadline":"2026-03-06T17:00:00+01:00"},
		"tags":["Fix","fix","two words"],"declarative":false,"questions":[],"task_id":"mine","raw_input":"other words"}`))
	got, err := th.Perceive(context.Background(), perceive("fix it by friday"))
	if err != nil {
		t.Fatal(err)
	}
	if got.Intent != "Fix it by Friday" || *got.Constraints.Scope != "src/" || got.Constraints.Deadline.UTC().Hour() != 16 ||
		!reflect.DeepEqual(got.Tags, []string{"fix", "two-words"}) || got.Usage.ModelCalls != 1 || got.Usage.Model != "script:test" {
		t.Errorf("%+v", got)
	}
	asked := s.Asked()[0]
	if asked.Role != "perceiver" || asked.Schema == nil || !strings.Contains(asked.Turns[0].Text, "fix it by friday") || !json.Valid(asked.Input) {
		t.Errorf("asked %+v", asked)
	}
}

func TestPerceiveAsks(t *testing.T) {
	questions := `{"intent":"?","questions":["Which?"," ","A?","B?","C?"]}`
	th, _ := thinker(t, said1(questions), said1(questions), said1(questions))
	ctx := context.Background()
	got, err := th.Perceive(ctx, perceive("it"))
	if err != nil || len(got.Questions) != maxQuestions || got.Questions[1] != "A?" {
		t.Errorf("%+v, %v", got, err)
	}
	got, err = th.Perceive(ctx, perceive("it", think.QA{Question: "Which?", Answer: "that"}))
	if err != nil || len(got.Questions) == 0 {
		t.Errorf("%+v, %v", got, err)
	}
	// An empty answer means: proceed.
	got, err = th.Perceive(ctx, perceive("it", think.QA{Question: "Which?"}))
	if err != nil || len(got.Questions) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestOneChanceToPutAnAnswerRight(t *testing.T) {
	th, s := thinker(t, said1(`{"intent":"x","constraints":{"deadline":"tomorrow"}}`), said1(`{"intent":"x","constraints":{"deadline":null}}`))
	got, err := th.Perceive(context.Background(), perceive("x"))
	if err != nil || got.Usage.ModelCalls != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	turns := s.Asked()[1].Turns
	if len(turns) != 3 || turns[1].By != model.Assistant || !strings.Contains(turns[2].Text, `"tomorrow" is not RFC 3339`) {
		t.Errorf("turns %+v", turns)
	}
}

func TestUnusable(t *testing.T) {
	for name, answers := range map[string][]modeltest.Answer{
		"prose twice":           {said1("I think so."), said1("Still prose.")},
		"nothing twice":         {said1(""), said1("  ")},
		"cut off twice":         {{Text: `{"intent":"x`, Stop: model.StopLength}, {Text: `{"intent":"y`, Stop: model.StopLength}},
		"wrong shape twice":     {said1(`{"goal":"x"}`), said1(`{"intent":7}`)},
		"declined at once":      {{Text: `{"intent":"x"}`, Stop: model.StopRefuse}},
		"reasoning twice":       {said1("<think>"), said1("<think>{\"intent\":\"x\"}")},
		"prose, then declined":  {said1("no"), {Text: "no", Stop: model.StopRefuse}},
		"a tool call, two ways": {modeltest.Call("shell", json.RawMessage(`{"command":"ls"}`)), said1(`{"tool":"shell","input":{"command":"ls"}}`)},
	} {
		t.Run(name, func(t *testing.T) {
			th, s := thinker(t, answers...)
			got, err := th.Perceive(context.Background(), perceive("x"))
			var unusable *think.UnusableError
			if !errors.As(err, &unusable) {
				t.Fatalf("got %+v, %v", got, err)
			}
			if len(s.Asked()) != len(answers) || unusable.Role != "perceiver" || unusable.Model != "script:test" || unusable.Why == "" || unusable.Hint() == "" {
				t.Errorf("asked %d times, %+v", len(s.Asked()), unusable)
			}
			if last := answers[len(answers)-1]; last.Text != "" && unusable.Raw != last.Text {
				t.Errorf("kept %q", unusable.Raw)
			}
			if got.Usage.ModelCalls != len(answers) {
				t.Errorf("usage %+v", got.Usage)
			}
		})
	}
}

// A program whose output is no answer is told so, like a model whose answer
// has the wrong form; it is no failure of the step.
func TestOutputThatIsNoAnswerIsSentBack(t *testing.T) {
	th, s := thinker(t, modeltest.Fail(model.Unreadable), said1(`{"intent":"x"}`))
	if got, err := th.Perceive(context.Background(), perceive("x")); err != nil || got.Intent != "x" {
		t.Fatalf("%+v, %v", got, err)
	}
	if turns := s.Asked()[1].Turns; len(turns) != 3 || !strings.Contains(turns[2].Text, "can not be used") {
		t.Errorf("turns %+v", turns)
	}
	th, _ = thinker(t, modeltest.Fail(model.Unreadable), modeltest.Fail(model.Unreadable))
	var unusable *think.UnusableError
	if _, err := th.Perceive(context.Background(), perceive("x")); !errors.As(err, &unusable) {
		t.Errorf("got %v", err)
	}
}

func TestAnAnswerInTheFormOfACallIsRead(t *testing.T) {
	th, _ := thinker(t, modeltest.Call("perceiver", json.RawMessage(`{"intent":"x"}`)))
	if got, err := th.Perceive(context.Background(), perceive("x")); err != nil || got.Intent != "x" {
		t.Errorf("%+v, %v", got, err)
	}
}

// Every role passes a client's failure on with its type, and asks no further.
func TestFailuresKeepTheirType(t *testing.T) {
	ctx := context.Background()
	roles := map[string]func(*Thinker) error{
		"perceiver":  func(th *Thinker) error { _, err := th.Perceive(ctx, perceive("x")); return err },
		"candidates": func(th *Thinker) error { _, err := th.Candidates(ctx, think.PlanInput{}); return err },
		"planner":    func(th *Thinker) error { _, err := th.Plan(ctx, think.PlanInput{}); return err },
		"executor":   func(th *Thinker) error { _, err := th.Execute(ctx, think.ExecuteInput{}, &hands{}); return err },
		"judge":      func(th *Thinker) error { _, err := th.Judge(ctx, judged()); return err },
		"merger": func(th *Thinker) error {
			_, err := th.Merge(ctx, think.MergeInput{Outcomes: []message.SubTaskOutcome{{Output: "a"}, {Output: "b"}}})
			return err
		},
		"distiller":  func(th *Thinker) error { _, _, err := th.Distil(ctx, prompt.Experiences{}); return err },
		"next moves": func(th *Thinker) error { _, _, err := th.NextMoves(ctx, prompt.GivenUp{}); return err },
	}
	for role, act := range roles {
		for _, kind := range []model.Kind{model.Limit, model.Auth, model.Overloaded, model.Idle, model.Malformed, model.TooLarge, model.BadRequest, model.Refused} {
			th, s := thinker(t, modeltest.Fail(kind), said1("{}"))
			err := act(th)
			var failed *model.Error
			if !errors.As(err, &failed) || failed.Kind != kind {
				t.Errorf("%s, %s: %v", role, kind, err)
			}
			if limit, ok := AsLimit(err); ok != (kind == model.Limit) || ok && limit.Account != "script" {
				t.Errorf("%s, %s: as a limit %v", role, kind, ok)
			}
			if len(s.Asked()) != 1 {
				t.Errorf("%s, %s: asked %d times", role, kind, len(s.Asked()))
			}
		}
	}
}

func TestSpendIsToldOfEveryQuestion(t *testing.T) {
	failure := &model.Error{Kind: model.Idle, Usage: message.Usage{InputTokens: 7, ModelCalls: 3}}
	cost := 0.5
	s := &modeltest.Script{Answers: []modeltest.Answer{{Text: "prose", Cost: &cost}, {Err: failure}}}
	var calls int
	var dollars float64
	th, err := New(s, Options{Spend: func(u message.Usage, cost *float64) {
		calls += u.ModelCalls
		if cost != nil {
			dollars += *cost
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := th.Perceive(context.Background(), perceive("x"))
	if !errors.As(err, new(*model.Error)) || calls != 4 || dollars != 0.5 || got.Usage != (message.Usage{}) {
		t.Errorf("%d calls, %g USD, %+v, %v", calls, dollars, got, err)
	}
}

func TestNewRefuses(t *testing.T) {
	if _, err := New(nil, Options{}); err == nil {
		t.Error("a thinker without a model")
	}
	if _, err := New(&modeltest.Script{}, Options{Tools: []tool.Name{"teleport"}}); err == nil {
		t.Error("a tool that does not exist")
	}
}

func outcome(slot, output string) message.SubTaskOutcome {
	return message.SubTaskOutcome{Slot: slot, Status: message.Matched, Output: output}
}

func TestMerge(t *testing.T) {
	ctx := context.Background()
	th, s := thinker(t, said1(`{"summary":"both","output":"a and b"}`))
	for _, c := range []struct {
		outcomes []message.SubTaskOutcome
		output   string
		asked    int
	}{
		{nil, "", 0},
		{[]message.SubTaskOutcome{outcome("a", "alone"), outcome("b", " ")}, "alone", 0},
		{[]message.SubTaskOutcome{outcome("a", "a"), outcome("b", "b")}, "a and b", 1},
	} {
		got, err := th.Merge(ctx, think.MergeInput{Outcomes: c.outcomes})
		if err != nil || got.Output != c.output || got.Summary == "" || len(s.Asked()) != c.asked {
			t.Errorf("%+v, %v, asked %d", got, err, len(s.Asked()))
		}
	}
	huge := strings.Repeat("x", mergeBytes)
	if _, err := th.Merge(ctx, think.MergeInput{Outcomes: []message.SubTaskOutcome{outcome("a", huge), outcome("b", huge)}}); err == nil || len(s.Asked()) != 1 {
		t.Error("more than fits was merged")
	}
	wide := []message.SubTaskOutcome{outcome("a", huge[:mergeBytes/2]), outcome("b", huge[:mergeBytes/2-1]+"!")}
	th, s = thinker(t, said1(`{"summary":"both","output":"all"}`))
	if _, err := th.Merge(ctx, think.MergeInput{Outcomes: wide}); err != nil || strings.Contains(s.Asked()[0].Turns[0].Text, "left out") {
		t.Errorf("what fits was cut: %v", err)
	}
}

func TestDistilAndNextMoves(t *testing.T) {
	ctx := context.Background()
	th, s := thinker(t, said1(`{"lesson":"Use git grep.","category":"procedure"}`), said1(`{"next_moves":["a"," ","b","c","d"]}`), said1(`{"next_moves":[" "]}`), said1(`{"next_moves":["x"]}`))
	rule, usage, err := th.Distil(ctx, prompt.Experiences{Space: "tool:shell:find", Entity: "path:.", Lessons: []string{"it found vendored files"}})
	if err != nil || rule.Category != "procedure" || usage.ModelCalls != 1 || !strings.Contains(s.Asked()[0].Turns[0].Text, "vendored") {
		t.Errorf("%+v, %+v, %v", rule, usage, err)
	}
	moves, _, err := th.NextMoves(ctx, prompt.GivenUp{})
	if err != nil || fmt.Sprint(moves) != "[a b c]" {
		t.Errorf("%v, %v", moves, err)
	}
	moves, usage, err = th.NextMoves(ctx, prompt.GivenUp{})
	if err != nil || fmt.Sprint(moves) != "[x]" || usage.ModelCalls != 2 {
		t.Errorf("%v, %v", moves, err)
	}
}
