package ggs

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"orch/blackboard/message"
)

func decideText(t *testing.T, text string) (decisionFile, string) {
	t.Helper()
	var out bytes.Buffer
	if err := DecideJSON(strings.NewReader(text), &out); err != nil {
		t.Fatalf("decide: %v", err)
	}
	var d decisionFile
	if err := json.Unmarshal(out.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	return d, out.String()
}

// The examples in the documentation are run, and print what it says they print.
func TestExamplesInTheDocumentation(t *testing.T) {
	doc, err := os.ReadFile("../../docs/controller.md")
	if err != nil {
		t.Fatal(err)
	}
	inputs := regexp.MustCompile("(?s)```json rounds\n(.*?)```\n.*?```text\n(.*?)\n```").FindAllStringSubmatch(string(doc), -1)
	if len(inputs) < 2 {
		t.Fatalf("found %d examples", len(inputs))
	}
	for _, in := range inputs {
		d, _ := decideText(t, in[1])
		if d.Transition != in[2] {
			t.Errorf("printed %q, documented %q", d.Transition, in[2])
		}
	}
}

func TestCompactAndFullRoundsDecideAlike(t *testing.T) {
	compact := `{"version": 1, "policy": "v0.8", "rounds": [
		{"tasks": [{"slot": "s", "approach": "a", "target": "x", "pass": ["p"], "fail": [{"criterion": "q", "class": "logical"}]}]}]}`
	in, err := ParseRounds(strings.NewReader(compact))
	if err != nil {
		t.Fatal(err)
	}
	request, err := message.Encode(*in.History.Rounds[0].Request)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := decideText(t, compact)
	b, _ := decideText(t, `{"version": 1, "policy": "v0.8", "rounds": [{"request": `+string(request)+`}]}`)
	if string(a.Directive) != string(b.Directive) || a.Transition != b.Transition {
		t.Errorf("compact\n%s\nfull\n%s", a.Directive, b.Directive)
	}
}

func TestSameInputSameOutput(t *testing.T) {
	const text = `{"version": 1, "rounds": [{"tasks": [{"approach": "a", "target": "x", "fail": [{"criterion": "q", "class": "logical"}]}]}]}`
	d, first := decideText(t, text)
	if _, second := decideText(t, text); first != second {
		t.Error("two runs differ")
	}
	if len(d.Megrams) != 1 || d.Megrams[0].ID == "" {
		t.Errorf("megrams %+v", d.Megrams)
	}
}

func TestMissingDirectivesAreFilledIn(t *testing.T) {
	round := `{"tasks": [{"slot": "s", "approach": "%", "target": "x", "fail": [{"criterion": "q", "class": "logical"}]}]}`
	text := `{"version": 1, "rounds": [` + strings.ReplaceAll(round, "%", "a") + "," + strings.ReplaceAll(round, "%", "b") + `]}`
	d, _ := decideText(t, text)
	if d.Round != 2 || !strings.HasPrefix(d.Transition, "change_approach→break_symmetry") {
		t.Errorf("got %+v", d)
	}
	if !strings.Contains(string(d.Directive), `"blocked_approaches":["a","b"]`) && !strings.Contains(string(d.Directive), `"a"`) {
		t.Errorf("what the first round blocked is lost: %s", d.Directive)
	}
}

func TestAllPassingCompactRoundAccepts(t *testing.T) {
	d, _ := decideText(t, `{"version": 1, "rounds": [{"tasks": [{"pass": ["p"]}], "goal": {"pass": ["g"]}}]}`)
	if d.Transition != "init→accept  D 0.00  P 0.50  ∇L ⊥0.00  Ω 0.00" || len(d.Result) == 0 {
		t.Errorf("got %+v", d)
	}
}

func TestErrorsNameTheField(t *testing.T) {
	const task = `{"slot": "s", "approach": "a", "pass": ["p"]}`
	for text, want := range map[string]string{
		``:                                  "ends too early",
		`{`:                                 "ends too early",
		`[]`:                                "is of type array, want an object",
		`{"version": 2, "rounds": [{}]}`:    "version: is 2, want 1",
		`{"version": 1, "rounds": []}`:      "rounds: has 0 entries",
		`{"version": 1, "rounds": 3}`:       "rounds: is of type number, want a list",
		`{"version": 1, "round": []}`:       `unknown field "round"`,
		`{"version": 1, "rounds": [{}]} {}`: "data after the end",
		`{"version": 1, "policy": "v9", "rounds": [{"tasks": [` + task + `]}]}`:                       `unknown policy "v9"`,
		`{"version": 1, "params": {"rho": 2}, "rounds": [{"tasks": [` + task + `]}]}`:                 "rho is 2, allowed: 0 to 1",
		`{"version": 1, "params": {"w1": 0}, "rounds": [{"tasks": [` + task + `]}]}`:                  "w1 is 0",
		`{"version": 1, "params": {"rho": "x"}, "rounds": [{"tasks": [` + task + `]}]}`:               "params.rho: is of type string, want a number",
		`{"version": 1, "rounds": [{}]}`:                                                              "rounds[0]: has to have exactly one of",
		`{"version": 1, "rounds": [{"tasks": [` + task + `], "plan_failure": {"violations": []}}]}`:   "exactly one of",
		`{"version": 1, "rounds": [{"tasks": [{"slot": 3}]}]}`:                                        "rounds[0].tasks[0].slot: is of type number, want a string",
		`{"version": 1, "rounds": [{"tasks": [{"slots": "s"}]}]}`:                                     `rounds[0].tasks[0]: unknown field "slots"`,
		`{"version": 1, "rounds": [{"tasks": [{"slot": "s"}]}]}`:                                      "rounds[0].tasks[0]: a task needs pass or fail",
		`{"version": 1, "rounds": [{"tasks": [{"fail": ["q"], "kind": "odd"}]}]}`:                     "rounds[0].tasks[0].kind",
		`{"version": 1, "rounds": [{"tasks": [{"fail": [{"criterion": "q", "class": "mixed"}]}]}]}`:   "rounds[0].tasks[0].fail[0].class",
		`{"version": 1, "rounds": [{"tasks": [{"fail": [{"class": "logical"}]}]}]}`:                   "rounds[0].tasks[0].fail[0]: has no criterion",
		`{"version": 1, "rounds": [{"tasks": [{"fail": [{"criterion": "q", "mood": 1}]}]}]}`:          `rounds[0].tasks[0].fail: unknown field "mood"`,
		`{"version": 1, "rounds": [{"tasks": [{"fail": [{"criterion": "q", "failed_in": 2}]}]}]}`:     "fail[0].failed_in",
		`{"version": 1, "rounds": [{"elapsed_ms": -1, "tasks": [` + task + `]}]}`:                     "below 0",
		`{"version": 1, "rounds": [{"request": {"nope": 1}}]}`:                                        `rounds[0].request: json: unknown field "nope"`,
		`{"version": 1, "rounds": [{"tasks": [` + task + `], "directive": {"directive": "accept"}}]}`: `rounds[0].directive: directive "accept"`,
		`{"version": 1, "rounds": [{"tasks": [` + task + `]}, {"tasks": [` + task + `]}]}`:            "rounds[0]: already ends the goal with accept, but 1 more follow",
	} {
		err := DecideJSON(strings.NewReader(text), new(bytes.Buffer))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n  got  %v\n  want %s", text, err, want)
			continue
		}
		var hint interface{ Hint() string }
		if !errors.As(err, &hint) {
			t.Errorf("%s: no hint", text)
		}
	}
}

func TestAnsweredLastRoundIsRefused(t *testing.T) {
	text := `{"version": 1, "rounds": [{"tasks": [{"fail": ["q"]}], "directive": {"directive": "refine"}}]}`
	err := DecideJSON(strings.NewReader(text), new(bytes.Buffer))
	var h *HistoryError
	if !errors.As(err, &h) || h.Round != 1 {
		t.Errorf("got %v", err)
	}
}

func FuzzDecideJSON(f *testing.F) {
	f.Add(`{"version": 1, "rounds": [{"tasks": [{"slot": "s", "approach": "a", "target": "x", "pass": ["p"], "fail": ["q", {"criterion": "r", "mode": "plausible", "failed_in": 1}], "attempts": 2}]}]}`)
	f.Add(`{"version": 1, "policy": "v0.8", "params": {"delta": 0.1}, "rounds": [{"plan_failure": {"plan_id": "p", "attempt": 3, "violations": []}}]}`)
	f.Add(`{"version": 1, "rounds": [{"summary": {"task_id": "g", "outcomes": []}}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		var out bytes.Buffer
		if DecideJSON(strings.NewReader(text), &out) == nil && !json.Valid(out.Bytes()) {
			t.Errorf("printed %s", out.String())
		}
	})
}
