package planner

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/loop"
	"orch/roles/think"
)

func proposed(slot, approach, target string) think.ProposedTask {
	return think.ProposedTask{
		Slot: slot, Intent: "do " + slot, Approach: approach, Target: target, Priority: 100,
		Criteria: []think.CriterionSpec{{Text: "go test ./... exits 0"}},
	}
}

func good(tasks ...think.ProposedTask) think.Proposal {
	return think.Proposal{TaskCriteria: []think.CriterionSpec{{Text: "coverage is above 80 %"}}, Tasks: tasks}
}

func rules(p think.Proposal, b Basis) string {
	var names []string
	for _, v := range Validate(normalise(p), b) {
		names = append(names, v.Rule)
	}
	return strings.Join(names, " ")
}

func TestValidateShape(t *testing.T) {
	edit := func(f func(*think.Proposal)) think.Proposal {
		p := good(proposed("a", "x", "t"))
		f(&p)
		return p
	}
	task := func(f func(*think.ProposedTask)) think.Proposal {
		return edit(func(p *think.Proposal) { f(&p.Tasks[0]) })
	}
	many := good()
	for i := range MaxTasks + 1 {
		many.Tasks = append(many.Tasks, proposed(strings.Repeat("s", i+1), "x", "t"))
	}
	for name, c := range map[string]struct {
		p    think.Proposal
		want string
	}{
		"good":              {good(proposed("a", "x", "t")), ""},
		"nothing to do":     {good(), RuleEmpty},
		"too many":          {many, RuleTooMany},
		"no intent":         {task(func(x *think.ProposedTask) { x.Intent = " " }), RuleIntent},
		"no approach":       {task(func(x *think.ProposedTask) { x.Approach = "" }), RuleApproach},
		"negative sequence": {task(func(x *think.ProposedTask) { x.Sequence = -1 }), RuleSequence},
		"same slot twice":   {good(proposed("a", "x", "t"), proposed("a", "y", "t")), RuleSlot},
		"no criterion":      {task(func(x *think.ProposedTask) { x.Criteria = nil }), RuleCriteria},
		"goal without one":  {edit(func(p *think.Proposal) { p.TaskCriteria = nil }), RuleCriteria},
		"empty criterion":   {task(func(x *think.ProposedTask) { x.Criteria[0].Text = "  " }), RuleCriterion},
		"odd mode":          {task(func(x *think.ProposedTask) { x.Criteria[0].Mode = "maybe" }), RuleCriterion},
		"unknown keep":      {edit(func(p *think.Proposal) { p.Keep = []message.TaskID{"nope"} }), RuleKeep},
		"unknown slot":      {task(func(x *think.ProposedTask) { x.DependsOn = []string{"zzz"} }), RuleDependency},
		"itself":            {task(func(x *think.ProposedTask) { x.DependsOn = []string{"a"} }), RuleCycle},
		"outside":           {task(func(x *think.ProposedTask) { x.Targets = []string{"../other"} }), RuleTargetOutside},
		"absolute":          {task(func(x *think.ProposedTask) { x.Targets = []string{"/etc/passwd"} }), RuleTargetOutside},
		"windows drive":     {task(func(x *think.ProposedTask) { x.Targets = []string{`C:\x`} }), RuleTargetOutside},
		"home":              {task(func(x *think.ProposedTask) { x.Targets = []string{"~/x"} }), RuleTargetOutside},
		"the board":         {task(func(x *think.ProposedTask) { x.Targets = []string{"a/../.orch/config.yaml"} }), RuleTargetOutside},
		"git":               {task(func(x *think.ProposedTask) { x.Targets = []string{".git/hooks"} }), RuleTargetOutside},
		"inside":            {task(func(x *think.ProposedTask) { x.Targets = []string{"./a/b", ".", "..hidden"} }), ""},
	} {
		if got := rules(c.p, Basis{}); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestDependenciesMayNotLeadBackOrForward(t *testing.T) {
	a, b := proposed("a", "x", "t"), proposed("b", "x", "t")
	a.DependsOn, b.DependsOn = []string{"b"}, []string{"a"}
	if got := rules(good(a, b), Basis{}); got != RuleCycle {
		t.Errorf("a circle: %q", got)
	}
	a.DependsOn, b.Sequence = []string{"b"}, 2
	b.DependsOn = nil
	if got := rules(good(a, b), Basis{}); got != RuleDependency {
		t.Errorf("on what runs later: %q", got)
	}
	kept := Basis{Keepable: map[message.TaskID]blackboard.PlanTask{"k": {ID: "k", Slot: "b"}}}
	p := good(a)
	p.Keep = []message.TaskID{"k"}
	if got := rules(p, kept); got != "" {
		t.Errorf("on a kept task: %q", got)
	}
}

func TestCriteriaMustBeFalsifiable(t *testing.T) {
	for text, bad := range map[string]bool{
		"task completed correctly":             true,
		"The code works as expected.":          true,
		"It is good, and everything is done":   true,
		"the output is valid JSON":             false,
		"go test ./... exits 0":                false,
		"the summary names three causes":       false,
		"所有测试通过":                               false,
		"README.md mentions the --strict flag": false,
	} {
		if vague(text) != bad {
			t.Errorf("vague(%q) = %v", text, !bad)
		}
	}
}

func TestInvariant_PlanCannotReuseABlockedTool(t *testing.T) {
	b := Basis{Constraints: think.Constraints{MustNot: []think.Ban{
		{Approach: "old", Source: loop.FromDirective, Because: "round 1"}, {Slot: "a", Approach: "y", Target: "t", Source: loop.FromDirective},
	}}}
	for _, c := range []struct{ slot, approach, target, want string }{
		{"a", "old", "t", RuleMustNot}, {"b", "old", "u", RuleMustNot}, {"a", "y", "t", RuleMustNot}, {"b", "y", "t", ""}, {"a", "y", "u", ""}, {"a", "new", "t", ""},
	} {
		if got := rules(good(proposed(c.slot, c.approach, c.target)), b); got != c.want {
			t.Errorf("%s with %s on %s: %q, want %q", c.slot, c.approach, c.target, got, c.want)
		}
	}
}

func TestInvariant_PlanCannotReuseWhatMemorySaysMustNot(t *testing.T) {
	g := blackboard.Goal{Calibration: blackboard.Calibration{Answer: &message.MemoryAnswer{Potentials: []message.Potential{
		{Pair: message.Pair{Tool: "x", Target: "t"}, Action: loop.Avoid, Decision: -0.85},
	}}}}
	b := Basis{Constraints: loop.ConstraintsOf(g)}
	if got := rules(good(proposed("a", "x", "t")), b); got != RuleMustNot {
		t.Errorf("an avoided pair: %q", got)
	}
	if got := rules(good(proposed("a", "x", "u")), b); got != "" {
		t.Errorf("another target: %q", got)
	}
}

func committed(p think.Proposal) blackboard.Plan {
	plan := blackboard.Plan{ID: "p1", Fingerprint: Fingerprint(normalise(p), Basis{})}
	for _, t := range p.Tasks {
		plan.Tasks = append(plan.Tasks, blackboard.PlanTask{ID: "id-" + message.TaskID(t.Slot), Slot: t.Slot, Approach: t.Approach, Target: t.Target, Intent: t.Intent})
	}
	return plan
}

func TestInvariant_SamePlanIsNeverIssuedAgain(t *testing.T) {
	old := good(proposed("a", "x", "t"), proposed("b", "y", "t"))
	b := Basis{Plans: []blackboard.Plan{committed(old)}}
	reworded := good(proposed("b", "y", "t"), proposed("a", "x", "t"))
	reworded.Tasks[1].Intent = "  DO   a "
	if got := rules(reworded, b); got != RuleSamePlan {
		t.Errorf("in another order and case: %q", got)
	}
	if got := rules(good(proposed("a", "x", "u"), proposed("b", "y", "t")), b); got != "" {
		t.Errorf("with another target: %q", got)
	}
	refine := &message.PlanDirective{Policy: message.LikeForLike, Directive: message.Refine, TaskDirectives: []message.TaskDirective{
		{Slot: "a", Directive: message.Refine, Keep: &message.Pair{Tool: "x", Target: "t"}},
	}}
	b.Directive = refine
	if got := rules(old, b); got != "" {
		t.Errorf("a task to be refined may run again: %q", got)
	}
}

func TestKeptTasksCountInTheFingerprint(t *testing.T) {
	old := good(proposed("a", "x", "t"), proposed("b", "y", "t"))
	b := Basis{Plans: []blackboard.Plan{committed(old)}, Keepable: map[message.TaskID]blackboard.PlanTask{}}
	b.Keepable["id-a"] = b.Plans[0].Tasks[0]
	again := good(proposed("b", "y", "t"))
	again.Keep = []message.TaskID{"id-a"}
	if got := rules(again, b); got != RuleSamePlan {
		t.Errorf("keeping one and repeating the other: %q", got)
	}
	both := good(proposed("a", "z", "t"))
	both.Keep = []message.TaskID{"id-a"}
	if got := rules(both, b); got != RuleSlot {
		t.Errorf("doing again what is kept: %q", got)
	}
}

func TestDirectiveIsObeyed(t *testing.T) {
	like := func(d message.TaskDirective) *message.PlanDirective {
		d.Slot = "a"
		return &message.PlanDirective{Policy: message.LikeForLike, Directive: d.Directive, TaskDirectives: []message.TaskDirective{d}}
	}
	goal := func(d message.Directive) *message.PlanDirective {
		return &message.PlanDirective{Policy: "v0.8", Directive: d}
	}
	tried := map[string][]Tried{"a": {{"x", "t", true}, {"y", "t", false}}, "b": {{"z", "t", true}}}
	stay, back := &message.Pair{Tool: "y", Target: "t"}, &message.Pair{Tool: "x", Target: "t"}
	for name, c := range map[string]struct {
		d                *message.PlanDirective
		approach, target string
		want             string
	}{
		"refine stays":                         {like(message.TaskDirective{Directive: message.Refine, Keep: stay}), "y", "t", ""},
		"refine does not switch":               {like(message.TaskDirective{Directive: message.Refine, Keep: stay}), "w", "t", RuleDirective},
		"return goes back":                     {like(message.TaskDirective{Directive: message.Refine, Keep: stay, ReturnTo: back}), "x", "t", ""},
		"return does not stay":                 {like(message.TaskDirective{Directive: message.Refine, Keep: stay, ReturnTo: back}), "y", "t", RuleDirective},
		"change_path repeats":                  {like(message.TaskDirective{Directive: message.ChangePath}), "y", "t", RuleDirective},
		"change_path changes":                  {like(message.TaskDirective{Directive: message.ChangePath}), "y", "u", ""},
		"change_approach keeps the approach":   {like(message.TaskDirective{Directive: message.ChangeApproach}), "y", "u", RuleDirective},
		"change_approach changes it":           {like(message.TaskDirective{Directive: message.ChangeApproach}), "w", "t", ""},
		"symmetry: failed logically":           {like(message.TaskDirective{Directive: message.BreakSymmetry}), "x", "u", RuleSymmetry},
		"symmetry: failed for the world":       {like(message.TaskDirective{Directive: message.BreakSymmetry}), "y", "u", ""},
		"symmetry: another slot's is free":     {like(message.TaskDirective{Directive: message.BreakSymmetry}), "z", "t", ""},
		"v0.8 symmetry: any that failed":       {goal(message.BreakSymmetry), "z", "u", RuleSymmetry},
		"v0.8 symmetry: a new one":             {goal(message.BreakSymmetry), "w", "t", ""},
		"v0.8 change_path with other words":    {goal(message.ChangePath), "y", "t", RuleDirective},
		"v0.8 change_approach with other ones": {goal(message.ChangeApproach), "w", "t", ""},
	} {
		before := good(proposed("a", "y", "t"))
		b := Basis{Directive: c.d, Tried: tried, Plans: []blackboard.Plan{committed(before)}}
		now := good(proposed("a", c.approach, c.target))
		now.Tasks[0].Intent = "in other words"
		if got := rules(now, b); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestBlameWhenEverythingMatchedAndTheGoalFailed(t *testing.T) {
	b := Basis{Tried: map[string][]Tried{}}
	b.note(message.ReplanRequest{
		Outcomes:     []message.SubTaskOutcome{{Slot: "a", Approach: "x", Target: "t", Status: message.Matched}},
		TaskVerdicts: []message.Verdict{{Verdict: message.Fail, FailureClass: message.Logical}},
	})
	if len(b.Tried["a"]) != 1 || !b.Tried["a"][0].Logical {
		t.Errorf("nobody is to blame: %+v", b.Tried)
	}
}

func TestCriteriaDefaults(t *testing.T) {
	no := false
	specs := []think.CriterionSpec{{Text: "plain"}, {Text: "checked", Check: json.RawMessage(`{}`)}, {Text: "waived", Check: json.RawMessage(`{}`), Required: &no}}
	for _, c := range []struct {
		ofGoal, strict bool
		want           string
	}{{false, false, "plausible:false verifiable:true verifiable:false"}, {true, false, "plausible:true verifiable:true verifiable:false"}, {false, true, "plausible:true verifiable:true verifiable:true"}} {
		var got []string
		for _, x := range criteria(specs, "s", c.ofGoal, c.strict) {
			got = append(got, string(x.Mode)+":"+map[bool]string{true: "true", false: "false"}[x.Required])
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("goal %v strict %v: %v, want %s", c.ofGoal, c.strict, got, c.want)
		}
	}
}

func TestUnnamedTasksGetDifferentSlots(t *testing.T) {
	p := normalise(good(think.ProposedTask{Intent: "look at it"}, think.ProposedTask{Intent: "look at it"}))
	if p.Tasks[0].Slot == p.Tasks[1].Slot || p.Tasks[0].Slot == "" || p.Tasks[0].Priority != defaultPriority {
		t.Errorf("slots %+v", p.Tasks)
	}
}

// Whatever is proposed, the validator answers, the same each time, and what it
// lets through breaks no ban.
func TestValidateIsTotalAndLetsNoBanThrough(t *testing.T) {
	word := rapid.SampledFrom([]string{"", "a", "b", "c", "../x", ".orch"})
	rapid.Check(t, func(t *rapid.T) {
		task := rapid.Custom(func(t *rapid.T) think.ProposedTask {
			return think.ProposedTask{
				Slot: word.Draw(t, "slot"), Intent: word.Draw(t, "intent"), Approach: word.Draw(t, "approach"), Target: word.Draw(t, "target"),
				Sequence: rapid.IntRange(-1, 3).Draw(t, "sequence"), DependsOn: rapid.SliceOfN(word, 0, 2).Draw(t, "on"),
				Targets:  rapid.SliceOfN(word, 0, 2).Draw(t, "targets"),
				Criteria: []think.CriterionSpec{{Text: rapid.SampledFrom([]string{"", "x is 3"}).Draw(t, "criterion")}},
			}
		})
		p := normalise(good(rapid.SliceOfN(task, 0, 4).Draw(t, "tasks")...))
		ban := think.Ban{Slot: word.Draw(t, "ban slot"), Approach: word.Draw(t, "ban approach"), Target: word.Draw(t, "ban target")}
		b := Basis{Constraints: think.Constraints{MustNot: []think.Ban{ban}}}
		first, second := Validate(p, b), Validate(p, b)
		if len(first) != len(second) {
			t.Fatalf("two answers: %v and %v", first, second)
		}
		if len(first) > 0 {
			return
		}
		for _, x := range p.Tasks {
			if ban.Forbids(x.Slot, x.Approach, x.Target) {
				t.Fatalf("%+v passed the ban %+v", x, ban)
			}
		}
	})
}
