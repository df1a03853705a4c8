package main

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orch/blackboard/message"
	"orch/roles/think/fakemodel"
)

// cheapInput are limits and prices under which a question costs what its answer does.
var cheapInput = strings.Replace(quick, "in: 1, out: 10, cached: 0.1", "in: 0.01, out: 10, cached: 0.01", 1)

// brief is an entry whose answers have at most 100 tokens.
func brief(srv *fakemodel.Server) string {
	return strings.Replace(asked(srv, "openai", "/v1", "true"), "options: {", "options: {max_output_tokens: '100', ", 1)
}

func TestACapStopsAndARaisedCapGoesOn(t *testing.T) {
	t.Parallel()
	srv := serve(t, greeting())
	root := project(t, "models: {default: "+brief(srv)+"}"+cheapInput)
	// Each question costs 0.00101, and may cost a little more: two of them fit.
	orch(t, root, "run", "--max-cost", "0.0025", "greet me").want(t, 4, "budget", "the cap on cost is reached", "orch resume --max-cost N")
	spent := func() float64 { _, total := costs(t, root, "goal"); return total.CostUSD }
	first := spent()
	if first < 0.002 || first > 0.0025 {
		t.Errorf("it spent $%g under a cap of $0.0025", first)
	}
	orch(t, root, "resume").want(t, 0)
	orch(t, root, "run", "--continue").want(t, 4, "the cap on cost is reached")
	if now := spent(); now != first {
		t.Errorf("it spent $%g more under the same cap", now-first)
	}
	orch(t, root, "resume", "--max-cost", "0.001").want(t, 2, "has cost $0.00")
	orch(t, root, "resume", "--max-cost", "1").want(t, 0)
	orch(t, root, "run", "--continue").want(t, 0, "result      done")
	if spent() <= first {
		t.Error("nothing more was spent")
	}
	wantWhole(t, root)
	orch(t, root, "replay").want(t, 0)
}

// wantWhole compares the result of the board's one goal with what its steps
// took: the last one, which judged it, included.
func wantWhole(t *testing.T, root string) {
	t.Helper()
	final := bodies[message.FinalResult](t, root, "FinalResult")
	var said struct {
		Goals []goalRow `json:"goals"`
	}
	if err := json.Unmarshal([]byte(orch(t, root, "goals", "--json").out), &said); err != nil {
		t.Fatal(err)
	}
	if len(final) != 1 || len(said.Goals) != 1 {
		t.Fatalf("%d results of %d goals", len(final), len(said.Goals))
	}
	if f, g := final[0], said.Goals[0]; f.Cost != g.Cost || f.ElapsedMS < g.ActiveMS {
		t.Errorf("the result says $%g and %d ms, the goal took $%g and %d ms", f.Cost, f.ElapsedMS, g.Cost, g.ActiveMS)
	}
}

func TestCapsOfRolesAndTasks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ budget, want string }{
		"role": {"budget: {role: {planner: 0.0015}}", "the cap on cost of the role planner is reached"},
		"task": {"budget: {task: 0.003}", "the cap on cost of the task"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := serve(t, greeting())
			root := project(t, "models: {default: "+brief(srv)+"}\n"+c.budget+cheapInput)
			orch(t, root, "run", "greet me").want(t, 4, c.want, "next: orch resume")
			if _, total := costs(t, root, "goal"); total.CostUSD < 0.001 || total.CostUSD > 0.0055 {
				t.Errorf("it spent $%g", total.CostUSD)
			}
			write(t, filepath.Join(root, ".orch", "config.yaml"), "models: {default: "+brief(srv)+"}"+cheapInput)
			orch(t, root, "resume").want(t, 0)
			orch(t, root, "run", "--continue").want(t, 0, "result      done")
		})
	}
}

func TestAnUnknownPriceIsNeverZero(t *testing.T) {
	t.Parallel()
	srv := serve(t, greeting())
	root := project(t, "models: {default: "+asked(srv, "openai", "/v1", "true")+"}")
	orch(t, root, "run", "--max-cost", "1", "greet me").want(t, 2, "a cap on cost can not be kept", "hint: add prices.fake")
	if _, err := os.Stat(filepath.Join(root, ".orch", "log.jsonl")); err == nil {
		t.Error("a refused run wrote a log")
	}
	orch(t, root, "run", "greet me").want(t, 0, "result      done")
	orch(t, root, "cost").want(t, 0, "unknown")
	rows, total := costs(t, root, "role")
	if rows["planner"].cost() != "unknown" || total.Unpriced == 0 || total.CostUSD != 0 {
		t.Errorf("rows %+v, total %+v", rows, total)
	}
}

func TestAStatedCostComesBeforeTheTable(t *testing.T) {
	t.Parallel()
	usd := 0.5
	reply := *text(`{"intent":"greet"}`)
	reply.Cost = &usd
	srv := serve(t, []fakemodel.Rule{{Name: "states its cost", When: fakemodel.When{System: asPerceiver}, Reply: &reply}}, greeting())
	root := project(t, "models: {default: "+asked(srv, "openai", "/v1", "true")+"}"+quick)
	orch(t, root, "run", "greet me").want(t, 0)
	if rows, _ := costs(t, root, "role"); rows["perceiver"].CostUSD != 0.5 {
		t.Errorf("rows %+v", rows)
	}
}

