package playbook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"orch/blackboard/message"
	"orch/roles/think"
)

// fakeFacts is a workspace of names.
type fakeFacts struct {
	files    map[string]string
	commands map[string]bool
}

func (f fakeFacts) Sub(dir string) Facts {
	below := fakeFacts{map[string]string{}, f.commands}
	for name, text := range f.files {
		if rest, ok := strings.CutPrefix(name, dir+"/"); ok {
			below.files[rest] = text
		}
	}
	return below
}
func (f fakeFacts) Dirs(int) []string     { return nil }
func (f fakeFacts) Exists(p string) bool  { _, ok := f.files[p]; return ok }
func (f fakeFacts) Command(n string) bool { return f.commands[n] }
func (f fakeFacts) Digest(globs []string) string {
	if len(globs) == 0 {
		return ""
	}
	return fmt.Sprint(len(f.files), f.files["input"])
}
func (f fakeFacts) Glob(pattern string) bool {
	for name := range f.files {
		if name == pattern || strings.HasSuffix(name, strings.TrimPrefix(pattern, "**/*")) {
			return true
		}
	}
	return false
}
func (f fakeFacts) Read(p string) ([]byte, error) {
	if text, ok := f.files[p]; ok {
		return []byte(text), nil
	}
	return nil, errors.New("no such file")
}

const alternatives = `name: alt
describe: alternatives
match: {words: [[go]]}
params:
  - {name: n, type: int, default: "1"}
task_criteria:
  - criterion: done
    check: {run: {command: "true"}}
subtasks:
  - slot: prepare
    intent: prepare
    sequence: 1
    read_only: true
    inputs: input
    criteria: [{criterion: prepared, check: {run: {command: "true"}}}]
    approaches: [{name: look, target: all, steps: [{run: ls}]}]
  - slot: work
    intent: work
    sequence: 2
    depends_on: prepare
    criteria: [{criterion: worked, check: {run: {command: "true"}}}]
    approaches:
      - name: first
        targets: [{target: a}, {target: b}, {target: c, when: {file: c}}]
        variants: [{name: one}, {name: two, set: {n: "2"}}, {name: three, set: {n: "3"}}]
        steps: [{run: "echo ${target} ${n}"}]
      - name: remedy:x
        when_seen: 'x is missing'
        target: x
        steps: [{run: echo x}]
      - {name: second, target: a, steps: [{run: echo second}]}
      - {name: absent, when: {command: nowhere}, target: a, steps: [{run: echo absent}]}
      - {name: third, target: t, steps: [{run: echo third}]}
`

