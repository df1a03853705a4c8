package thinker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"orch/blackboard/message"
	"orch/roles/loop"
	"orch/roles/think"
)

const goodPlan = `{"task_criteria":[{"criterion":"todos.md exists","check":{"file":{"path":"todos.md"}}}],"tasks":[
	{"id":"7f","slot":"collect","intent":"List TODOs","approach":"shell:git","target":".","criteria":[{"criterion":"todos.md names api","required":false}],
	"targets":["todos.md"],"tools":["shell","teleport"],"sequence":1},
	{"slot":"areas","intent":"Group","approach":"edit","criteria":[{"criterion":"grouped by area","check":null}],"sequence":2,"depends_on":["collect"]}],"keep":["names"]}`

func before() []think.PreviousTask {
	return []think.PreviousTask{{ID: "t1", Slot: "names", Approach: "read", Target: "a", Status: message.Matched},
		{ID: "t2", Slot: "collect", Approach: "shell:find", Target: ".", Status: message.Failed}}
}

func TestPlan(t *testing.T) {
	th, s := thinker(t, said1("Here:\n```json\n"+goodPlan+"\n```"))
	got, err := th.Plan(context.Background(), think.PlanInput{Previous: before(), Spec: message.TaskSpec{Intent: "Summarise"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Tasks) != 2 || got.Tasks[0].Approach != "shell:git" || fmt.Sprint(got.Tasks[0].Tools) != "[shell]" || *got.Tasks[0].Criteria[0].Required ||
		got.Tasks[1].Criteria[0].Check != nil || fmt.Sprint(got.Tasks[1].DependsOn) != "[collect]" || fmt.Sprint(got.Keep) != "[t1]" ||
		got.Source != "script:test" || len(got.TaskCriteria) != 1 || got.TaskCriteria[0].Check == nil {
		t.Errorf("%+v", got)
	}
	if asked := s.Asked()[0]; !strings.Contains(asked.Turns[0].Text, "README.md") || asked.Role != "planner" {
		t.Errorf("asked %+v", asked)
	}
}

func TestAPlanThatCodeWouldRefuseIsSentBack(t *testing.T) {
	must := think.Constraints{MustNot: []think.Ban{{Slot: "collect", Approach: "shell:git", Source: loop.FromDirective, Because: "it failed"}}}
	for name, c := range map[string]struct{ plan, want string }{
		"blocked":          {goodPlan, `slot "collect" uses what it must not: shell:git on . (it failed)`},
		"bad check":        {`{"task_criteria":[{"criterion":"c","check":{"run":{"comand":"ls"}}}],"tasks":[{"slot":"s","intent":"i","approach":"a","criteria":[{"criterion":"c"}]}]}`, "comand"},
		"check of no kind": {`{"task_criteria":[{"criterion":"c","check":{}}],"tasks":[{"slot":"s","intent":"i","approach":"a","criteria":[{"criterion":"c"}]}]}`, "exactly one of"},
		"no criteria":      {`{"tasks":[{"slot":"s","intent":"i","approach":"a","criteria":[{"criterion":"c"}]}]}`, "task_criteria is empty"},
		"same slot":        {`{"task_criteria":[{"criterion":"c"}],"tasks":[{"slot":"s","intent":"i","approach":"a","criteria":[{"criterion":"c"}]},{"slot":"s","intent":"i","approach":"b","criteria":[{"criterion":"c"}]}]}`, `two tasks have the slot "s"`},
		"keeps a failure":  {`{"task_criteria":[{"criterion":"c"}],"keep":["collect"],"tasks":[{"slot":"s","intent":"i","approach":"a","criteria":[{"criterion":"c"}]}]}`, "no matched slot"},
		"kept and planned": {`{"task_criteria":[{"criterion":"c"}],"keep":["names"],"tasks":[{"slot":"names","intent":"i","approach":"a","criteria":[{"criterion":"c"}]}]}`, "kept and planned again"},
		"empty":            {`{"tasks":[]}`, "does not say why"},
		"no task criteria": {`{"tasks":[{"slot":"s","intent":"i","approach":"a","criteria":[]}]}`, "tasks.0.criteria"},
	} {
		t.Run(name, func(t *testing.T) {
			th, s := thinker(t, said1(c.plan), said1(c.plan))
			got, err := th.Plan(context.Background(), think.PlanInput{Previous: before(), Constraint: must})
			var unusable *think.UnusableError
			switch noPlan := name == "empty" || name == "no task criteria"; {
			case noPlan && (!errors.As(err, &unusable) || !strings.Contains(unusable.Why, c.want)), !noPlan && (err != nil || len(got.Tasks) == 0):
				t.Fatalf("%+v, %v", got, err) // a plan that can be read is the validator's to name
			}
			if turns := s.Asked()[1].Turns; !strings.Contains(turns[2].Text, c.want) {
				t.Errorf("it was told %q", turns[2].Text)
			}
		})
	}
}

func TestNoPlan(t *testing.T) {
	th, _ := thinker(t, said1(`{"tasks":[],"no_plan":"all ways are blocked"}`))
	_, err := th.Plan(context.Background(), think.PlanInput{Previous: before()})
	var none *think.NoPlanError
	if !errors.As(err, &none) || none.Why != "all ways are blocked" || fmt.Sprint(none.Slots) != "[collect]" {
		t.Errorf("%v", err)
	}
}

func TestCandidates(t *testing.T) {
	th, _ := thinker(t, said1(`{"candidates":[{"tool":"shell:git","target":"."},{"tool":" shell:find ","target":"."},{"tool":" ","target":"."}]}`), said1("prose"), said1("prose"))
	ctx := context.Background()
	got, err := th.Candidates(ctx, think.PlanInput{Previous: before()})
	if err != nil || fmt.Sprint(got) != "[{read a} {shell:find .} {shell:git .}]" {
		t.Errorf("%v, %v", got, err)
	}
	// A list that can not be read does not keep the memory from being asked.
	got, err = th.Candidates(ctx, think.PlanInput{Previous: before()})
	if err != nil || len(got) != 2 {
		t.Errorf("%v, %v", got, err)
	}
}
