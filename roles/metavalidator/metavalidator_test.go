package metavalidator

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/act/check"
	"orch/roles/agentvalidator"
	"orch/roles/executor"
	"orch/roles/internal/steptest"
	"orch/roles/run/step"
	"orch/roles/think"
)

// finish runs executors and reviews until only the meta-validator is due.
func finish(t *testing.T, w *steptest.World) {
	t.Helper()
	for range 300 {
		due := w.Due()
		if len(due) == 0 {
			t.Fatal("the plan never comes to its end")
		}
		var run steptest.Runner
		switch due[0].Key.Role {
		case message.Executor:
			run = executor.Run
		case message.AgentValidator:
			run = agentvalidator.Run
		default:
			return
		}
		if err := w.Do(due[0], run); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("it goes on for ever")
}

func world(t *testing.T) *steptest.World {
	w := steptest.New(t)
	w.Config.Limits.Corrections = 0
	return w
}

func requests(w *steptest.World) (out []message.ReplanRequest) {
	for _, m := range w.Messages("ReplanRequest") {
		if m.To != message.GGS {
			w.T.Errorf("a ReplanRequest to %s", m.To)
		}
		out = append(out, m.Body.(message.ReplanRequest))
	}
	return out
}

func summaries(w *steptest.World) (out []message.OutcomeSummary) {
	for _, m := range w.Messages("OutcomeSummary") {
		out = append(out, m.Body.(message.OutcomeSummary))
	}
	return out
}

func TestInvariant_NoModelIsAskedWhenATaskFailed(t *testing.T) {
	w := world(t)
	w.Verdicts["broken"] = check.Verdict{Class: check.Logical, Evidence: "exit 1"}
	good, bad, later := steptest.Task("good", steptest.Checked("c1", "fine")), steptest.Task("bad", steptest.Checked("c1", "broken")), steptest.Task("later", steptest.Checked("c1", "fine"))
	later.Sequence = 2
	w.Dispatch([]message.Criterion{steptest.Weighed("t1")}, good, bad, later)
	finish(t, w)
	if err := w.Next(message.MetaValidator, Run); err != nil {
		t.Fatal(err)
	}
	if len(w.Judge.Asked) != 0 {
		t.Errorf("a model was asked: %+v", w.Judge.Asked)
	}
	r := requests(w)
	if len(r) != 1 || len(r[0].Outcomes) != 3 || len(r[0].FailedSubtasks) != 1 || r[0].FailedSubtasks[0] != "bad" || len(r[0].TaskVerdicts) != 0 {
		t.Fatalf("request %+v", r)
	}
	skipped := r[0].Outcomes[2]
	if skipped.Status != message.Skipped || len(skipped.CriteriaVerdicts) != 1 || skipped.CriteriaVerdicts[0].Passed() || skipped.CriteriaVerdicts[0].FailureClass != "" {
		t.Errorf("what never started counts %+v", skipped)
	}
	if !strings.Contains(r[0].GapSummary, "1 of 3 tasks failed, 1 never started") || !strings.Contains(r[0].GapSummary, "exit 1") || r[0].Recommendation != "replan" {
		t.Errorf("gaps %q, %s", r[0].GapSummary, r[0].Recommendation)
	}
}

func TestInvariant_ReplanRequestGoesToTheControllerOnly(t *testing.T) {
	for _, to := range message.Roles() {
		if err := message.Route("ReplanRequest", message.DoorProcess, message.MetaValidator, to); (err == nil) != (to == message.GGS) {
			t.Errorf("to %s: %v", to, err)
		}
	}
}

func TestInvariant_AmbiguousEvidenceIsAFail(t *testing.T) {
	for name, said := range map[string]struct{ j think.Judgement }{
		"a pass without evidence": {j: think.Judgement{Pass: true, Evidence: "  "}},
		"evidence without a pass": {j: think.Judgement{Evidence: "probably"}},
		"nothing at all":          {},
		"a pass without a record": {j: think.Judgement{Pass: true, Evidence: "seen", Quote: "what was made of a"}},
	} {
		w := world(t)
		w.Judge.Say = func(in think.JudgeInput) (think.Judgement, error) {
			if !in.Sceptical {
				t.Errorf("%s: the judge was not told to be sceptical", name)
			}
			return said.j, nil
		}
		w.Dispatch([]message.Criterion{steptest.Weighed("t1")}, steptest.Task("a", steptest.Checked("c1", "fine")))
		finish(t, w)
		if err := w.Next(message.MetaValidator, Run); err != nil {
			t.Fatal(err)
		}
		if r := requests(w); len(r) != 1 || r[0].TaskVerdicts[0].Passed() {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

func TestInvariant_APassOnAModelsWordIsJudgedTwice(t *testing.T) {
	for name, c := range map[string]struct {
		second bool
		want   message.Type
	}{"agrees": {true, "OutcomeSummary"}, "disagrees": {false, "ReplanRequest"}} {
		w := world(t)
		w.Judge.Say = func(in think.JudgeInput) (think.Judgement, error) {
			if in.Second && !c.second {
				return think.Judgement{Evidence: "not seen"}, nil
			}
			return steptest.Pass(in, "seen"), nil
		}
		w.Dispatch([]message.Criterion{steptest.Weighed("t1"), steptest.Checked("t2", "fine")}, steptest.Task("a", steptest.Checked("c1", "fine")))
		finish(t, w)
		if err := w.Next(message.MetaValidator, Run); err != nil {
			t.Fatal(err)
		}
		if len(w.Judge.Asked) != 2 || w.Judge.Asked[0].Second || !w.Judge.Asked[1].Second {
			t.Errorf("%s: asked %+v", name, w.Judge.Asked)
		}
		if len(w.Messages(c.want)) != 1 {
			t.Errorf("%s: no %s", name, c.want)
		}
	}
}

// A goal's criterion that nobody judges is neither passed nor failed: nothing
// is said, and the goal waits.
func TestInvariant_AGoalThatNobodyJudgesWaits(t *testing.T) {
	for name, judge := range map[string]func(think.JudgeInput) (think.Judgement, error){
		"no judge": nil,
		"an answer that is no answer": func(think.JudgeInput) (think.Judgement, error) {
			return think.Judgement{}, &think.UnusableError{Why: "garbage", Raw: "garbage"}
		},
	} {
		w := world(t)
		w.Dispatch([]message.Criterion{steptest.Weighed("t1")}, steptest.Task("a", steptest.Checked("c1", "fine")))
		finish(t, w)
		w.Judge.Say = judge
		e := w.Claim(w.Due()[0])
		if judge == nil {
			e.Judge = nil
		}
		if err := Run(context.Background(), e); !errors.As(err, new(*think.NotJudgedError)) {
			t.Errorf("%s: %v", name, err)
		}
		if s, r := summaries(w), requests(w); len(s)+len(r) > 0 {
			t.Errorf("%s: it said %v %v", name, s, r)
		}
	}
}

// The goal's own check was green before anything was done: a model planned it,
// so a judge must pass it too, by what is on record.
func TestInvariant_AGoalIsNotProvenByACheckThatHeldBefore(t *testing.T) {
	for name, c := range map[string]struct {
		before bool // it held
		passes bool
		asked  int
	}{"was red": {false, true, 0}, "held, and the judge says no": {true, false, 1}, "held, and the judge says yes": {true, true, 2}} {
		w := world(t)
		w.Before["whole"] = check.Verdict{Pass: c.before, Class: check.Logical, Evidence: "seen"}
		w.Dispatch([]message.Criterion{steptest.Checked("t1", "whole")}, steptest.Task("a", steptest.Checked("c1", "fine")))
		finish(t, w)
		w.Judge.Say = func(in think.JudgeInput) (think.Judgement, error) {
			if !c.passes {
				return think.Judgement{Evidence: "no"}, nil
			}
			return steptest.Pass(in, "yes"), nil
		}
		if err := w.Next(message.MetaValidator, Run); err != nil {
			t.Fatal(err)
		}
		if passed := len(summaries(w)) == 1; passed != c.passes || len(w.Judge.Asked) != c.asked {
			t.Errorf("%s: passed %v after %d questions", name, passed, len(w.Judge.Asked))
		}
	}
}

func TestASecondJudgementIsOnlyAskedOfACompletePass(t *testing.T) {
	w := world(t)
	w.Verdicts["red"] = check.Verdict{Class: check.Logical, Evidence: "exit 1"}
	w.Dispatch([]message.Criterion{steptest.Weighed("t1"), steptest.Checked("t2", "red")}, steptest.Task("a", steptest.Checked("c1", "fine")))
	finish(t, w)
	if err := w.Next(message.MetaValidator, Run); err != nil {
		t.Fatal(err)
	}
	if len(w.Judge.Asked) != 1 {
		t.Errorf("the judge was asked %d times", len(w.Judge.Asked))
	}
	if r := requests(w); len(r) != 1 || len(r[0].TaskVerdicts) != 2 || !strings.Contains(r[0].GapSummary, "the goal: red exits 0: exit 1") || r[0].MergedOutput == "" {
		t.Errorf("request %+v", r)
	}
}

func TestMatchedOutputsAreMerged(t *testing.T) {
	for name, c := range map[string]struct {
		merge merger
		want  string
	}{
		"by the backend": {func(think.MergeInput) (think.Merged, error) {
			return think.Merged{Output: "one", Summary: "s"}, nil
		}, "one"},
		"without one":   {nil, "## a\n\ndone by try\n\n## b\n\ndone by try"},
		"when it fails": {func(think.MergeInput) (think.Merged, error) { return think.Merged{}, errors.New("no") }, "## a\n\ndone by try\n\n## b\n\ndone by try"},
		"that is a flood": {func(think.MergeInput) (think.Merged, error) {
			return think.Merged{Output: strings.Repeat("x", 2<<20)}, nil
		}, "[the whole output: blobs/"},
	} {
		w := world(t)
		w.Dispatch([]message.Criterion{steptest.Checked("t1", "fine")}, steptest.Task("a", steptest.Checked("c1", "fine")), steptest.Task("b", steptest.Checked("c1", "fine")))
		finish(t, w)
		e := w.Claim(w.Due()[0])
		if c.merge != nil {
			e.Merger = c.merge
		}
		if err := Run(context.Background(), e); err != nil {
			t.Fatal(err)
		}
		s := summaries(w)
		if len(s) != 1 || !strings.Contains(s[0].MergedOutput, c.want) || s[0].Summary == "" && name != "that is a flood" || len(s[0].Outcomes) != 2 {
			t.Errorf("%s: %.200s", name, fmt.Sprint(s))
		}
		if len(s) == 1 && (strings.Contains(s[0].Summary, sideBySide) != (name == "when it fails") || strings.Contains(s[0].Summary, "merged")) {
			t.Errorf("%s: the summary says %q", name, s[0].Summary)
		}
	}
}

type merger func(think.MergeInput) (think.Merged, error)

func (m merger) Merge(_ context.Context, in think.MergeInput) (think.Merged, error) { return m(in) }

// A hundred tasks that flood their outputs and evidence still fit one line of
// the log, and nothing the controller counts is lost.
func TestARoundFitsOneMessage(t *testing.T) {
	flood := strings.Repeat("é", 20_000)
	g := blackboard.Goal{ID: "g", Plan: &message.DispatchManifest{PlanID: "p1"}}
	var tasks []blackboard.Task
	for range 100 {
		x := blackboard.Task{SubTask: steptest.Task("t"), Status: blackboard.Blocked, Attempt: 3}
		o := message.SubTaskOutcome{SubtaskID: "t", Status: message.Failed, Output: flood, FailureReason: &flood}
		for range 5 {
			o.CriteriaVerdicts = append(o.CriteriaVerdicts, message.Verdict{CriterionID: "c", Verdict: message.Fail, FailureClass: message.Logical, Evidence: flood, By: message.ByCode})
		}
		for range 100 {
			o.FailedCalls = append(o.FailedCalls, message.FailedCall{Pair: message.Pair{Tool: "shell:x", Target: strings.Repeat("z", 300)}})
		}
		x.Outcome = &o
		tasks = append(tasks, x)
	}
	r := roundOf(g, tasks, 0)
	raw, err := message.Encode(r.replan(strings.Repeat("m", step.MergedBytes)))
	if err != nil || len(raw) > 1<<20-4096 {
		t.Fatalf("%d bytes, %v", len(raw), err)
	}
	if len(r.outcomes) != 100 || len(r.failed) != 100 || len(r.outcomes[99].CriteriaVerdicts) != 5 || len(r.outcomes[99].FailedCalls) == 0 {
		t.Errorf("lost: %d outcomes, %d failed", len(r.outcomes), len(r.failed))
	}
}

func TestARoundIsMeasuredOnce(t *testing.T) {
	w := world(t)
	w.Dispatch([]message.Criterion{steptest.Checked("t1", "fine")}, steptest.Task("a", steptest.Checked("c1", "fine")))
	finish(t, w)
	a := w.Due()[0]
	first := w.Claim(a)
	if err := Run(context.Background(), first); err != nil {
		t.Fatal(err)
	}
	if err := Run(context.Background(), first); err == nil {
		t.Error("the same round was measured twice")
	}
	old := *first
	old.Key.Cause = "another manifest"
	if err := Run(context.Background(), &old); !errors.Is(err, step.ErrMoved) {
		t.Errorf("for another plan: %v", err)
	}
}

func TestInvariant_GoalCriteriaAreReadFromTheManifest(t *testing.T) {
	w := world(t)
	w.Dispatch([]message.Criterion{steptest.Checked("t1", "fine"), steptest.Weighed("t2")}, steptest.Task("a", steptest.Checked("c1", "fine")))
	finish(t, w)
	if err := w.Next(message.MetaValidator, Run); err != nil {
		t.Fatal(err)
	}
	s := summaries(w)
	if len(s) != 1 || len(s[0].TaskVerdicts) != 2 || s[0].TaskVerdicts[0].CriterionID != "t1" || s[0].TaskVerdicts[1].CriterionID != "t2" {
		t.Errorf("judged %+v", s)
	}
}

// What was judged has to be what is there: else nothing is said about it,
// whether that is seen before or after the judgement.
func TestNothingIsSaidAboutABranchThatMoved(t *testing.T) {
	moved := errors.New("the branch moved")
	for looks := range 2 {
		w := world(t)
		w.Dispatch([]message.Criterion{steptest.Checked("t1", "fine")}, steptest.Task("a", steptest.Checked("c1", "fine")))
		finish(t, w)
		e := w.Claim(w.Due()[0])
		n := 0
		e.Whole = func(context.Context) error {
			if n++; n > looks {
				return moved
			}
			return nil
		}
		if err := Run(context.Background(), e); !errors.Is(err, moved) {
			t.Errorf("look %d: got %v", looks+1, err)
		}
		if s, r := summaries(w), requests(w); len(s)+len(r) > 0 {
			t.Errorf("look %d: it said %v %v", looks+1, s, r)
		}
	}
}

func TestTheTimeOfTheLastJudgingIsPartOfTheGoals(t *testing.T) {
	for name, pass := range map[string]bool{"accepted": true, "sent back": false} {
		w := world(t)
		w.Judge.Say = func(in think.JudgeInput) (think.Judgement, error) {
			w.Clock.Add(4 * time.Minute)
			if !pass {
				return think.Judgement{Evidence: "not seen"}, nil
			}
			return steptest.Pass(in, "seen"), nil
		}
		w.Dispatch([]message.Criterion{steptest.Weighed("t1")}, steptest.Task("a", steptest.Checked("c1", "fine")))
		finish(t, w)
		if err := w.Next(message.MetaValidator, Run); err != nil {
			t.Fatal(err)
		}
		var elapsed int64
		for _, r := range requests(w) {
			elapsed = r.ElapsedMS
		}
		for _, s := range summaries(w) {
			elapsed = s.ElapsedMS
		}
		if want := int64(len(w.Judge.Asked)) * (4 * time.Minute).Milliseconds(); elapsed < want || elapsed > want+1000 {
			t.Errorf("%s: %d ms, of which %d were the judging", name, elapsed, want)
		}
	}
}
