package ggs

import (
	"slices"
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
	p := Defaults(message.V08)
	p.MaxReplans = 100
	wrong := request(one("a", "x", 4, 4, 4))
	for name, c := range map[string]struct {
		policy string
		rounds []Round
		want   []row
	}{
		"change_approach speaks against the pair": {message.LikeForLike, []Round{wrong},
			[]row{{message.ChangeApproach, "tool:a", "path:x", 0.85, -1, 0.05}}},
		"break_symmetry speaks against the pair": {message.V08, []Round{wrong},
			[]row{{message.BreakSymmetry, "tool:a", "path:x", 0.85, -1, 0.05}}},
		"change_path, like for like": {message.LikeForLike, []Round{request(one("a", "x", 4, 4, 0))},
			[]row{{message.ChangePath, "tool:a", "path:x", 0.30, 0, 0.2}}},
		"nothing blocked, nothing learned": {message.LikeForLike, []Round{request(one("a", "x", 4, 2, 0)), request(one("a", "x", 4, 2, 0))}, nil},
		"an outage teaches nothing":        {message.LikeForLike, []Round{request(kindOf(one("a", "x", 4, 4, 4), "transient"))}, nil},
		"a first refine teaches nothing":   {message.LikeForLike, []Round{request(one("a", "x", 4, 3, 3))}, nil},
		"a pair that came out better": {message.LikeForLike, []Round{request(one("a", "x", 4, 3, 3)), request(one("a", "x", 4, 2, 2))},
			[]row{{message.Refine, "tool:a", "path:x", 0.10, 0.5, 0.5}}},
		"under v0.8 too": {message.V08, []Round{request(one("a", "x", 4, 4, 0)), request(one("a", "y", 4, 2, 0))},
			[]row{{message.Refine, "tool:a", "path:y", 0.10, 0.5, 0.5}}},
		"but not one that came out worse": {message.V08, []Round{request(one("a", "x", 4, 2, 0)), request(one("a", "y", 4, 4, 0))}, nil},
		"accept after break_symmetry": {message.V08, []Round{wrong, summary(one("b", "x", 4, 0, 0))},
			[]row{{message.Accept, intent, "env:local", 0.90, 1, 0.05}, {message.Accept, "tool:b", "path:x", 0.90, 1, 0.05},
				{message.BreakSymmetry, "tool:b", "path:x", 0.75, 1, 0.05}}},
		"success, not after break_symmetry": {message.V08, []Round{request(one("a", "x", 4, 4, 0)), request(one("b", "x", 10, 2, 0))},
			[]row{{message.Success, intent, "env:local", 0.80, 1, 0.05}}},
		"a kept task did not break anything": {message.V08, []Round{request(one("a", "x", 4, 4, 4), ran("u", "k", "y", pass("c"))),
			summary(one("b", "x", 4, 0, 0), ran("u", "k", "y", pass("c")))},
			[]row{{message.Accept, intent, "env:local", 0.90, 1, 0.05}, {message.Accept, "tool:b", "path:x", 0.90, 1, 0.05},
				{message.Accept, "tool:k", "path:y", 0.90, 1, 0.05}, {message.BreakSymmetry, "tool:b", "path:x", 0.75, 1, 0.05}}},
		"success after break_symmetry is no acceptance": {message.V08, []Round{wrong, request(one("b", "x", 10, 2, 0), ran("v", "b2", "y", pass("c")))},
			[]row{{message.Success, intent, "env:local", 0.80, 1, 0.05}, {message.Success, "tool:b2", "path:y", 0.80, 1, 0.05}}},
		"a missing tool is not held against the approach": {message.LikeForLike, []Round{request(kindOf(one("a", "x", 4, 4, 4), "tool"))},
			[]row{{message.ChangePath, "tool:a", "path:x", 0.30, 0, 0.2}}},
		"nor is a permission that is not given": {message.LikeForLike, []Round{request(kindOf(one("a", "x", 4, 4, 4), "permission"))},
			[]row{{message.ChangePath, "tool:a", "path:x", 0.30, 0, 0.2}}},
		"nor under v0.8": {message.V08, []Round{request(kindOf(one("a", "x", 4, 4, 4), "tool"))},
			[]row{{message.ChangePath, "tool:a", "path:x", 0.30, 0, 0.2}}},
		"a whole backend is never held responsible": {message.LikeForLike, []Round{request(one("shell", "x", 4, 4, 4))}, nil},
		"abandon": {message.V08, []Round{wrong, at(5*taskBudgetMS, request(one("b", "x", 4, 4, 4)))},
			[]row{{message.Abandon, intent, "env:local", 0.95, -1, 0.05}}},
		"standing orders were written before": {message.LikeForLike, []Round{wrong, noPlan("x")}, nil},
	} {
		params := p
		if c.policy == message.LikeForLike {
			params = Defaults(message.LikeForLike)
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
	if m := decide(t, message.LikeForLike, Defaults(message.LikeForLike), h).Megrams[0]; m.Space != "intent:goal" {
		t.Errorf("space %q", m.Space)
	}
}

func TestFollowingARuleIntoFailureSpeaksAgainstIt(t *testing.T) {
	rules := []message.SOPRecord{
		{ID: "wrong", Space: "tool:a", Entity: "path:x", Sigma: 1},
		{ID: "other target", Space: "tool:a", Entity: "path:y", Sigma: 1},
		{ID: "a constraint", Space: "tool:a", Entity: "path:x", Sigma: -1},
		{ID: "a fact", Space: "fact:always use yarn", Entity: "env:local", Sigma: 1},
	}
	for name, c := range map[string]struct {
		rounds []Round
		want   []string
	}{
		"the approach is blocked":     {[]Round{request(one("a", "x", 4, 4, 4))}, []string{"wrong"}},
		"it is refined":               {[]Round{request(one("a", "x", 4, 2, 0))}, nil},
		"the path is changed":         {[]Round{request(one("a", "x", 4, 4, 0))}, nil},
		"a tool was missing":          {[]Round{request(kindOf(one("a", "x", 4, 4, 4), "tool"))}, nil},
		"another pair failed":         {[]Round{request(one("b", "x", 4, 4, 4))}, nil},
		"it worked":                   {[]Round{summary(one("a", "x", 4, 0, 0))}, nil},
		"the budget is spent on it":   {[]Round{at(5*taskBudgetMS, request(one("a", "x", 4, 4, 4)))}, []string{"wrong"}},
		"spent, but not by its logic": {[]Round{at(5*taskBudgetMS, request(one("a", "x", 4, 4, 0)))}, nil},
	} {
		h := history(c.rounds...)
		h.Rules = rules
		var got []string
		for i, f := range decide(t, message.LikeForLike, Defaults(message.LikeForLike), h).Feedback {
			got = append(got, f.RuleID)
			if f.Ordinal != i+1 || f.Content == "" {
				t.Errorf("%s: %+v", name, f)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: against %q, want %q", name, got, c.want)
		}
	}
}

func TestMegramsAreFoundByTheTagsOfTheGoal(t *testing.T) {
	h := history(request(one("a", "x", 4, 4, 4)))
	h.Tags = []string{"tests", "go"}
	for _, m := range decide(t, message.LikeForLike, Defaults(message.LikeForLike), h).Megrams {
		if !slices.Equal(m.Content.Tags, h.Tags) {
			t.Errorf("tags %v", m.Content.Tags)
		}
	}
}