func altBackend(t testing.TB, facts fakeFacts) *Backend {
	t.Helper()
	p, err := Decode("alt.yaml", []byte(alternatives))
	if err != nil {
		t.Fatal(err)
	}
	b, err := New(Options{Library: &Library{list: []*Playbook{p}}, Orch: "/orch", Facts: func(string) Facts { return facts }})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func input(previous []think.PreviousTask, d *message.PlanDirective) think.PlanInput {
	return think.PlanInput{Goal: "g", Spec: message.TaskSpec{RawInput: "go", Intent: "go"}, Previous: previous, Directive: d}
}

func failed(approach, target, why string) think.PreviousTask {
	return think.PreviousTask{ID: message.TaskID(approach + target), Slot: "work", Approach: approach, Target: target, Status: message.Failed, Reason: why}
}

var prepared = think.PreviousTask{ID: "p", Slot: "prepare", Approach: "look", Target: "all", Status: message.Matched}

func directive(kind message.Directive, edit func(*message.TaskDirective)) *message.PlanDirective {
	d := message.TaskDirective{Slot: "work", Directive: kind}
	if edit != nil {
		edit(&d)
	}
	return &message.PlanDirective{Directive: kind, TaskDirectives: []message.TaskDirective{d}}
}

// TestPlanFollowsDirectives: what is planned next for a slot, after what failed.
func TestPlanFollowsDirectives(t *testing.T) {
	pair := func(a, b string) *message.Pair { return &message.Pair{Tool: a, Target: b} }
	for _, c := range []struct {
		name     string
		failures []think.PreviousTask
		order    *message.PlanDirective
		mustNot  []think.Ban
		prefer   []message.Pair
		want     string // approach@target/variant, or none
	}{
		{"first plan", nil, nil, nil, nil, "first@a/one"},
		{"first plan, forbidden approach", nil, nil, []think.Ban{{Approach: "first"}}, nil, "second@a/only"},
		{"first plan, forbidden pair", nil, nil, []think.Ban{{Approach: "first", Target: "a"}}, nil, "first@b/one"},
		{"first plan, forbidden in another slot", nil, nil, []think.Ban{{Slot: "prepared", Approach: "first"}}, nil, "first@a/one"},
		{"first plan, forbidden target", nil, nil, []think.Ban{{Target: "a"}}, nil, "first@b/one"},
		{"memory prefers", nil, nil, nil, []message.Pair{*pair("third", "t")}, "third@t/only"},
		{"memory prefers a remedy", nil, nil, nil, []message.Pair{*pair("remedy:x", "x")}, "remedy:x@x/only"},
		{"memory prefers what is forbidden", nil, nil, []think.Ban{{Approach: "third"}}, []message.Pair{*pair("third", "t")}, "first@a/one"},
		{"memory prefers what can't be", nil, nil, nil, []message.Pair{*pair("absent", "a")}, "first@a/one"},

		{"refine", []think.PreviousTask{failed("first", "a", "")}, directive(message.Refine, nil), nil, nil, "first@a/two"},
		{"refine again", []think.PreviousTask{failed("first", "a", ""), failed("first", "a", "")}, directive(message.Refine, nil), nil, nil, "first@a/three"},
		{"refine past the last variant", []think.PreviousTask{failed("first", "a", ""), failed("first", "a", ""), failed("first", "a", ""), failed("first", "a", "")}, directive(message.Refine, nil), nil, nil, "first@a/three"},
		{"refine keeps", []think.PreviousTask{failed("first", "a", ""), failed("second", "a", "")}, directive(message.Refine, func(d *message.TaskDirective) { d.Keep = pair("second", "a") }), nil, nil, "second@a/only"},
		{"refine returns", []think.PreviousTask{failed("first", "b", ""), failed("second", "a", "")}, directive(message.Refine, func(d *message.TaskDirective) { d.ReturnTo = pair("first", "b") }), nil, nil, "first@b/two"},
		{"refine what is forbidden", []think.PreviousTask{failed("first", "a", "")}, directive(message.Refine, nil), []think.Ban{{Approach: "first"}}, nil, "second@a/only"},

		{"change path", []think.PreviousTask{failed("first", "a", "")}, directive(message.ChangePath, nil), nil, nil, "first@b/one"},
		{"change path stays with its approach", []think.PreviousTask{failed("first", "a", "x is missing")}, directive(message.ChangePath, nil), nil, nil, "first@b/one"},
		{"change path without another target", []think.PreviousTask{failed("second", "a", ""), failed("first", "a", ""), failed("first", "b", "")}, directive(message.ChangePath, nil), nil, nil, "third@t/only"},
		{"change path, pair blocked", []think.PreviousTask{failed("first", "a", "")}, directive(message.ChangePath, func(d *message.TaskDirective) { d.BlockedPairs = []message.Pair{*pair("first", "b")} }), nil, nil, "second@a/only"},

		{"change approach", []think.PreviousTask{failed("first", "a", "")}, directive(message.ChangeApproach, nil), nil, nil, "second@a/only"},
		{"change approach, remedy by evidence", []think.PreviousTask{failed("first", "a", "x is missing")}, directive(message.ChangeApproach, nil), nil, nil, "remedy:x@x/only"},
		{"change approach, blocked ones", []think.PreviousTask{failed("first", "a", "")}, directive(message.ChangeApproach, func(d *message.TaskDirective) { d.BlockedApproaches = []string{"second"} }), nil, nil, "third@t/only"},
		{"change approach back to another target", []think.PreviousTask{failed("first", "a", ""), failed("second", "a", "")}, directive(message.ChangeApproach, nil), nil, nil, "first@b/one"},

		{"break symmetry", []think.PreviousTask{failed("first", "a", ""), failed("second", "a", "")}, directive(message.BreakSymmetry, nil), nil, nil, "third@t/only"},
		{"break symmetry with nothing left", []think.PreviousTask{failed("first", "a", ""), failed("second", "a", ""), failed("third", "t", "")}, directive(message.BreakSymmetry, nil), nil, nil, "none"},
		{"everything tried", []think.PreviousTask{failed("first", "a", ""), failed("first", "b", ""), failed("second", "a", ""), failed("third", "t", "")}, directive(message.ChangePath, nil), nil, nil, "none"},
		{"directive for the whole goal", []think.PreviousTask{failed("first", "a", "")}, &message.PlanDirective{Directive: message.ChangeApproach}, nil, nil, "second@a/only"},
		{"break symmetry for the whole goal", []think.PreviousTask{failed("first", "a", ""), {ID: "z", Slot: "prepare", Approach: "second", Status: message.Failed}, prepared}, &message.PlanDirective{Directive: message.BreakSymmetry}, nil, nil, "third@t/only"},
	} {
		t.Run(c.name, func(t *testing.T) {
			previous := append([]think.PreviousTask{prepared}, c.failures...)
			in := input(previous, c.order)
			in.Constraint = think.Constraints{MustNot: c.mustNot, Prefer: c.prefer}
			if c.order == nil {
				in.Previous = nil
			}
			got := "none"
			p, err := altBackend(t, fakeFacts{}).Plan(context.Background(), in)
			var none *think.NoPlanError
			switch {
			case errors.As(err, &none):
				if len(none.Slots) != 1 || none.Slots[0] != "work" || !strings.Contains(none.Why, "third on t: ") {
					t.Errorf("no plan, but said %v: %s", none.Slots, none.Why)
				}
			case err != nil:
				t.Fatal(err)
			default:
				got = describe(t, p, "work")
			}
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func describe(t testing.TB, p think.Proposal, slot string) string {
	t.Helper()
	for _, task := range p.Tasks {
		if task.Slot == slot {
			a, err := DecodeAction(task.Action)
			if err != nil {
				t.Fatal(err)
			}
			return task.Approach + "@" + task.Target + "/" + a.Variants[0].Name
		}
	}
	return "kept"
}

func TestTransientFailureWaits(t *testing.T) {
	previous := []think.PreviousTask{prepared, failed("first", "a", "connection refused")}
	p, err := altBackend(t, fakeFacts{}).Plan(context.Background(), input(previous, directive(message.Refine, func(d *message.TaskDirective) { d.Hint = "wait" })))
	if err != nil {
		t.Fatal(err)
	}
	var a Action
	if err := json.Unmarshal(p.Tasks[0].Action, &a); err != nil || a.WaitMS != 2000 {
		t.Errorf("wait %d ms, %v; want 2000", a.WaitMS, err)
	}
}

func TestKeepsMatchedTasks(t *testing.T) {
	b := altBackend(t, fakeFacts{files: map[string]string{"input": "1"}})
	first, err := b.Plan(context.Background(), input(nil, nil))
	if err != nil {
		t.Fatal(err)
	}
	kept := prepared
	kept.Action = first.Tasks[0].Action
	previous := []think.PreviousTask{kept, failed("first", "a", "")}
	again, err := b.Plan(context.Background(), input(previous, directive(message.ChangeApproach, nil)))
	if err != nil || len(again.Keep) != 1 || again.Keep[0] != "p" || len(again.Tasks) != 1 {
		t.Errorf("keep %v, tasks %d, %v; want the prepared one kept", again.Keep, len(again.Tasks), err)
	}
	changed := altBackend(t, fakeFacts{files: map[string]string{"input": "2"}})
	again, err = changed.Plan(context.Background(), input(previous, directive(message.ChangeApproach, nil)))
	var none *think.NoPlanError
	if !errors.As(err, &none) && len(again.Keep) != 0 {
		t.Errorf("kept %v although its input changed", again.Keep)
	}
}

// TestAllMatchedButTheWhole: when only a criterion of the goal failed, what
// changes things is done differently, what only looks is kept.
func TestAllMatchedButTheWhole(t *testing.T) {
	previous := []think.PreviousTask{prepared, {ID: "w", Slot: "work", Approach: "first", Target: "a", Status: message.Matched}}
	p, err := altBackend(t, fakeFacts{}).Plan(context.Background(), input(previous, &message.PlanDirective{Directive: message.ChangeApproach}))
	if err != nil {
		t.Fatal(err)
	}
	if got := describe(t, p, "work"); got != "second@a/only" || len(p.Keep) != 1 {
		t.Errorf("got %s, kept %v", got, p.Keep)
	}
}

// TestRefusedPlanIsVaried: the same proposal would be refused for the same reason.
func TestRefusedPlanIsVaried(t *testing.T) {
	in := input(nil, nil)
	in.Violations = []message.Violation{{Rule: "must_not", What: "slot work uses the approach first", Because: "memory"}}
	b := altBackend(t, fakeFacts{})
	p, err := b.Plan(context.Background(), in)
	if err != nil || describe(t, p, "work") != "second@a/only" {
		t.Errorf("got %s, %v", describe(t, p, "work"), err)
	}
	in.Violations = []message.Violation{{Rule: "directive_not_obeyed", What: "work", Because: `change_approach orders another approach than "first"`}}
	p, err = b.Plan(context.Background(), in)
	if err != nil || describe(t, p, "work") != "second@a/only" {
		t.Errorf("got %s, %v", describe(t, p, "work"), err)
	}
	in.Violations = []message.Violation{{Rule: "fingerprint", What: "the plan equals a failed one"}}
	p, err = b.Plan(context.Background(), in)
	if err != nil || describe(t, p, "work") != "first@b/one" {
		t.Errorf("got %s, %v", describe(t, p, "work"), err)
	}
}

func drawInput(t *rapid.T) think.PlanInput {
	approaches := rapid.SampledFrom([]string{"first", "second", "third", "remedy:x", "absent", ""})
	targets := rapid.SampledFrom([]string{"a", "b", "c", "x", "t", ""})
	in := input(nil, nil)
	for range rapid.IntRange(0, 6).Draw(t, "failures") {
		f := failed(approaches.Draw(t, "approach"), targets.Draw(t, "target"), rapid.SampledFrom([]string{"", "x is missing"}).Draw(t, "why"))
		f.Status = rapid.SampledFrom([]string{message.Failed, message.Skipped, message.Matched}).Draw(t, "status")
		in.Previous = append(in.Previous, f)
	}
	for range rapid.IntRange(0, 4).Draw(t, "bans") {
		in.Constraint.MustNot = append(in.Constraint.MustNot, think.Ban{Slot: rapid.SampledFrom([]string{"", "work"}).Draw(t, "slot"),
			Approach: approaches.Draw(t, "approach"), Target: targets.Draw(t, "target"), Source: "memory"})
	}
	for range rapid.IntRange(0, 2).Draw(t, "preferences") {
		in.Constraint.Prefer = append(in.Constraint.Prefer, message.Pair{Tool: approaches.Draw(t, "approach"), Target: targets.Draw(t, "target")})
	}
	if rapid.Bool().Draw(t, "directed") {
		kind := rapid.SampledFrom([]message.Directive{message.Refine, message.ChangePath, message.ChangeApproach, message.BreakSymmetry}).Draw(t, "kind")
		in.Directive = directive(kind, func(d *message.TaskDirective) {
			if rapid.Bool().Draw(t, "returns") {
				d.ReturnTo = &message.Pair{Tool: approaches.Draw(t, "approach"), Target: targets.Draw(t, "target")}
			}
			d.BlockedApproaches = []string{approaches.Draw(t, "approach")}
		})
	}
	if rapid.Bool().Draw(t, "refused") {
		in.Violations = []message.Violation{{What: approaches.Draw(t, "approach") + " is forbidden"}}
	}
	return in
}

// TestNeverProposesAForbiddenPair: whatever was tried, ordered or preferred.
func TestNeverProposesAForbiddenPair(t *testing.T) {
	b := altBackend(t, fakeFacts{files: map[string]string{"c": ""}})
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t)
		p, err := b.Plan(context.Background(), in)
		var none *think.NoPlanError
		if errors.As(err, &none) {
			if none.Why == "" {
				t.Fatal("no plan, and no reason")
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, task := range p.Tasks {
			if ban, ok := in.Constraint.Forbidden(task.Slot, task.Approach, task.Target); ok {
				t.Fatalf("%s: %s on %s is forbidden by %+v", task.Slot, task.Approach, task.Target, ban)
			}
			if in.Directive != nil && task.Slot == "work" && in.Directive.TaskDirectives[0].BlockedApproaches[0] == task.Approach {
				t.Fatalf("%s is blocked by the controller", task.Approach)
			}
			if len(task.Criteria) == 0 || task.Action == nil {
				t.Fatalf("%s is not executable", task.Slot)
			}
		}
	})
}

// TestPlanIsDeterministic: equal inputs, equal plans.
func TestPlanIsDeterministic(t *testing.T) {
	b := altBackend(t, fakeFacts{})
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t)
		p1, err1 := b.Plan(context.Background(), in)
		p2, err2 := b.Plan(context.Background(), in)
		if !reflect.DeepEqual(p1, p2) || fmt.Sprint(err1) != fmt.Sprint(err2) {
			t.Fatalf("two plans:\n%+v %v\n%+v %v", p1, err1, p2, err2)
		}
	})
}

// TestBreakSymmetryIsDisjoint: no approach that failed in the slot comes back.
func TestBreakSymmetryIsDisjoint(t *testing.T) {
	b := altBackend(t, fakeFacts{})
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t)
		in.Directive = directive(message.BreakSymmetry, nil)
		in.Previous = append(in.Previous, failed("first", "a", ""))
		p, err := b.Plan(context.Background(), in)
		if err != nil {
			return // checked elsewhere
		}
		for _, task := range p.Tasks {
			for _, f := range in.Previous {
				if task.Slot == "work" && f.Status == message.Failed && f.Approach == task.Approach {
					t.Fatalf("%s failed and comes back", task.Approach)
				}
			}
		}
	})
}

