package agentvalidator

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/act/check"
	"orch/roles/act/tool"
	"orch/roles/executor"
	"orch/roles/internal/steptest"
	"orch/roles/run/step"
	"orch/roles/think"
)

// reviewed runs one attempt that says done, and then its review.
func reviewed(t *testing.T, w *steptest.World, done think.Execution) {
	t.Helper()
	attempt(t, w, done)
	if err := w.Next(message.AgentValidator, Run); err != nil {
		t.Fatal(err)
	}
}

func attempt(t *testing.T, w *steptest.World, done think.Execution) {
	t.Helper()
	w.Work.Act = steptest.Answer(done)
	if err := w.Next(message.Executor, executor.Run); err != nil {
		t.Fatal(err)
	}
}

var completed = think.Execution{Status: message.Completed, Output: "the output"}

func outcomes(w *steptest.World) (out []message.SubTaskOutcome) {
	for _, m := range w.Messages("SubTaskOutcome") {
		out = append(out, m.Body.(message.SubTaskOutcome))
	}
	return out
}

func corrections(w *steptest.World) (out []message.CorrectionSignal) {
	for _, m := range w.Messages("CorrectionSignal") {
		out = append(out, m.Body.(message.CorrectionSignal))
	}
	return out
}

func TestInvariant_OneFailedCriterionIsFailed(t *testing.T) {
	for mask := range 8 {
		w := steptest.New(t)
		w.Config.Limits.Corrections = 0
		var criteria []message.Criterion
		for i := range 3 {
			name := fmt.Sprintf("c%d", i)
			criteria = append(criteria, steptest.Checked(name, name))
			if mask&(1<<i) != 0 {
				w.Verdicts[name] = check.Verdict{Class: check.Logical, Evidence: name + " exit 1"}
			}
		}
		w.Dispatch(nil, steptest.Task("a", criteria...))
		reviewed(t, w, completed)
		got := outcomes(w)[0]
		want, status := message.Matched, blackboard.Approved
		if mask != 0 {
			want, status = message.Failed, blackboard.Blocked
		}
		if got.Status != want || w.Tasks("g")[0].Status != status || len(got.CriteriaVerdicts) != 3 {
			t.Errorf("mask %b: %s, task %s", mask, got.Status, w.Tasks("g")[0].Status)
		}
	}
}

func TestInvariant_EachCriterionIsJudgedAlone(t *testing.T) {
	w := steptest.New(t)
	w.Dispatch(nil, steptest.Task("a", steptest.Weighed("w1"), steptest.Checked("c1", "check"), steptest.Weighed("w2")))
	reviewed(t, w, completed)
	if len(w.Judge.Asked) != 4 {
		t.Fatalf("the judge was asked %d times, want twice for each", len(w.Judge.Asked))
	}
	words := map[string]bool{}
	for i, in := range w.Judge.Asked {
		if want := fmt.Sprintf("w%d", i%2+1); in.Criterion.ID != want || in.Output != "the output" || in.Sceptical || in.Second != (i > 1) {
			t.Errorf("asked about %+v", in)
		}
		words[in.Word] = len(in.Word) >= 12
	}
	if len(words) != 4 || !words[w.Judge.Asked[0].Word] {
		t.Errorf("questions share a word, or have none: %v", words)
	}
	if o := outcomes(w)[0]; o.Status != message.Matched || o.CriteriaVerdicts[1].By != message.ByCode || o.CriteriaVerdicts[0].By != message.ByModel {
		t.Errorf("outcome %+v", o)
	}
}

