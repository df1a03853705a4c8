package loop

import (
	"testing"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/think"
)

func goalWith(d *message.PlanDirective, a *message.MemoryAnswer) blackboard.Goal {
	g := perceived()
	g.Calibration.Answer = a
	if d != nil {
		g.Rounds = []blackboard.Round{{Directive: &message.PlanDirective{Policy: message.LikeForLike, TaskDirectives: []message.TaskDirective{{Slot: "s", BlockedApproaches: []string{"old"}}}}}, {Directive: d}}
	}
	return g
}

func TestInvariant_MustNotIsMemoryAvoidAndWhatTheDirectiveBlocks(t *testing.T) {
	memory := &message.MemoryAnswer{
		Potentials: []message.Potential{
			{Pair: message.Pair{Tool: "m", Target: "x"}, Action: Avoid},
			{Pair: message.Pair{Tool: "p", Target: "x"}, Action: Exploit},
			{Pair: message.Pair{Tool: "c", Target: "x"}, Action: Caution},
			{Pair: message.Pair{Tool: "d", Target: "x"}, Action: Caution, Uncontested: true},
			{Pair: message.Pair{Tool: "i", Target: "x"}, Action: "Ignore"},
			{Pair: message.Pair{Tool: "intent:make_the_tests", Target: LocalEntity}, Action: Avoid},
		},
		SOPs: []message.SOPRecord{
			{Space: "tool:rule", Entity: "path:y", Category: "constraint", Sigma: -1, Lesson: "never"},
			{Space: "tool:wide", Entity: LocalEntity, Category: "constraint", Sigma: -1},
			{Space: "tool:good", Entity: "path:y", Category: "procedure", Sigma: 1},
			{Space: "intent:a_b_c", Entity: LocalEntity, Category: "constraint", Sigma: -1},
		},
	}
	global := &message.PlanDirective{Policy: "v0.8", Directive: message.ChangeApproach, BlockedTools: []string{"tool"}, BlockedTargets: []string{"target"}}
	slots := &message.PlanDirective{
		Policy: message.LikeForLike, BlockedTools: []string{"elsewhere"},
		TaskDirectives: []message.TaskDirective{
			{Slot: "s", BlockedApproaches: []string{"a"}, BlockedPairs: []message.Pair{{Tool: "b", Target: "t"}}},
		},
	}
	for _, c := range []struct {
		name                   string
		d                      *message.PlanDirective
		slot, approach, target string
		banned                 bool
	}{
		{"memory pair", nil, "s", "m", "x", true},
		{"memory, other target", nil, "s", "m", "z", false},
		{"exploit", nil, "s", "p", "x", false},
		{"caution", nil, "s", "c", "x", false},
		{"ignored", nil, "s", "i", "x", false},
		{"rule on a pair", nil, "s", "rule", "y", true},
		{"rule on a tool", nil, "s", "wide", "any", true},
		{"good practice", nil, "s", "good", "y", false},
		{"v0.8 tool, any slot", global, "s", "tool", "any", true},
		{"v0.8 target, any tool", global, "r", "any", "target", true},
		{"with memory still", global, "s", "m", "x", true},
		{"blocked for the slot", slots, "s", "a", "any", true},
		{"not for another slot", slots, "r", "a", "any", false},
		{"blocked pair", slots, "s", "b", "t", true},
		{"same approach, other target", slots, "s", "b", "u", false},
		{"goal-wide fields do not bind under like-for-like", slots, "s", "elsewhere", "any", false},
		{"an older directive was released", slots, "s", "old", "any", false},
	} {
		_, banned := ConstraintsOf(goalWith(c.d, memory)).Forbidden(c.slot, c.approach, c.target)
		if banned != c.banned {
			t.Errorf("%s: banned %v, want %v", c.name, banned, c.banned)
		}
	}
	got := ConstraintsOf(goalWith(nil, memory))
	_, lessons := Lessons(memory)
	if len(got.Prefer) != 1 || len(got.Caution) != 2 || len(got.AskFirst) != 1 || got.AskFirst[0].Tool != "c" || len(lessons) != 4 {
		t.Errorf("prefer %v, caution %v, ask first %v, lessons %v", got.Prefer, got.Caution, got.AskFirst, lessons)
	}
}

func TestWhatIsOrderedIsNeverForbidden(t *testing.T) {
	memory := &message.MemoryAnswer{Potentials: []message.Potential{
		{Pair: message.Pair{Tool: "stay", Target: "t"}, Action: Avoid},
		{Pair: message.Pair{Tool: "back", Target: "t"}, Action: Avoid},
		{Pair: message.Pair{Tool: "other", Target: "t"}, Action: Avoid},
	}}
	d := &message.PlanDirective{Policy: message.LikeForLike, TaskDirectives: []message.TaskDirective{
		{Slot: "s", Directive: message.Refine, Keep: &message.Pair{Tool: "stay", Target: "t"}, BlockedApproaches: []string{"stay"}},
		{Slot: "r", Directive: message.Refine, ReturnTo: &message.Pair{Tool: "back", Target: "t"}},
	}}
	c := ConstraintsOf(goalWith(d, memory))
	for slot, approach := range map[string]string{"s": "stay", "r": "back"} {
		if ban, banned := c.Forbidden(slot, approach, "t"); banned {
			t.Errorf("%s is ordered and forbidden: %+v", approach, ban)
		}
	}
	if _, banned := c.Forbidden("s", "other", "t"); !banned {
		t.Error("what is not ordered was released")
	}
}

func TestABanOfNothingForbidsNothing(t *testing.T) {
	c := think.Constraints{MustNot: []think.Ban{{Slot: "s"}}}
	if _, banned := c.Forbidden("s", "a", "t"); banned {
		t.Error("an empty ban forbids everything")
	}
}
