package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"orch/blackboard/message"
	"orch/roles/think/fakemodel"
)

// stubborn is the greeting's model, but its first plans do not work: the n-th
// plan goes way-n, and only way-good writes what was asked.
func stubborn(good int) []fakemodel.Rule {
	var plans atomic.Int64
	planner := fakemodel.Rule{Name: "planner", When: fakemodel.When{System: asPlanner}, Func: func(fakemodel.Request) fakemodel.Reply {
		way := fmt.Sprintf("way-%d", plans.Add(1))
		return *text(fmt.Sprintf(`{"task_criteria":[{"criterion":"the greeting is there","check":{"file":{"path":"hello.txt","contains":"hello"}}}],
 "tasks":[{"slot":"greet","intent":"write a greeting into hello.txt by %[1]s","approach":"%[1]s","target":"%[1]s.txt","targets":["hello.txt"],
 "criteria":[{"criterion":"hello.txt greets","check":{"file":{"path":"hello.txt","contains":"hello"}}}]}]}`, way))
	}}
	executor := fakemodel.Rule{Name: "executor", When: fakemodel.When{System: asExecutor, Turn: 1}, Func: func(r fakemodel.Request) fakemodel.Reply {
		content := "no greeting at all\n"
		if strings.Contains(string(r.Body), fmt.Sprintf("way-%d", good)) {
			content = "hello dear friend\n"
		}
		return *calls("write_file", map[string]any{"path": "hello.txt", "content": content})
	}}
	return append([]fakemodel.Rule{planner, executor}, greeting()...)
}

func TestAModelReplansTwice(t *testing.T) {
	t.Parallel()
	for _, b := range backends[:2] {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			srv := serve(t, stubborn(3))
			root := project(t, "models: {default: "+asked(srv, b.backend, b.path, b.stream)+"}"+strings.Replace(quick, "crashes: 1", "crashes: 1, corrections: 0", 1))
			orch(t, root, "run", "--yes", "greet me").want(t, 0, "plan 1", "plan 2", "plan 3", "result      done", "2 replans")
			rows, total := costs(t, root, "round")
			if len(rows) != 3 || total.Unpriced != 0 {
				t.Errorf("rounds %+v", rows)
			}
			orch(t, root, "replay").want(t, 0)
		})
	}
}

func TestAModelGivesUpWithNextMoves(t *testing.T) {
	t.Parallel()
	for _, b := range backends[:2] {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			srv := serve(t, stubborn(1000))
			root := project(t, "models: {default: "+asked(srv, b.backend, b.path, b.stream)+"}"+strings.Replace(quick, "crashes: 1", "crashes: 1, corrections: 0", 1))
			orch(t, root, "run", "--yes", "--max-replans", "2", "greet me").want(t, 3, "result      given up",
				"try: choose a language for the greeting", "try: allow the network", "hello.txt greets")
			rows, _ := costs(t, root, "role")
			if rows["ggs"].ModelCalls != 1 {
				t.Errorf("the next moves are not counted: %+v", rows)
			}
		})
	}
}

func TestAModelAsksAtMostTwice(t *testing.T) {
	t.Parallel()
	for _, b := range backends[:2] {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			asks := fakemodel.Rule{Name: "asks", When: fakemodel.When{System: asPerceiver}, Reply: text(`{"intent":"greet somebody","questions":["whom?"]}`)}
			srv := serve(t, []fakemodel.Rule{asks}, greeting())
			root := project(t, "models: {default: "+asked(srv, b.backend, b.path, b.stream)+"}"+quick)
			orch(t, root, "run", "--later", "greet me").want(t, 0)
			for _, answer := range []string{"my friend bob", "as warmly as can be"} {
				orch(t, root, "step", "perceiver").want(t, 0)
				orch(t, root, "status").want(t, 0, "SUSPENDED")
				orch(t, root, "answer", answer).want(t, 0)
			}
			orch(t, root, "run", "--continue").want(t, 0, "understood  greet somebody", "result      done")
			questions := bodies[message.ClarificationQuestion](t, root, "ClarificationQuestion")
			if len(questions) != 2 || questions[1].Round != 2 {
				t.Errorf("it asked %+v", questions)
			}
			for _, r := range srv.Requests() {
				if strings.Contains(r.System, asPlanner) && !strings.Contains(string(r.Body), "greet somebody") {
					t.Errorf("the planner was told %s", r.Body)
				}
			}
		})
	}
}

// Nobody is there to answer: the work goes on with the best reading.
func TestAQuestionThatNobodyAnswersHoldsNothingUp(t *testing.T) {
	t.Parallel()
	asks := fakemodel.Rule{Name: "asks", When: fakemodel.When{System: asPerceiver}, Reply: text(`{"intent":"greet somebody","questions":["whom?"]}`)}
	srv := serve(t, []fakemodel.Rule{asks}, greeting())
	root := project(t, "models: {default: "+asked(srv, "openai", "/v1", "true")+"}"+quick)
	orch(t, root, "run", "greet me").want(t, 0, "round 1", "whom?", "result      done")
}

// Each role on another backend: two protocols, streamed and whole, a script
// that reads JSON, and a command that acts by itself.
func TestEachRoleOnItsOwnBackend(t *testing.T) {
	t.Parallel()
	srv := serve(t, greeting())
	root := project(t, fmt.Sprintf(`models:
  perceiver: {backend: exec, options: {command: "sh see.sh", format: json}}
  planner: %s
  executor: {backend: exec, options: {command: "sh act.sh"}}
  agent-validator: %s
  meta-validator: %s
`, asked(srv, "anthropic", "", "true"), asked(srv, "openai", "/v1", "false"), asked(srv, "openai", "/v1", "true"))+quick)
	write(t, filepath.Join(root, "see.sh"), "cat > seen.json\nprintf '{\"version\":1,\"text\":\"{\\\\\"intent\\\\\":\\\\\"greet a friend\\\\\"}\"}'\n")
	write(t, filepath.Join(root, "act.sh"), "cat > prompt.txt\nprintf 'hello dear friend' > hello.txt\necho 'hello.txt says: hello dear friend'\n")
	for _, script := range []string{"see.sh", "act.sh"} { // an agent starts where it works, not where its command was written
		path := filepath.Join(root, script)
		cfg := filepath.Join(root, ".orch", "config.yaml")
		raw, err := os.ReadFile(cfg)
		if err != nil {
			t.Fatal(err)
		}
		write(t, cfg, strings.ReplaceAll(string(raw), "sh "+script, "sh "+path))
	}
	orch(t, root, "run", "--yes", "greet me").want(t, 0, "result      done", "greet a friend")
	models, total := costs(t, root, "model")
	for _, want := range []string{"anthropic:fake", "openai:fake", "exec:sh"} {
		if models[want].ModelCalls == 0 {
			t.Errorf("%s was not asked: %+v", want, models)
		}
	}
	if total.Unpriced == 0 || models["exec:sh"].cost() != "unknown" {
		t.Errorf("what a script costs is known: %+v", models)
	}
}
