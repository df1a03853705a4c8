package ggs

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"orch/blackboard"
	"orch/blackboard/message"
)

func abandoned(t *testing.T, rounds ...Round) *message.FinalResult {
	t.Helper()
	r := &rounds[len(rounds)-1]
	if r.Request != nil {
		r.Request.ElapsedMS = 3 * taskBudgetMS
	}
	f := last(like(t, rounds...)).Final
	if f == nil || f.Directive != message.Abandon {
		t.Fatalf("not abandoned: %+v", f)
	}
	return f
}

func mentions(list []string, part string) bool {
	return strings.Contains(strings.Join(list, "\n"), part)
}

func TestAbandonSaysWhatWasReachedAndWhatToTry(t *testing.T) {
	bad := byCheck(fails("all tests pass", logical))
	bad.Evidence = "exit 1: TestSum: got 3, want 4"
	f := abandoned(t, request(ran("fix", "rerun", "go test ./...", pass("it builds"), bad)))
	if len(f.Accomplished) != 1 || !strings.HasPrefix(f.Accomplished[0], "fix: it builds") {
		t.Errorf("accomplished %q", f.Accomplished)
	}
	if len(f.UnmetCriteria) != 1 || f.UnmetCriteria[0].Criterion != "all tests pass" {
		t.Errorf("unmet %+v", f.UnmetCriteria)
	}
	if !mentions(f.NextMoves, "TestSum") || !mentions(f.NextMoves, "rerun") || len(f.NextMoves) > 3 {
		t.Errorf("next moves %q", f.NextMoves)
	}
	if !strings.Contains(f.Summary, "1 of 2 criteria pass") || !strings.Contains(f.Summary, "make the tests pass") {
		t.Errorf("summary %q", f.Summary)
	}
}

func TestNextMovesComeFromTheEvidence(t *testing.T) {
	for kind, want := range map[string]string{"tool": "install what shell:tsc", "permission": "orch allow", "transient": "try again later"} {
		f := abandoned(t, request(called(one("a", "x", 3, 3, 0), "shell:tsc", "x", kind)))
		if !strings.Contains(f.NextMoves[0], want) {
			t.Errorf("%s: %q", kind, f.NextMoves)
		}
	}
	if f := abandoned(t, stalling(1), stalling(2)); !mentions(f.NextMoves, "--timeout") {
		t.Errorf("time was spent: %q", f.NextMoves)
	}
	list := like(t, stalling(1), stalling(2), stalling(3), stalling(4), stalling(5), stalling(6), stalling(7), stalling(8))
	if f := last(list).Final; !mentions(f.NextMoves, "--max-replans 12") {
		t.Errorf("rounds were spent: %q", f.NextMoves)
	}
	list = like(t, request(one("a", "x", 10, 4, 4)), request(one("b", "x", 10, 6, 6)), request(one("c", "x", 10, 8, 8)))
	if f := last(list).Final; !mentions(f.NextMoves, "what round 1 left") {
		t.Errorf("it got worse: %q", f.NextMoves)
	}
}

func TestPlanFailureAtTheEndStillNamesWhatRan(t *testing.T) {
	p := Defaults(message.LikeForLike)
	p.MaxReplans = 1
	list := play(t, message.LikeForLike, p, request(ran("s", "a", "x", pass("it builds"), fails("it works", logical))), noPlan(RuleNoApproachLeft))
	f := last(list).Final
	if f == nil || len(f.Accomplished) != 1 || len(f.UnmetCriteria) != 2 || !mentions(f.NextMoves, "playbook") {
		t.Errorf("got %+v", f)
	}
}

func TestSuccessNamesWhatIsNotMet(t *testing.T) {
	f := last(like(t, request(ran("s", "a", "x", append(of(9, 0, 0), fails("pretty", logical))...)))).Final
	if f.Directive != message.Success || len(f.UnmetCriteria) != 1 || !strings.Contains(f.Summary, "pretty") || len(f.NextMoves) != 0 {
		t.Errorf("got %+v", f)
	}
}

func TestAcceptCarriesTheMergedOutput(t *testing.T) {
	d := last(like(t, request(one("a", "x", 3, 3, 3)), summary(one("b", "x", 3, 0, 0))))
	f := d.Final
	if f.Directive != message.Accept || f.Output != "merged" || f.Replans != 1 || f.Loss.D != 0 || f.Loss.P != 0.5 || f.MacroState != message.Accept {
		t.Errorf("got %+v", f)
	}
	if line := d.Transition(Defaults(message.LikeForLike)); !strings.HasPrefix(line, "change_approach→accept  D 0.00") {
		t.Errorf("transition %q", line)
	}
}

func TestUnmetNamesSkippedTasks(t *testing.T) {
	never := message.SubTaskOutcome{SubtaskID: "t2", Slot: "later", Status: message.Skipped}
	f := abandoned(t, request(one("a", "x", 2, 2, 2), never))
	if v := last(f.UnmetCriteria); v.Criterion != "task later as a whole" || v.Evidence != "never started" {
		t.Errorf("got %+v", v)
	}
}

func TestShortKeepsToALine(t *testing.T) {
	if got := short("a\n\tb  c"); got != "a b c" {
		t.Errorf("got %q", got)
	}
	if got := []rune(short(strings.Repeat("é", 500))); len(got) != 120 || got[119] != '…' {
		t.Errorf("%d runes", len(got))
	}
}

// Whatever ends a goal, its result names the calls that were cut off.
func TestTheEndNamesTheCallsInDoubt(t *testing.T) {
	g := blackboard.Goal{
		ID: "g", Spec: &message.TaskSpec{Intent: "pay"}, GiveUp: &message.GiveUp{Reason: "enough"},
		Doubts: []blackboard.Doubt{{Task: "a", Call: "c", Tool: "shell", In: json.RawMessage(`{"command":"pay 1"}`)}},
	}
	want := []string{"`pay 1` of task a"}
	if got := giveUp("v0.8", g).Final.InDoubt; !slices.Equal(got, want) {
		t.Errorf("given up: %q", got)
	}
	f := situation{rounds: []sensed{{}}}.final("v0.8", historyOf(g), ruling{directive: message.Accept})
	if !slices.Equal(f.InDoubt, want) {
		t.Errorf("decided: %q", f.InDoubt)
	}
}

func TestNothingToTryEndsAtOnce(t *testing.T) {
	none := func() Round {
		return Round{PlanFailure: &message.PlanRejected{PlanID: "p", Attempt: 3,
			Violations: []message.Violation{{Rule: RuleNoApproachLeft, What: "the goal", Because: "found no test command"}}}}
	}
	refused := Round{PlanFailure: &message.PlanRejected{PlanID: "p", Attempt: 3, Violations: []message.Violation{{Rule: "too_many_tasks", What: "the plan"}}}}
	for name, c := range map[string]struct {
		rounds []Round
		ends   bool
	}{
		"twice":                   {[]Round{none(), none()}, true},
		"once":                    {[]Round{none()}, false},
		"refused in between":      {[]Round{none(), refused}, false},
		"after something has run": {[]Round{stalling(1), none(), none()}, false},
	} {
		d := last(like(t, c.rounds...))
		switch {
		case c.ends != (d.Final != nil):
			t.Errorf("%s: %+v", name, d.Directive)
		case c.ends && (!strings.Contains(d.Final.Rationale, "found no test command") || !mentions(d.Final.NextMoves, "found no test command") || mentions(d.Final.NextMoves, "--max-replans")):
			t.Errorf("%s: %q, %q", name, d.Final.Rationale, d.Final.NextMoves)
		}
	}
}
