package ggs

import (
	"testing"

	"orch/blackboard/message"
)

// row is what a Megram is found by and how much it weighs.
type row struct {
	state         message.Directive
	space, entity string
	f, sigma, k   float64
}

func rows(d Decision) []row {
	var out []row
	for _, m := range d.Megrams {
		out = append(out, row{m.State, m.Space, m.Entity, m.F, m.Sigma, m.K})
	}
	return out
}

func TestWhatIsRemembered(t *testing.T) {
	intent := "intent:make_the_tests"
	p := Defaults(V08)
	p.MaxReplans = 100
	wrong := request(one("a", "x", 4, 4, 4))
	for name, c := range map[string]struct {
		policy string
		rounds []Round
		want   []row
	}{
		"change_approach speaks against the pair": {LikeForLike, []Round{wrong},
			[]row{{message.ChangeApproach, "tool:a", "path:x", 0.85, -1, 0.05}}},
		"break_symmetry speaks against the pair": {V08, []Round{wrong},
			[]row{{message.BreakSymmetry, "tool:a", "path:x", 0.85, -1, 0.05}}},
		"change_path, like for like": {LikeForLike, []Round{request(one("a", "x", 4, 4, 0))},
			[]row{{message.ChangePath, "tool:a", "path:x", 0.30, 0, 0.2}}},
		"nothing blocked, nothing learned": {LikeForLike, []Round{request(one("a", "x", 4, 2, 0)), request(one("a", "x", 4, 2, 0))}, nil},
		"an outage teaches nothing":        {LikeForLike, []Round{request(kindOf(one("a", "x", 4, 4, 4), "transient"))}, nil},
		"a first refine teaches nothing":   {LikeForLike, []Round{request(one("a", "x", 4, 3, 3))}, nil},
		"a pair that came out better": {LikeForLike, []Round{request(one("a", "x", 4, 3, 3)), request(one("a", "x", 4, 2, 2))},
			[]row{{message.Refine, "tool:a", "path:x", 0.10, 0.5, 0.5}}},
		"under v0.8 too": {V08, []Round{request(one("a", "x", 4, 4, 0)), request(one("a", "y", 4, 2, 0))},
			[]row{{message.Refine, "tool:a", "path:y", 0.10, 0.5, 0.5}}},
		"but not one that came out worse": {V08, []Round{request(one("a", "x", 4, 2, 0)), request(one("a", "y", 4, 4, 0))}, nil},
		"accept after break_symmetry": {V08, []Round{wrong, summary(one("b", "x", 4, 0, 0))},
			[]row{{message.Accept, intent, "env:local", 0.90, 1, 0.05}, {message.BreakSymmetry, "tool:b", "path:x", 0.75, 1, 0.05}}},
		"success, not after break_symmetry": {V08, []Round{request(one("a", "x", 4, 4, 0)), request(one("b", "x", 10, 2, 0))},
			[]row{{message.Success, intent, "env:local", 0.80, 1, 0.05}}},
		"a kept task did not break anything": {V08, []Round{request(one("a", "x", 4, 4, 4), ran("u", "k", "y", pass("c"))),
			summary(one("b", "x", 4, 0, 0), ran("u", "k", "y", pass("c")))},
			[]row{{message.Accept, intent, "env:local", 0.90, 1, 0.05}, {message.BreakSymmetry, "tool:b", "path:x", 0.75, 1, 0.05}}},
		"abandon": {V08, []Round{wrong, at(5*taskBudgetMS, request(one("b", "x", 4, 4, 4)))},
			[]row{{message.Abandon, intent, "env:local", 0.95, -1, 0.05}}},
		"standing orders were written before": {LikeForLike, []Round{wrong, noPlan("x")}, nil},
	} {
		params := p
		if c.policy == LikeForLike {
			params = Defaults(LikeForLike)
		}
		got := rows(last(play(t, c.policy, params, c.rounds...)))
		if len(got) != len(c.want) {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s: got %+v, want %+v", name, got[i], c.want[i])
			}
		}
	}
}

func TestMegramsCarryWhatWasLearned(t *testing.T) {
	d := last(like(t, request(one("a", "x", 4, 4, 4))))
	m := d.Megrams[0]
	if m.Content.Lesson != "a on x does not work: c00 (not seen)" || m.Content.Category != categoryConstraint || m.Ordinal != 1 || m.ID != "id-1" || !m.CreatedAt.Equal(noon) {
		t.Errorf("got %+v", m)
	}
}

func TestIntentWithoutASpaceIsNamedAfterTheGoal(t *testing.T) {
	h := history(at(5*taskBudgetMS, request(one("a", "x", 4, 4, 4))))
	h.Space = ""
	if m := decide(t, LikeForLike, Defaults(LikeForLike), h).Megrams[0]; m.Space != "intent:goal" {
		t.Errorf("space %q", m.Space)
	}
}
