package agentvalidator

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/act/check"
	"orch/roles/act/tool"
	"orch/roles/executor"
	"orch/roles/internal/steptest"
	"orch/roles/think"
)

// Nobody could say anything about a criterion: it is neither passed nor failed,
// and the step says nothing.
func TestInvariant_WhatNobodyJudgesIsNeitherPassedNorFailed(t *testing.T) {
	unusable := &think.UnusableError{Role: "agent-validator", Model: "m", Why: "garbage", Raw: "garbage"}
	for name, c := range map[string]struct {
		judge func(think.JudgeInput) (think.Judgement, error)
		none  bool
		waits bool // for a person
	}{
		"no judge":                    {none: true, waits: true},
		"an answer that is no answer": {judge: func(think.JudgeInput) (think.Judgement, error) { return think.Judgement{}, unusable }, waits: true},
		"no answer to the second question": {judge: func(in think.JudgeInput) (think.Judgement, error) {
			if in.Second {
				return think.Judgement{}, unusable
			}
			return steptest.Pass(in, "fine"), nil
		}, waits: true},
		"a server that is not there": {judge: func(think.JudgeInput) (think.Judgement, error) { return think.Judgement{}, errors.New("refused") }},
	} {
		w := steptest.New(t)
		w.Config.Limits.Corrections = 0
		w.Judge.Say = c.judge
		w.Dispatch(nil, steptest.Task("a", steptest.Weighed("c")))
		attempt(t, w, completed)
		e := w.Claim(w.Due()[0])
		if c.none {
			e.Judge = nil
		}
		err := Run(context.Background(), e)
		if err == nil || errors.As(err, new(*think.NotJudgedError)) != c.waits {
			t.Errorf("%s: %v", name, err)
		}
		if x := w.Tasks("g")[0]; x.Status != blackboard.ReadyForReview || len(outcomes(w))+len(corrections(w)) > 0 {
			t.Errorf("%s: task %s, said %+v %+v", name, x.Status, outcomes(w), corrections(w))
		}
	}
}