func TestNoTestCommandIsNoPlan(t *testing.T) {
	b, err := New(Options{Library: shipped(t), Facts: func(string) Facts { return fakeFacts{} }})
	if err != nil {
		t.Fatal(err)
	}
	in := think.PlanInput{Goal: "g", Spec: message.TaskSpec{RawInput: "make the tests pass", Intent: "make the tests pass"}}
	_, err = b.Plan(context.Background(), in)
	var none *think.NoPlanError
	if !errors.As(err, &none) || !strings.Contains(none.Why, "found no test command") || !strings.Contains(none.Why, "there is no go.mod") || strings.Contains(none.Why, " is \"\"") {
		t.Errorf("err = %v, want *NoPlanError that says what was looked for, and that alone", err)
	}
}

func TestAMissingToolIsNamed(t *testing.T) {
	module := map[string]string{"go.mod": "module x\n", "x_test.go": "package x\n"}
	for name, c := range map[string]struct {
		facts fakeFacts
		tried []think.PreviousTask
		lacks string // empty: the error is a *think.NoPlanError
	}{
		"no go":                {fakeFacts{files: module}, nil, "go"},
		"nothing to test":      {fakeFacts{}, nil, ""},
		"it had its chance":    {fakeFacts{files: module}, []think.PreviousTask{{ID: "t1", Slot: "tests", Status: message.Failed}}, ""},
		"no go, and no module": {fakeFacts{files: map[string]string{"x_test.go": "package x\n"}}, nil, ""},
	} {
		b, err := New(Options{Library: shipped(t), Facts: func(string) Facts { return c.facts }})
		if err != nil {
			t.Fatal(err)
		}
		in := think.PlanInput{Goal: "g", Spec: message.TaskSpec{RawInput: "make the tests pass"}, Previous: c.tried}
		_, err = b.Plan(context.Background(), in)
		tools, lacks := errors.AsType[*think.MissingToolError](err)
		if none := new(think.NoPlanError); c.lacks == "" && (lacks || !errors.As(err, &none)) || c.lacks != "" && (!lacks || strings.Join(tools.Commands, " ") != c.lacks) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCandidatesAreThePairsThatCouldBe(t *testing.T) {
	got, err := altBackend(t, fakeFacts{}).Candidates(context.Background(), input(nil, nil))
	want := []message.Pair{{Tool: "look", Target: "all"}, {Tool: "first", Target: "a"}, {Tool: "first", Target: "b"}, {Tool: "remedy:x", Target: "x"},
		{Tool: "second", Target: "a"}, {Tool: "third", Target: "t"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestWhatTheMemoryDoubtsComesLast(t *testing.T) {
	in := input(nil, nil)
	in.Constraint.Caution = []message.Pair{{Tool: "first", Target: "a"}, {Tool: "first", Target: "b"}}
	p, err := altBackend(t, fakeFacts{}).Plan(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	if got := describe(t, p, "work"); got != "second@a/only" {
		t.Errorf("got %s", got)
	}
	in.Constraint.MustNot = []think.Ban{{Approach: "second"}, {Approach: "third"}}
	if p, err = altBackend(t, fakeFacts{}).Plan(context.Background(), in); err != nil {
		t.Fatal(err)
	}
	if got := describe(t, p, "work"); got != "first@a/one" {
		t.Errorf("with nothing else left got %s", got)
	}
}

// TestAGoalStaysWithItsPlaybook: what planned a goal plans it again, although its
// words would not fit any more; another wording than the person's takes none.
func TestAGoalStaysWithItsPlaybook(t *testing.T) {
	b := altBackend(t, fakeFacts{files: map[string]string{"input": ""}})
	first, err := b.Plan(context.Background(), input(nil, nil))
	if err != nil {
		t.Fatal(err)
	}
	in := input([]think.PreviousTask{{ID: "1", Slot: "prepare", Status: message.Failed, Action: first.Tasks[0].Action}}, nil)
	in.Spec.RawInput = "go somewhere else"
	if p, err := b.Plan(context.Background(), in); err != nil || p.Source != first.Source {
		t.Errorf("%s, %v", p.Source, err)
	}
	in = input(nil, nil)
	in.Spec.RawInput = "do not go"
	var none *NoMatchError
	if _, err := b.Plan(context.Background(), in); !errors.As(err, &none) {
		t.Errorf("err = %v: the intent %q was matched instead", err, in.Spec.Intent)
	}
	gone := strings.Replace(string(first.Tasks[0].Action), "alt@", "removed@", 1)
	in = input([]think.PreviousTask{{ID: "1", Slot: "prepare", Status: message.Failed, Action: []byte(gone)}}, nil)
	var noPlan *think.NoPlanError
	if _, err := b.Plan(context.Background(), in); !errors.As(err, &noPlan) || !strings.Contains(noPlan.Why, "is gone: removed") {
		t.Errorf("err = %v", err)
	}
}
