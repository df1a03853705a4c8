package ggs

import (
	"context"
	"slices"
	"testing"

	"orch/blackboard"
	"orch/blackboard/message"
)

// giveUp drives a goal until the controller abandons it.
func (s *stage) giveUp(r *Resident) *message.FinalResult {
	s.t.Helper()
	s.start(false)
	for round := 0; s.goal().Status != blackboard.GoalEnded; round++ {
		if round > Defaults(message.LikeForLike).Bound() {
			s.t.Fatal("the goal does not end")
		}
		s.refusePlans()
		if err := r.Answer(s.t.Context(), testGoal); err != nil {
			s.t.Fatal(err)
		}
	}
	return s.goal().Final
}

func TestAModelAdvisesOnlyAfterGivingUp(t *testing.T) {
	for name, c := range map[string]struct {
		moves []string
		want  func(got, plain []string) bool
	}{
		"a model's moves": {[]string{" add a server ", "", "ask for less", "ask for less"}, func(got, _ []string) bool {
			return slices.Equal(got, []string{"add a server", "ask for less"})
		}},
		"too many":       {[]string{"1", "2", "3", "4"}, func(got, _ []string) bool { return slices.Equal(got, []string{"1", "2", "3"}) }},
		"one is too few": {[]string{"1"}, func(got, plain []string) bool { return got[0] == "1" && len(got) >= 2 && got[1] == plain[0] }},
		"no answer":      {nil, func(got, plain []string) bool { return slices.Equal(got, plain) }},
	} {
		s := newStage(t)
		plain := s.giveUp(s.resident(s.ggs())).NextMoves
		s = newStage(t)
		r := s.resident(s.ggs())
		asked := 0
		r.Moves = func(_ context.Context, g blackboard.Goal, f message.FinalResult) ([]string, []message.Spent) {
			if asked++; f.Directive != message.Abandon || len(f.UnmetCriteria) == 0 || g.ID != testGoal {
				t.Errorf("%s: asked about %+v", name, f)
			}
			return c.moves, []message.Spent{{Model: "m", Cost: 0.25}, {Model: "n", Unpriced: true}}
		}
		final := s.giveUp(r)
		if !c.want(final.NextMoves, plain) || asked != 1 {
			t.Errorf("%s: %q after %d questions; without a model %q", name, final.NextMoves, asked, plain)
		}
		if g := s.goal(); g.Cost != 0.25 || g.Unpriced != 1 || final.Cost != 0.25 {
			t.Errorf("%s: it cost $%g (%d unpriced), the result says $%g", name, g.Cost, g.Unpriced, final.Cost)
		}
	}
}