func TestInvariant_VerdictsCarryAFailureClass(t *testing.T) {
	for name, c := range map[string]struct {
		criterion message.Criterion
		verdict   check.Verdict
		beside    bool // a criterion with the check is judged beside it
		judge     func(think.JudgeInput) (think.Judgement, error)
		done      think.Execution
		class     message.FailureClass
		evidence  string
	}{
		"a check that failed":      {criterion: steptest.Checked("c", "check"), verdict: check.Verdict{Class: check.Logical, Evidence: "exit 1"}, done: completed, class: message.Logical, evidence: "exit 1"},
		"a check that can not run": {criterion: steptest.Checked("c", "check"), verdict: check.Verdict{Class: check.Environmental, Kind: check.KindTool, Evidence: "not found"}, done: completed, class: message.Environmental, evidence: "not found"},
		"a judge that fails it": {criterion: steptest.Weighed("c"), done: completed, class: message.Logical, evidence: "too short",
			judge: func(think.JudgeInput) (think.Judgement, error) {
				return think.Judgement{Evidence: "too short"}, nil
			}},
		"a judge that says the world": {criterion: steptest.Weighed("c"), done: completed, class: message.Logical, evidence: "down",
			judge: func(think.JudgeInput) (think.Judgement, error) {
				return think.Judgement{Evidence: "it is down", Class: message.Environmental}, nil
			}},
		"a judge that says the world, which a check shows": {criterion: steptest.Weighed("c"), beside: true, done: completed,
			verdict: check.Verdict{Class: check.Environmental, Kind: check.KindTool, Evidence: "not found"}, class: message.Environmental, evidence: "down",
			judge: func(think.JudgeInput) (think.Judgement, error) {
				return think.Judgement{Evidence: "it is down", Class: message.Environmental}, nil
			}},
		"a judge that does not say what a check shows": {criterion: steptest.Weighed("c"), beside: true, done: completed,
			verdict: check.Verdict{Class: check.Environmental, Kind: check.KindTool, Evidence: "not found"}, class: message.Logical, evidence: "too short",
			judge: func(think.JudgeInput) (think.Judgement, error) {
				return think.Judgement{Evidence: "too short"}, nil
			}},
		"a judge that quotes a missing command": {criterion: steptest.Weighed("c"), done: completed, class: message.Logical, evidence: "frob: command not found",
			judge: func(think.JudgeInput) (think.Judgement, error) {
				return think.Judgement{Evidence: "bash: frob: command not found"}, nil
			}},
		"a judge that speaks of an outage": {criterion: steptest.Weighed("c"), done: completed, class: message.Logical, evidence: "refused",
			judge: func(think.JudgeInput) (think.Judgement, error) {
				return think.Judgement{Evidence: "dial tcp: connection refused"}, nil
			}},
		"a pass without evidence": {criterion: steptest.Weighed("c"), done: completed, class: message.Logical, evidence: "without naming any evidence",
			judge: func(think.JudgeInput) (think.Judgement, error) { return think.Judgement{Pass: true}, nil }},
		"a failed attempt": {criterion: steptest.Weighed("c"), done: think.Execution{Status: message.Failed, Reason: "gave up"},
			class: message.Logical, evidence: "gave up"},
		"an attempt the world stopped": {criterion: steptest.Checked("c", "check"), verdict: check.Verdict{Class: check.Logical, Evidence: "exit 1"},
			done: think.Execution{Status: message.Failed, Class: message.Environmental, Reason: "denied"}, class: message.Environmental, evidence: "exit 1"},
	} {
		w := steptest.New(t)
		w.Config.Limits.Corrections = 0
		w.Verdicts["check"], w.Judge.Say = c.verdict, c.judge
		criteria := []message.Criterion{c.criterion}
		if c.beside {
			criteria = append(criteria, steptest.Checked("d", "check"))
		}
		w.Dispatch(nil, steptest.Task("a", criteria...))
		attempt(t, w, c.done)
		if err := Run(context.Background(), w.Claim(w.Due()[0])); err != nil {
			t.Fatal(err)
		}
		v := outcomes(w)[0].CriteriaVerdicts[0]
		if v.Passed() || v.FailureClass != c.class || !strings.Contains(v.Evidence, c.evidence) || v.By == message.ByModel && v.Kind != "" {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

func TestInvariant_EnvironmentalIsPromotedNeverDemoted(t *testing.T) {
	failed := func(class message.FailureClass, by string) message.Verdict {
		return message.Verdict{Verdict: message.Fail, FailureClass: class, By: by, Evidence: "it is wrong"}
	}
	stopped := message.ExecutionResult{Status: message.Failed, Class: message.Environmental}
	wrong := message.ExecutionResult{Status: message.Failed, Class: message.Logical}
	for _, c := range []struct {
		v    message.Verdict
		r    message.ExecutionResult
		want message.FailureClass
	}{
		{failed(message.Logical, message.ByCode), stopped, message.Environmental},
		{failed(message.Logical, message.ByCode), wrong, message.Logical},
		{failed(message.Environmental, message.ByCode), wrong, message.Environmental},
		{failed(message.Environmental, message.ByModel), message.ExecutionResult{Status: message.Completed}, message.Environmental},
		{failed(message.Logical, message.ByCode), message.ExecutionResult{Status: message.Completed, Class: message.Environmental}, message.Logical},
	} {
		if got := promote(c.v, c.r).FailureClass; got != c.want {
			t.Errorf("%+v with %+v: %s, want %s", c.v, c.r, got, c.want)
		}
	}
}

func TestTheFastLoopCorrectsAndThenGivesUp(t *testing.T) {
	w := steptest.New(t)
	w.Config.Limits.Corrections = 2
	w.Verdicts["required"] = check.Verdict{Class: check.Logical, Evidence: "exit 1"}
	w.Judge.Say = func(think.JudgeInput) (think.Judgement, error) {
		return think.Judgement{Evidence: "dull", WhatToDo: "be brief"}, nil
	}
	w.Dispatch(nil, steptest.Task("a", steptest.Weighed("w1"), steptest.Checked("c1", "required")))
	for range 3 {
		reviewed(t, w, completed)
	}
	sent := corrections(w)
	if len(sent) != 2 || sent[0].FailedCriterion != "required exits 0" || sent[0].AttemptNumber != 1 || sent[1].AttemptNumber != 2 || sent[0].WhatWasWrong != "exit 1" {
		t.Fatalf("corrections %+v", sent)
	}
	if w.Work.Asked[1].Correction == nil || w.Work.Asked[1].Attempt != 2 {
		t.Errorf("the executor was told %+v", w.Work.Asked[1])
	}
	o := outcomes(w)
	if len(o) != 1 || o[0].Status != message.Failed || o[0].Attempts != 3 || len(o[0].GapTrajectory) != 3 || o[0].FailureReason == nil {
		t.Fatalf("outcome %+v", o)
	}
	for i, gap := range o[0].GapTrajectory {
		if gap.Attempt != i+1 || len(gap.FailedCriteria) != 2 {
			t.Errorf("gap %+v", gap)
		}
	}
	if x := w.Tasks("g")[0]; x.Status != blackboard.Blocked || x.BlockedKind != "retries_exhausted" {
		t.Errorf("task %s %s", x.Status, x.BlockedKind)
	}
}

func TestTheJudgesAdviceReachesTheExecutor(t *testing.T) {
	w := steptest.New(t)
	w.Judge.Say = func(think.JudgeInput) (think.Judgement, error) {
		return think.Judgement{Evidence: "dull", WhatToDo: "be brief"}, nil
	}
	w.Dispatch(nil, steptest.Task("a", steptest.Weighed("w1")))
	reviewed(t, w, completed)
	if sent := corrections(w); len(sent) != 1 || sent[0].WhatToDo != "be brief" {
		t.Errorf("corrections %+v", sent)
	}
}

// Facts decide: what an executor calls a failure and every check calls done is done.
func TestChecksDecideWhateverTheExecutorSays(t *testing.T) {
	w := steptest.New(t)
	w.Dispatch(nil, steptest.Task("a", steptest.Checked("c1", "check")))
	reviewed(t, w, think.Execution{Status: message.Failed, Reason: "I think it failed"})
	if o := outcomes(w); len(o) != 1 || o[0].Status != message.Matched {
		t.Errorf("outcome %+v", o)
	}
}

// Passing checks do not make up for how an attempt went about it; the next one
// that keeps to its plan is judged as any other.
func TestInvariant_WhatWasDoneAgainstThePlanDoesNotCount(t *testing.T) {
	w := steptest.New(t)
	w.Config.Limits.Corrections = 1
	w.Dispatch(nil, steptest.Task("a", steptest.Checked("c1", "check")))
	reviewed(t, w, think.Execution{Status: message.Completed, Output: "done", MustNot: "it used npm, which this plan must not"})
	said := corrections(w)
	if len(said) != 1 || !strings.Contains(said[0].WhatWasWrong, "it used npm") || said[0].FailureClass != message.Logical || !strings.Contains(said[0].WhatToDo, "try") {
		t.Fatalf("corrections %+v", said)
	}
	reviewed(t, w, completed)
	if got := outcomes(w); len(got) != 1 || got[0].Status != message.Matched {
		t.Errorf("outcomes %+v", got)
	}
}

func TestAnInfeasibleTaskIsNotCorrected(t *testing.T) {
	w := steptest.New(t)
	w.Verdicts["check"] = check.Verdict{Class: check.Logical, Evidence: "exit 1"}
	w.Dispatch(nil, steptest.Task("a", steptest.Checked("c1", "check")))
	w.Box.Results = map[string]tool.Result{"read it": {Exit: 1, Output: []byte("no such thing")}}
	w.Work.Act = func(ctx context.Context, _ think.ExecuteInput, tools think.Tools) (think.Execution, error) {
		_, err := tools.Do(ctx, "shell", steptest.Shell("read it"))
		return think.Execution{Status: message.Failed, Infeasible: "there is none"}, err
	}
	if err := w.Next(message.Executor, executor.Run); err != nil {
		t.Fatal(err)
	}
	if err := w.Next(message.AgentValidator, Run); err != nil {
		t.Fatal(err)
	}
	if o := outcomes(w); len(o) != 1 || !strings.HasPrefix(*o[0].FailureReason, "infeasible: there is none") || len(corrections(w)) != 0 {
		t.Errorf("outcome %+v", o)
	}
}

func TestATaskWithoutCriteriaIsNeverMatched(t *testing.T) {
	w := steptest.New(t)
	w.Dispatch(nil, steptest.Task("a"))
	reviewed(t, w, completed)
	if o := outcomes(w); len(o) != 1 || o[0].Status != message.Failed {
		t.Errorf("outcome %+v", o)
	}
}

func TestAReviewOfAnOlderAttemptSaysNothing(t *testing.T) {
	w := steptest.New(t)
	w.Dispatch(nil, steptest.Task("a", steptest.Checked("c1", "check")))
	attempt(t, w, completed)
	e := w.Claim(w.Due()[0])
	e.Key.Cause = "an older result"
	if err := Run(context.Background(), e); !errors.Is(err, step.ErrMoved) {
		t.Errorf("got %v", err)
	}
}

func TestAMatchedTaskDoesNotReadAsFailed(t *testing.T) {
	w := steptest.New(t)
	w.Verdicts["whole"] = check.Verdict{Pass: true, Evidence: "exit 0 ok all"}
	w.Dispatch(nil, steptest.Task("a", steptest.Checked("the tests pass", "whole")))
	reviewed(t, w, think.Execution{Status: message.Failed, Reason: "go test: exit 1", Output: "--- FAIL: TestOnce"})
	o := outcomes(w)[0]
	if o.Status != message.Matched {
		t.Fatalf("outcome %+v", o)
	}
	judged, said := strings.Index(o.Output, "exit 0 ok all"), strings.Index(o.Output, "--- FAIL: TestOnce")
	if judged < 0 || said < judged || !strings.Contains(o.Output, "had failed (go test: exit 1)") {
		t.Errorf("it hands on %q", o.Output)
	}
}
