package thinker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"orch/blackboard/message"
	"orch/roles/think"
)

const codePlan = `{"task_criteria":[{"criterion":"go test ./... exits 0"}],"spec_gaps":["no limit is named"],"tasks":[
	{"slot":"retry","intent":"Retry calls","approach":"wrap","target":"api","spec_ref":"spec.md#retry","done_when":"a 429 is tried again","scope":"api",
	 "targets":["api/"],"depends_on":["client"],"priority":5},
	{"slot":"docs","intent":"Describe it","approach":"write","spec_ref":"spec.md","done_when":"the file ` + "`docs/retry.md`" + ` exists","scope":"docs","exempt_from_tests":true}]}`

func TestAPlanForCoders(t *testing.T) {
	th, s := thinker(t, said1(codePlan))
	got, err := th.Plan(context.Background(), think.PlanInput{Spec: message.TaskSpec{Intent: "Retry"}, Code: &think.CodePlan{SpecRef: "spec.md", Spec: "It retries."}})
	if err != nil {
		t.Fatal(err)
	}
	retry, docs := got.Tasks[0], got.Tasks[1]
	if retry.SpecRef != "spec.md#retry" || retry.DoneWhen != "a 429 is tried again" || retry.Scope != "api" || retry.ExemptFromTests ||
		fmt.Sprint(retry.DependsOn, retry.Targets, retry.Priority) != "[client] [api/] 5" || !docs.ExemptFromTests || fmt.Sprint(got.SpecGaps) != "[no limit is named]" {
		t.Errorf("%+v", got)
	}
	if asked := s.Asked()[0]; asked.Role != "planner-code" || !strings.Contains(asked.Turns[0].Text, "It retries.") || !strings.Contains(string(asked.Input), `"spec_ref":"spec.md"`) {
		t.Errorf("asked %+v", asked)
	}
}

func TestReviewOfAPlan(t *testing.T) {
	in := think.PlanReviewInput{Word: "k7q2m4", Spec: message.TaskSpec{Intent: "Retry"}, Tasks: []message.SubTask{{ID: "t", Slot: "retry", Intent: "Retry calls", DoneWhen: "a 429 is tried again"}}}
	for _, c := range []struct {
		answer string
		want   string // empty when it can not be read
	}{
		{`{"decision":"accept","reason":"it covers the spec"}`, ""},
		{`{"word":"guess","decision":"accept","reason":"it covers the spec"}`, ""},
		{`{` + w + `"decision":"accept","reason":"fine"} {` + w + `"decision":"reject","reason":"no","problems":[{"problem":"a gap","fix":"fill it"}]}`, ""},
		{`{"decision":"accept","reason":"said the plan"} {` + w + `"decision":"reject","reason":"a gap","problems":[{"problem":"a gap","fix":"fill it"}]}`, "false a gap [{ a gap fill it}]"},
		{`{` + w + `"decision":"accept","reason":"it covers the spec"}`, "true it covers the spec []"},
		{`{` + w + `"decision":"reject","reason":"a gap","problems":[{"slot":"retry","problem":"no limit","fix":"name one"}]}`, "false a gap [{retry no limit name one}]"},
		{`{` + w + `"decision":"reject","reason":"I do not like it"}`, ""},
		{`{` + w + `"decision":"accept","reason":"fine","problems":[{"problem":"a gap","fix":"fill it"}]}`, ""},
		{`{` + w + `"decision":"maybe","reason":"hm"}`, ""},
	} {
		th, s := thinker(t, said1(c.answer), said1(c.answer))
		got, err := th.ReviewPlan(context.Background(), in)
		var unusable *think.UnusableError
		if c.want == "" {
			if !errors.As(err, &unusable) || len(s.Asked()) != 2 {
				t.Errorf("%s: %v after %d questions", c.answer, err, len(s.Asked()))
			}
			continue
		}
		if err != nil || fmt.Sprint(got.Accepted, " ", got.Reason, " ", got.Problems) != c.want {
			t.Errorf("%s: %+v, %v", c.answer, got, err)
		}
		if asked := s.Asked()[0]; asked.Role != "plan-reviewer" || !strings.Contains(asked.Turns[0].Text, "a 429 is tried again") {
			t.Errorf("asked %+v", asked)
		}
	}
}

func TestAnswerToAWake(t *testing.T) {
	in := think.WakeInput{Kind: "blocked", Why: "blocked: no limit", May: []string{"unblock", "rescope"}, SpecText: "It retries."}
	task := `{"slot":"retry","intent":"Retry calls","approach":"wrap","spec_ref":"spec.md","done_when":"a 429 is tried again","scope":"api"}`
	for _, c := range []struct {
		answer string
		want   string // empty when it can not be used
	}{
		{`{"answer":"unblock","reason":"five times","spec_gaps":["no limit"]}`, "unblock five times  0 [no limit]"},
		{`{"answer":"rescope","reason":"two things at once","alignment":"same goal","tasks":[` + task + `]}`, "rescope two things at once same goal 1 []"},
		{`{"answer":"abandon","reason":"no"}`, ""},
		{`{"answer":"rescope","reason":"two things at once","tasks":[` + task + `]}`, ""},
		{`{"answer":"rescope","reason":"two things at once","alignment":"same","tasks":[]}`, ""},
		{`{"answer":"unblock"}`, ""},
	} {
		th, s := thinker(t, said1(c.answer), said1(c.answer))
		got, err := th.Answer(context.Background(), in)
		var unusable *think.UnusableError
		if c.want == "" {
			if !errors.As(err, &unusable) || len(s.Asked()) != 2 {
				t.Errorf("%s: %v after %d questions", c.answer, err, len(s.Asked()))
			}
			continue
		}
		if err != nil || fmt.Sprint(got.Answer, " ", got.Reason, " ", got.Alignment, " ", len(got.Tasks), " ", got.SpecGaps) != c.want {
			t.Errorf("%s: %+v, %v", c.answer, got, err)
		}
		if asked := s.Asked()[0]; asked.Role != "planner-wake" || !strings.Contains(asked.Turns[0].Text, "It retries.") || !strings.Contains(string(asked.Input), `"kind":"blocked"`) {
			t.Errorf("asked %+v", asked)
		}
	}
}
