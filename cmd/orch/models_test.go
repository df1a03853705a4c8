package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orch/blackboard/message"
	"orch/roles/think/fakemodel"
)

// Words of each role's prompt that no other has.
const (
	asPerceiver  = "You carry a person's words"
	asCandidates = "You will soon plan"
	asPlanner    = "You own the way from a goal to its result"
	asExecutor   = "You do exactly one task"
	asValidator  = "You decide one criterion: does"
	asMeta       = "You are the last check"
	asMerger     = "Several tasks have each produced"
	asNextMoves  = "Planner, when a goal was given up"
)

// reasoning is what the model of greeting thinks before it acts.
const reasoning = "a friend is best greeted as one"

// greeting is a model that plays every role of a goal whose result is hello.txt.
func greeting() []fakemodel.Rule {
	const plan = `{"task_criteria":[{"criterion":"the greeting is there","check":{"file":{"path":"hello.txt","contains":"hello"}}},{"criterion":"the greeting is friendly"}],
 "tasks":[{"slot":"greet","intent":"write a greeting into hello.txt","approach":"write-file","target":"hello.txt","targets":["hello.txt"],
 "criteria":[{"criterion":"hello.txt greets","check":{"file":{"path":"hello.txt","contains":"hello"}}},{"criterion":"it sounds friendly"}]}]}`
	act := calls("write_file", map[string]any{"path": "hello.txt", "content": "hello dear friend\n"})
	act.Reasoning = reasoning
	return []fakemodel.Rule{
		says("perceiver", asPerceiver, `{"intent":"write a friendly greeting into hello.txt","tags":["greeting"]}`),
		says("candidates", asCandidates, `{"candidates":[{"tool":"write-file","target":"hello.txt"}]}`),
		says("planner", asPlanner, plan),
		{Name: "executor", When: fakemodel.When{System: asExecutor, Turn: 1}, Reply: act},
		{Name: "executor reports", When: fakemodel.When{System: asExecutor}, Reply: text(`{"status":"completed","output":"hello.txt says: hello dear friend"}`)},
		says("validator", asValidator, `{"word":"{{word}}","verdict":"pass","evidence":"it calls the reader a friend","record":"R1","quote":"hello dear friend"}`),
		says("meta-validator", asMeta, `{"word":"{{word}}","verdict":"pass","evidence":"it calls the reader a friend","record":"R1","quote":"hello dear friend"}`),
		says("merger", asMerger, `{"summary":"a greeting was written","output":"hello.txt says: hello dear friend"}`),
		says("next moves", asNextMoves, `{"next_moves":["choose a language for the greeting","allow the network"]}`),
	}
}

func says(name, system, answer string) fakemodel.Rule {
	return fakemodel.Rule{Name: name, When: fakemodel.When{System: system}, Reply: text(answer)}
}

func text(answer string) *fakemodel.Reply {
	return &fakemodel.Reply{Text: answer, Usage: fakemodel.Usage{Input: 1000, Output: 100, Cached: 400}}
}

func calls(tool string, input map[string]any) *fakemodel.Reply {
	return &fakemodel.Reply{Calls: []fakemodel.Call{{ID: "c1", Name: tool, Input: input}}, Usage: fakemodel.Usage{Input: 1000, Output: 100}}
}

// serve is a fake model server that lives as long as the test.
func serve(t *testing.T, rules ...[]fakemodel.Rule) *fakemodel.Server {
	t.Helper()
	var all []fakemodel.Rule
	for _, r := range rules {
		all = append(all, r...)
	}
	srv, err := fakemodel.Listen(fakemodel.Script{Rules: all}, "127.0.0.1:0", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.Close() })
	return srv
}

// backends are the two protocols, each streamed and whole.
var backends = []struct{ name, backend, path, stream string }{
	{"openai", "openai", "/v1", "true"}, {"anthropic", "anthropic", "", "true"},
	{"openai whole", "openai", "/v1", "false"}, {"anthropic whole", "anthropic", "", "false"},
}

// asked is one entry of models that asks a server.
func asked(srv *fakemodel.Server, backend, path, stream string) string {
	return fmt.Sprintf("{backend: %s, name: fake, options: {base_url: %q, stream: %q}}", backend, srv.URL()+path, stream)
}

// quick are limits under which a test need not wait: an outage is given up at
// the first try.
const quick = `
limits: {crashes: 1, model_retries: 0, model_idle_ms: 120000, model_wall_ms: 120000, pause_ms: 3600000, outage_ms: 0}
prices: {"fake*": {in: 1, out: 10, cached: 0.1}}
`

// project is a directory with a configuration.
func project(t *testing.T, config string) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "project")
	if err := os.MkdirAll(filepath.Join(root, ".orch"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, ".orch", "config.yaml"), config)
	return root
}

// ran is what a command line did.
type ran struct {
	code     int
	out, err string
}

func orch(t *testing.T, root string, args ...string) ran {
	t.Helper()
	cmd := orchCommand(root, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return ran{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

func (r ran) want(t *testing.T, code int, parts ...string) {
	t.Helper()
	if r.code != code {
		t.Fatalf("exit %d, want %d\n%s\n%s", r.code, code, r.out, r.err)
	}
	for _, p := range parts {
		if !strings.Contains(r.out+r.err, p) {
			t.Errorf("%q is not in\n%s\n%s", p, r.out, r.err)
		}
	}
}

// costs is what orch cost says in JSON.
func costs(t *testing.T, root, by string) (rows map[string]costRow, total costRow) {
	t.Helper()
	r := orch(t, root, "cost", "--by", by, "--json")
	r.want(t, 0)
	var said struct {
		Rows  []costRow `json:"rows"`
		Total costRow   `json:"total"`
	}
	if err := json.Unmarshal([]byte(r.out), &said); err != nil {
		t.Fatal(err)
	}
	rows = map[string]costRow{}
	for _, row := range said.Rows {
		rows[row.Key] = row
	}
	return rows, said.Total
}

func TestAModelBringsAGoalToItsEnd(t *testing.T) {
	t.Parallel()
	for _, b := range backends {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			srv := serve(t, greeting())
			root := project(t, "models: {default: "+asked(srv, b.backend, b.path, b.stream)+"}"+quick)
			orch(t, root, "run", "greet me").want(t, 0, "result      done", "hello dear friend")
			orch(t, root, "verify").want(t, 0)
			rows, total := costs(t, root, "role")
			if total.ModelCalls == 0 || total.CostUSD <= 0 || total.Unpriced != 0 || rows["executor"].ModelCalls != 2 {
				t.Errorf("rows %+v, total %+v", rows, total)
			}
			// perceiver, candidates, plan, 2 of the executor, 1 criterion and 1 of the goal, each twice
			if total.ModelCalls != 9 {
				t.Errorf("%d model calls", total.ModelCalls)
			}
			if !slices.ContainsFunc(srv.Requests(), func(r fakemodel.Request) bool { return strings.Contains(string(r.Body), reasoning) }) {
				t.Error("what the model thought before its call did not go back to it")
			}
			models, _ := costs(t, root, "model")
			if m := models[b.backend+":fake"]; m.ModelCalls != 9 || m.InputTokens != 9000 {
				t.Errorf("by model: %+v", models)
			}
		})
	}
}

// bodies reads every message of a type from the log.
func bodies[T any](t *testing.T, root string, typ message.Type) (all []T) {
	t.Helper()
	r := orch(t, root, "log", "--type", string(typ), "--json")
	for line := range strings.Lines(r.out) {
		var m struct {
			Payload T `json:"payload"`
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, m.Payload)
	}
	return all
}
