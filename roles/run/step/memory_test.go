package step_test

import (
	"slices"
	"strings"
	"testing"

	"orch/blackboard/message"
	"orch/roles/internal/steptest"
	"orch/roles/loop"
	"orch/roles/think"
)

// choosing takes the first of two approaches that nothing forbids, as a playbook does.
func choosing(approaches ...string) func(think.PlanInput) (think.Proposal, error) {
	return func(in think.PlanInput) (think.Proposal, error) {
		for _, a := range approaches {
			if _, no := in.Constraint.Forbidden("fix", a, "./..."); no {
				continue
			}
			p, err := oneTask(in)
			p.Tasks[0].Approach = a
			return p, err
		}
		return think.Proposal{}, &think.NoPlanError{Slots: []string{"fix"}, Why: "all are forbidden"}
	}
}

func avoid(approaches ...string) message.MemoryAnswer {
	var a message.MemoryAnswer
	for _, name := range approaches {
		a.Potentials = append(a.Potentials, message.Potential{Pair: message.Pair{Tool: name, Target: "./..."}, Attention: 0.85, Decision: -0.85, Action: loop.Avoid})
	}
	return a
}

// planned plays until the planner has planned with the memory's answer.
func planned(t *testing.T, answer message.MemoryAnswer, approaches ...string) (*steptest.World, message.GoalID) {
	t.Helper()
	w := steptest.New(t)
	w.Policy.MemoryResident, w.Policy.MemoryWaitMS = true, 1_000_000
	w.Plan.Propose = choosing(approaches...)
	id := w.Start("make the tests pass")
	play(t, w, id)
	w.Say("memory-1", id, w.Goal(id).Calibration.Asked.ID, answer)
	play(t, w, id)
	return w, id
}

func TestWhatTheMemoryAvoidsIsNotPlanned(t *testing.T) {
	w, id := planned(t, avoid("a"), "a", "b")
	g := w.Goal(id)
	if len(g.Plans) != 1 || g.Plans[0].Tasks[0].Approach != "b" || len(g.Plan.MemorySetAside) != 0 || !strings.Contains(g.Plan.Memory, "avoids 1") {
		t.Errorf("plan %+v, %+v", g.Plan, g.Plans)
	}
}

// A memory that leaves nothing to try would keep a goal from ever being reached
// again, although the world may have changed since.
func TestAMemoryThatForbidsEverythingIsSetAside(t *testing.T) {
	w, id := planned(t, avoid("a", "b"), "a", "b")
	g := w.Goal(id)
	if len(g.Plans) != 1 || g.Plans[0].Tasks[0].Approach != "a" || !slices.Equal(g.Plan.MemorySetAside, []string{"fix"}) || !strings.Contains(g.Plan.Memory, "against its advice") {
		t.Fatalf("plan %+v", g.Plan)
	}
	if g.Rounds[0].Summary == nil {
		t.Errorf("the task was kept from running: %+v", g.Rounds)
	}
	if _, no := loop.ConstraintsOf(g).Forbidden("fix", "a", "./..."); no {
		t.Error("the tool layer still refuses it")
	}
	if _, no := loop.ConstraintsOf(g).Forbidden("other", "a", "./..."); !no {
		t.Error("the memory's advice is set aside in another slot too")
	}
}

func TestTheControllersBansAreNeverSetAside(t *testing.T) {
	w, id := planned(t, avoid("a"), "a")
	if n := len(w.Goal(id).Plans); n != 1 {
		t.Fatalf("%d plans", n)
	}
	c := think.Constraints{SetAside: []string{"fix"}, MustNot: []think.Ban{{Approach: "a", Source: think.FromDirective}}}
	if _, no := c.Forbidden("fix", "a", "./..."); !no {
		t.Error("a ban of the controller was set aside")
	}
}

func TestTheValuesOfAPersonReachEveryRoleThatThinks(t *testing.T) {
	w := steptest.New(t)
	w.Values = "be kind"
	w.Plan.Propose = func(in think.PlanInput) (think.Proposal, error) {
		p, err := oneTask(in)
		p.Tasks[0].Criteria = []think.CriterionSpec{{Text: "the letter names the reader"}}
		p.TaskCriteria = []think.CriterionSpec{{Text: "the letter is signed by name"}}
		return p, err
	}
	play(t, w, w.Start("write the letter"))
	if len(w.See.Asked) == 0 || len(w.Plan.Asked) == 0 || len(w.Work.Asked) == 0 || len(w.Judge.Asked) < 2 {
		t.Fatal("not everybody was asked")
	}
	if w.See.Asked[0].Values != w.Values || w.Plan.Asked[0].Values != w.Values || w.Work.Asked[0].Values != w.Values {
		t.Error("the perceiver, the planner or the executor does not know them")
	}
	for _, asked := range w.Judge.Asked {
		if asked.Values != w.Values {
			t.Errorf("who judges %q does not know them", asked.Criterion.Criterion)
		}
	}
}