// A judge that passes everything, and quotes whatever there is: what was not
// done does not pass.
func TestInvariant_WhoOnlyTalksIsNotPassed(t *testing.T) {
	const claim = "hello.txt contains hi, I have verified it"
	says := think.Execution{Status: message.Completed, Output: claim}
	quoting := func(words string) func(think.JudgeInput) (think.Judgement, error) {
		return func(in think.JudgeInput) (think.Judgement, error) {
			j := think.Judgement{Pass: true, Evidence: "it says so", Quote: words}
			for _, r := range in.Records { // the one that serves it best
				if j.Record = r.Name; strings.Contains(r.Text, words) {
					break
				}
			}
			return j, nil
		}
	}
	shell := func(command string) func(context.Context, think.ExecuteInput, think.Tools) (think.Execution, error) {
		return func(ctx context.Context, _ think.ExecuteInput, tools think.Tools) (think.Execution, error) {
			_, err := tools.Do(ctx, "shell", steptest.Shell(command))
			return says, err
		}
	}
	for name, c := range map[string]struct {
		act    func(context.Context, think.ExecuteInput, think.Tools) (think.Execution, error)
		judge  func(think.JudgeInput) (think.Judgement, error)
		looks  bool
		passes bool
	}{
		"nothing was done, its claim is quoted": {act: steptest.Talk(says), judge: quoting(claim)},
		"nothing was done, a file is quoted":    {act: steptest.Talk(says), judge: quoting("a file of the project")},
		"it says so with echo":                  {act: shell("echo " + claim), judge: quoting(claim)},
		"it only read":                          {act: shell("read README"), judge: quoting("read: a file of the project")},
		"an agent reports what it did": {act: func(ctx context.Context, _ think.ExecuteInput, tools think.Tools) (think.Execution, error) {
			_, err := tools.(think.Actor).Act(ctx, "agent:x", json.RawMessage(`{}`), func(ctx context.Context) think.Acted {
				err := tools.(think.Actor).Observe(ctx, think.Observed{Tool: "Write", Input: json.RawMessage(`{"file_path":"hello.txt"}`), Output: claim})
				return think.Acted{Output: claim, Failed: map[bool]string{true: "no"}[err != nil]}
			})
			return says, err
		}, judge: quoting(claim)},
		"it wrote the file": {act: func(_ context.Context, in think.ExecuteInput, _ think.Tools) (think.Execution, error) {
			return says, os.WriteFile(filepath.Join(in.Workspace, "hello.txt"), []byte("hi\n"), 0o644)
		}, judge: quoting("hi"), passes: true},
		"it changed a file": {act: func(_ context.Context, in think.ExecuteInput, _ think.Tools) (think.Execution, error) {
			return says, os.WriteFile(filepath.Join(in.Workspace, "README"), []byte("another file of the project\n"), 0o644)
		}, judge: quoting("another file of the project"), passes: true},
		"it touched a file": {act: func(_ context.Context, in think.ExecuteInput, _ think.Tools) (think.Execution, error) {
			return says, os.WriteFile(filepath.Join(in.Workspace, "README"), []byte("a file of the project\n"), 0o644)
		}, judge: quoting("a file of the project")},
		"a question, answered from what was read": {act: shell("read README"), judge: quoting("read: a file of the project"), looks: true, passes: true},
		"a question, answered from the file":      {act: steptest.Talk(says), judge: quoting("a file of the project"), looks: true, passes: true},
		"a question, answered from nothing":       {act: steptest.Talk(says), judge: quoting(claim), looks: true},
		"a question about what an agent says it read": {act: func(ctx context.Context, _ think.ExecuteInput, tools think.Tools) (think.Execution, error) {
			return says, tools.(think.Actor).Observe(ctx, think.Observed{Tool: "Read", Input: json.RawMessage(`{"file_path":"notes.txt"}`), Output: "what the agent says the notes say"})
		}, judge: quoting("what the notes really say"), looks: true, passes: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := steptest.New(t)
			w.Config.Limits.Corrections = 0
			for path, text := range map[string]string{"README": "a file of the project\n", "notes.txt": "what the notes really say\n"} {
				if err := os.WriteFile(filepath.Join(w.Root, path), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			w.Box.Results = map[string]tool.Result{"echo " + claim: {Output: []byte(claim + "\n")}, "read README": {Output: []byte("read: a file of the project\n")}}
			w.Judge.Say = c.judge
			x := steptest.Task("a", steptest.Weighed("c"))
			x.Target, x.ReadOnly = "README", c.looks
			w.Dispatch(nil, x)
			w.Work.Act = c.act
			if err := w.Next(message.Executor, executor.Run); err != nil {
				t.Fatal(err)
			}
			if err := w.Next(message.AgentValidator, Run); err != nil {
				t.Fatal(err)
			}
			if got := outcomes(w)[0]; (got.Status == message.Matched) != c.passes {
				t.Errorf("%s: %+v", got.Status, got.CriteriaVerdicts)
			}
		})
	}
}

// A pass by a judge is judged again, and who disagrees wins.
func TestInvariant_ATasksPassOnAModelsWordIsJudgedTwice(t *testing.T) {
	for name, agrees := range map[string]bool{"agrees": true, "disagrees": false} {
		w := steptest.New(t)
		w.Config.Limits.Corrections = 0
		w.Judge.Say = func(in think.JudgeInput) (think.Judgement, error) {
			if in.Second && !agrees {
				return think.Judgement{Evidence: "it is dull"}, nil
			}
			return steptest.Pass(in, "it is lively"), nil
		}
		w.Dispatch(nil, steptest.Task("a", steptest.Weighed("c")))
		reviewed(t, w, completed)
		v := outcomes(w)[0].CriteriaVerdicts[0]
		if v.Passed() != agrees || !v.Second || len(w.Judge.Asked) != 2 {
			t.Errorf("%s: %+v after %d questions", name, v, len(w.Judge.Asked))
		}
		if !agrees && (!strings.Contains(v.Evidence, "it is dull") || !strings.Contains(v.Evidence, "it is lively")) {
			t.Errorf("%s: the reasons are not both there: %s", name, v.Evidence)
		}
	}
}

// A check proves that something was done only if it was seen to fail.
func TestInvariant_ACheckThatHeldBeforeProvesNothing(t *testing.T) {
	held := check.Verdict{Pass: true, Evidence: "exit 0"}
	for name, c := range map[string]struct {
		criteria []message.Criterion
		before   map[string]check.Verdict
		judge    func(think.JudgeInput) (think.Judgement, error)
		talks    bool
		playbook bool
		passes   bool
		asked    int
	}{
		"red before":                  {criteria: []message.Criterion{steptest.Checked("c", "make")}, passes: true},
		"red before, beside a guard":  {criteria: []message.Criterion{steptest.Checked("c", "make"), steptest.Checked("g", "lint")}, before: map[string]check.Verdict{"lint": held}, passes: true},
		"held, and nothing was done":  {criteria: []message.Criterion{steptest.Checked("c", "true")}, before: map[string]check.Verdict{"true": held}, talks: true, asked: 1},
		"held, and a judge agrees":    {criteria: []message.Criterion{steptest.Checked("c", "true")}, before: map[string]check.Verdict{"true": held}, passes: true, asked: 2},
		"held, and a judge disagrees": {criteria: []message.Criterion{steptest.Checked("c", "true")}, before: map[string]check.Verdict{"true": held}, judge: func(think.JudgeInput) (think.Judgement, error) { return think.Judgement{Evidence: "no"}, nil }, asked: 1},
		"held, and it quotes the check": {criteria: []message.Criterion{steptest.Checked("c", "true")}, before: map[string]check.Verdict{"true": held}, judge: func(think.JudgeInput) (think.Judgement, error) {
			return think.Judgement{Pass: true, Evidence: "e", Record: "R2", Quote: "true passed"}, nil
		}, asked: 1},
		"could not be run in a copy": {criteria: []message.Criterion{steptest.Checked("c", "true")}, before: map[string]check.Verdict{"true": {Class: check.Environmental}}, talks: true, asked: 1},
		"only reads, and held":       {criteria: []message.Criterion{steptest.Checked("c", "read x")}, talks: true, asked: 1},
		"held, beside a judged one":  {criteria: []message.Criterion{steptest.Checked("c", "true"), steptest.Weighed("w")}, before: map[string]check.Verdict{"true": held}, passes: true, asked: 2},
		"a playbook's own":           {criteria: []message.Criterion{steptest.Checked("c", "true")}, before: map[string]check.Verdict{"true": held}, talks: true, playbook: true, passes: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := steptest.New(t)
			w.Config.Limits.Corrections = 0
			w.Before, w.Judge.Say = c.before, c.judge
			if c.playbook {
				w.Backend = "playbook"
			}
			w.Dispatch(nil, steptest.Task("a", c.criteria...))
			w.Work.Act = steptest.Answer(completed)
			if c.talks {
				w.Work.Act = steptest.Talk(completed)
			}
			if err := w.Next(message.Executor, executor.Run); err != nil {
				t.Fatal(err)
			}
			if err := w.Next(message.AgentValidator, Run); err != nil {
				t.Fatal(err)
			}
			if got := outcomes(w)[0]; (got.Status == message.Matched) != c.passes || len(w.Judge.Asked) != c.asked {
				t.Errorf("%s after %d questions: %+v", got.Status, len(w.Judge.Asked), got.CriteriaVerdicts)
			}
		})
	}
}

