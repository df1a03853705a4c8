package message

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestEveryBodyNamesItself(t *testing.T) {
	for _, e := range Catalogue() {
		raw := []byte("{}")
		b, err := e.decode(raw)
		if err != nil {
			continue // bodies with their own validation are covered below
		}
		if got := Type(reflect.TypeOf(b).Name()); got != e.Type {
			t.Errorf("%s decodes to a %s", e.Type, got)
		}
		if len(e.From()) == 0 || len(e.To) == 0 {
			t.Errorf("%s has an empty route", e.Type)
		}
	}
}

func TestNilListsEncodeEmptyAndInputIsNotChanged(t *testing.T) {
	in := ReplanRequest{Outcomes: []SubTaskOutcome{{SubtaskID: "a", Status: Skipped}}}
	raw, err := Encode(in)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(raw), ":null") && strings.Contains(string(raw), `"gap_trajectory":null`) {
		t.Errorf("a list was written as null: %s", raw)
	}
	if in.Outcomes[0].GapTrajectory != nil {
		t.Error("encoding changed the body it was given")
	}
	back, err := Decode("ReplanRequest", raw)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := Encode(back)
	if string(again) != string(raw) {
		t.Errorf("round trip differs:\n%s\n%s", raw, again)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for name, c := range map[string]struct{ typ, raw, want string }{
		"unknown type":          {"Nope", `{}`, "unknown message type"},
		"unknown field":         {"Paused", `{"reason":"x","more":1}`, "unknown field"},
		"trailing data":         {"Paused", `{"reason":"x"} {}`, "after the payload"},
		"empty goal":            {"UserInput", `{"text":"","profile":"task","budget":{"time_ms":0,"max_replans":0,"max_cost":0},"strict":false,"allow":[],"yes":false}`, "text is missing"},
		"lenient outcome":       {"SubTaskOutcome", `{"status":"matched","criteria_verdicts":[{"criterion_id":"c","verdict":"fail","evidence":"e","by":"code"}]}`, "failed criterion"},
		"matched on nothing":    {"SubTaskOutcome", `{"status":"matched"}`, "without a verdict"},
		"pass without evidence": {"SubTaskOutcome", `{"status":"failed","criteria_verdicts":[{"criterion_id":"c","verdict":"pass","by":"code"}]}`, "without evidence"},
		"final replan":          {"FinalResult", `{"directive":"refine"}`, "not accept, success or abandon"},
		"bare abandon":          {"FinalResult", `{"directive":"abandon"}`, "without a next move"},
		"false accept":          {"FinalResult", `{"directive":"accept","loss":{"D":0.2}}`, "unmet"},
		"directive ends":        {"PlanDirective", `{"directive":"accept"}`, "not refine"},
		"anomaly field":         {"Anomaly", `{"task":"t","kind":"retry_loop","details":{"count":"3"}}`, "details.error_pattern"},
		"anomaly kind":          {"Anomaly", `{"task":"t","kind":"mood","details":{}}`, "kind"},
	} {
		_, err := Decode(Type(c.typ), []byte(c.raw))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", name, err, c.want)
		}
	}
}

func TestRoute(t *testing.T) {
	if err := Route("FinalResult", DoorProcess, GGS, Human); err != nil {
		t.Error(err)
	}
	for _, r := range Roles() {
		if err := Route("FinalResult", DoorProcess, r, Human); r != GGS && err == nil {
			t.Errorf("%s may end a goal", r)
		}
	}
	if Route("ReplanRequest", DoorProcess, MetaValidator, Planner) == nil {
		t.Error("the meta-validator may order the planner directly")
	}
	if Route("SubTask", DoorProcess, Planner, Human) == nil {
		t.Error("a SubTask may go to a person")
	}
}

// TestDoors has, for each door, what must not come through it.
func TestDoors(t *testing.T) {
	asks := []Type{"ReviewRequested", "Blocked", "Handoff", "Anomaly", "Discovery"}
	for _, e := range Catalogue() {
		if through := len(e.Through(DoorAgent)) > 0; through != slices.Contains(asks, e.Type) {
			t.Errorf("%s comes from an agent: %v", e.Type, through)
		}
		for _, r := range e.Through(DoorPerson) {
			if r != Human {
				t.Errorf("a person speaks as %s with %s", r, e.Type)
			}
		}
		for _, r := range append(e.Through(DoorProcess), e.Through(DoorAgent)...) {
			if r == Human || r == Board {
				t.Errorf("a process speaks as %s with %s", r, e.Type)
			}
		}
		if len(e.Sources) == 0 || len(e.To) == 0 {
			t.Errorf("nobody sends %s, or nobody gets it", e.Type)
		}
	}
	for _, typ := range []Type{"ToolCall", "ToolStarted", "ExecutionResult", "ReviewVerdict", "StepEnded", "LimitReached", "Registered", "Deregistered", "FinalResult", "Merged"} {
		for _, r := range Roles() {
			if Route(typ, DoorAgent, r, DefaultTo(typ)) == nil {
				t.Errorf("an agent below %s may say %s", r, typ)
			}
		}
	}
	if Route("Anomaly", "", Executor, Auditor) != nil {
		t.Error("a record of before there were doors is refused")
	}
}

// TestOneRowForEachType finds a type that stands in the table twice.
func TestOneRowForEachType(t *testing.T) {
	seen := map[Type]bool{}
	for _, e := range Catalogue() {
		if seen[e.Type] {
			t.Errorf("%s has two rows", e.Type)
		}
		seen[e.Type] = true
	}
}

func TestParseAgent(t *testing.T) {
	if r, err := ParseAgent("code-reviewer-12"); err != nil || r != CodeReviewer {
		t.Errorf("got %v %v", r, err)
	}
	for _, bad := range []AgentID{"", "coder", "coder1", "coder-", "my-coder-1", "Coder-1", "coder-1 "} {
		if _, err := ParseAgent(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}