func TestWhatCanNotWorkIsRefusedAtTheStart(t *testing.T) {
	srv := serve(t, greeting())
	entry := asked(srv, "openai", "/v1", "true")
	for name, c := range map[string]struct{ config, want string }{
		"a weaker judge":            {"models: {default: " + entry + ", planner: " + strings.Replace(entry, "{backend", "{tier: 3, backend", 1) + "}", "meta-validator thinks at tier 1, below the planner's tier 3"},
		"a planner alone":           {"models: {planner: " + entry + "}", "what a model plans only a model can work on and judge"},
		"no key":                    {"models: {default: {backend: openai, name: m, options: {key_env: NO_SUCH_KEY}}}", "NO_SUCH_KEY is not set"},
		"an unknown option":         {"models: {default: {backend: openai, name: m, options: {base_url: 'http://127.0.0.1:1', colour: red}}}", "option colour is unknown"},
		"an agent that is not here": {"models: {default: {backend: exec, options: {command: no-such-agent}}}", "no-such-agent"},
		"the same second opinion":   {"models: {default: " + entry + ", crosscheck: " + entry + "}", "the crosscheck thinks with openai fake"},
	} {
		t.Run(name, func(t *testing.T) {
			root := project(t, c.config)
			orch(t, root, "run", "greet me").want(t, 2, c.want, "hint: ")
			if _, err := os.Stat(filepath.Join(root, ".orch", "log.jsonl")); err == nil {
				t.Error("a refused run wrote a log")
			}
			orch(t, root, "doctor").want(t, 2, c.want)
		})
	}
	if n := len(srv.Requests()); n != 0 {
		t.Errorf("a model was asked %d times", n)
	}
}

// A role of a playbook run is handed to a model; the others stay as they are.
func TestAPlaybookRunMayHaveAModelForARole(t *testing.T) {
	t.Parallel()
	srv := serve(t, []fakemodel.Rule{says("perceiver", asPerceiver, `{"intent":"make the tests pass","tags":["tests"]}`)})
	root := project(t, "models: {perceiver: "+asked(srv, "anthropic", "", "true")+"}"+quick)
	write(t, filepath.Join(root, "Makefile"), "test:\n\t@echo fine\n")
	orch(t, root, "run", "make the tests pass").want(t, 0, "result ")
	rows, _ := costs(t, root, "role")
	if rows["perceiver"].ModelCalls != 1 || rows["planner"].ModelCalls != 0 {
		t.Errorf("rows %+v", rows)
	}
}

func TestADryRunShowsAModelsPlan(t *testing.T) {
	t.Parallel()
	srv := serve(t, greeting())
	root := project(t, "models: {default: "+asked(srv, "openai", "/v1", "true")+"}"+quick)
	orch(t, root, "run", "--dry-run", "greet me").want(t, 0, "greet/write-file", "nothing is written", "model calls", "it sounds friendly")
	if _, err := os.Stat(filepath.Join(root, ".orch", "log.jsonl")); err == nil {
		t.Error("a dry run wrote a log")
	}
}

func TestDoctorShowsWhatIsFoundAndUsed(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "project")
	if err := os.MkdirAll(filepath.Join(root, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, "bin", "claude"), "#!/bin/sh\nexit 1\n")
	if err := os.Chmod(filepath.Join(root, "bin", "claude"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := orchCommand(root, "doctor")
	cmd.Env = append(cmd.Env, discoverEnv+"=on", "DEEPSEEK_API_KEY=sk-very-secret-indeed", "PATH="+filepath.Join(root, "bin"))
	raw, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, raw)
	}
	for _, want := range []string{"the agent claude at", "a key in DEEPSEEK_API_KEY for deepseek-chat", "planner "} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("%q is not in\n%s", want, raw)
		}
	}
	if strings.Contains(string(raw), "very-secret") {
		t.Error("it shows a key")
	}
}

// A stub on PATH is found and announced; the goal remembers it and its cap.
func TestWhatIsFoundIsAnnouncedAndCapped(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "project")
	if err := os.MkdirAll(filepath.Join(root, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, "bin", "codex"), "#!/bin/sh\nexit 1\n")
	if err := os.Chmod(filepath.Join(root, "bin", "codex"), 0o755); err != nil {
		t.Fatal(err)
	}
	in := func(args ...string) string {
		cmd := orchCommand(root, args...)
		cmd.Env = append(cmd.Env, discoverEnv+"=on", "PATH="+filepath.Join(root, "bin"))
		raw, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, raw)
		}
		return string(raw)
	}
	if l, err := net.DialTimeout("tcp", "127.0.0.1:11434", 100*time.Millisecond); err == nil {
		l.Close()
		t.Log("an Ollama of this machine comes first")
		return
	}
	said := in("run", "--later", "greet me")
	for _, want := range []string{"nothing is configured, so every role uses the agent codex", "up to $5", "no cap can be kept"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in %s", want, said)
		}
	}
	got := bodies[message.UserInput](t, root, "UserInput")
	if len(got) != 1 || got[0].Found == nil || got[0].Found.Options["preset"] != "codex" || got[0].Budget.MaxCost != 5 {
		t.Errorf("the goal remembers %+v", got)
	}
	// By name a playbook is taken at once, and a fact needs no thinking.
	if said := in("run", "--later", "--playbook", "tests-green", "them"); strings.Contains(said, "note:") {
		t.Errorf("a playbook by name: %s", said)
	}
}