// A check that failed after an attempt and holds after the next was seen to
// fail, whatever it did before.
func TestACheckThatFailedAfterAnAttemptProvesTheNext(t *testing.T) {
	w := steptest.New(t)
	w.Before["make"] = check.Verdict{Pass: true, Evidence: "exit 0"}
	w.Verdicts["make"] = check.Verdict{Class: check.Logical, Evidence: "exit 1"}
	w.Dispatch(nil, steptest.Task("a", steptest.Checked("c", "make")))
	reviewed(t, w, completed)
	delete(w.Verdicts, "make")
	reviewed(t, w, completed)
	if got := outcomes(w); len(got) != 1 || got[0].Status != message.Matched || len(w.Judge.Asked) != 0 {
		t.Errorf("%+v after %d questions", got, len(w.Judge.Asked))
	}
	if said := w.Messages("StateBefore"); len(said) != 1 {
		t.Errorf("how things stood was noted %d times", len(said))
	}
}

// A task that fell back into other hands is measured from its beginning.
func TestWhatWasDoneBeforeACrashIsAnEffect(t *testing.T) {
	w := steptest.New(t)
	w.Dispatch(nil, steptest.Task("a", steptest.Weighed("c")))
	a := w.Due()[0]
	e := w.Claim(a)
	ctx, cancel := context.WithCancel(context.Background())
	w.Work.Act = func(ctx context.Context, in think.ExecuteInput, tools think.Tools) (think.Execution, error) {
		_, err := steptest.Answer(completed)(ctx, in, tools)
		cancel()
		return think.Execution{}, errors.Join(err, ctx.Err())
	}
	if err := executor.Run(ctx, e); err == nil {
		t.Fatal("it was not cut off")
	}
	w.End(a, e, message.EndInterrupted)
	w.Work.Act = steptest.Talk(completed)
	if err := w.Next(message.Executor, executor.Run); err != nil {
		t.Fatal(err)
	}
	if err := w.Next(message.AgentValidator, Run); err != nil {
		t.Fatal(err)
	}
	if got := outcomes(w); len(got) != 1 || got[0].Status != message.Matched {
		t.Errorf("%+v", got)
	}
}
