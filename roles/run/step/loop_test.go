package step_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/act/check"
	"orch/roles/agentvalidator"
	"orch/roles/executor"
	"orch/roles/internal/steptest"
	"orch/roles/metavalidator"
	"orch/roles/perceiver"
	"orch/roles/planner"
	"orch/roles/run/step"
	"orch/roles/think"
)

var runners = map[message.Role]steptest.Runner{
	message.Perceiver: perceiver.Run, message.Planner: planner.Run, message.Executor: executor.Run,
	message.AgentValidator: agentvalidator.Run, message.MetaValidator: metavalidator.Run,
}

// oneTask proposes one task whose approach changes with each plan.
func oneTask(in think.PlanInput) (think.Proposal, error) {
	return think.Proposal{
		TaskCriteria: []think.CriterionSpec{{Text: "go test exits 0", Check: steptest.RunCheck("goal")}},
		Tasks: []think.ProposedTask{{
			Slot: "fix", Intent: "fix it", Approach: fmt.Sprintf("try-%d", len(in.Previous)+1), Target: "./...",
			Criteria: []think.CriterionSpec{{Text: "go vet exits 0", Check: steptest.RunCheck("task")}},
		}},
	}, nil
}

// play runs whatever is due, checking each time that what a role did made its
// activation go away, until nothing is due any more.
func play(t *testing.T, w *steptest.World, id message.GoalID) (ran []string) {
	t.Helper()
	for range 200 {
		w.Tidy(func(message.Process) bool { return true })
		due := w.Due()
		if len(due) == 0 {
			return ran
		}
		again := w.Due()
		if fmt.Sprint(due) != fmt.Sprint(again) {
			t.Fatalf("the same state asks for different things:\n%v\n%v", due, again)
		}
		a := due[0]
		if err := w.Do(a, runners[a.Key.Role]); err != nil {
			t.Fatalf("%s on %s: %v", a.Key.Role, a.Key.Subject, err)
		}
		ran = append(ran, string(a.Key.Role))
		for _, next := range w.Due() {
			if next.Key == a.Key {
				t.Fatalf("%s on %s did its job and is due again", a.Key.Role, a.Key.Subject)
			}
		}
	}
	t.Fatal("it never comes to rest")
	return nil
}

func TestAGoalGoesFromWordsToASummary(t *testing.T) {
	w := steptest.New(t)
	w.Plan.Propose = oneTask
	id := w.Start("make the tests pass")
	ran := play(t, w, id)
	want := "perceiver planner planner executor agent-validator meta-validator"
	if got := strings.Join(ran, " "); got != want {
		t.Errorf("ran %s, want %s", got, want)
	}
	g := w.Goal(id)
	if len(g.Rounds) != 1 || g.Rounds[0].Summary == nil {
		t.Fatalf("the controller was told %+v", g.Rounds)
	}
	if v := g.Rounds[0].Summary.TaskVerdicts; len(v) != 1 || !v[0].Passed() || v[0].By != message.ByCode {
		t.Errorf("the goal's criteria were judged %+v", v)
	}
	if len(w.Judge.Asked) != 0 {
		t.Errorf("a model judged what code can: %+v", w.Judge.Asked)
	}
}

// direct answers the open round as the controller would.
func direct(w *steptest.World, id message.GoalID, d message.PlanDirective) {
	g := w.Goal(id)
	d.TaskID, d.Round = id, len(g.Rounds)
	w.Say("ggs-1", id, g.Rounds[len(g.Rounds)-1].Ref.ID, d)
}

func TestAFailedRoundIsPlannedAgainAsOrdered(t *testing.T) {
	w := steptest.New(t)
	w.Config.Limits.Corrections = 1
	w.Verdicts["task"] = check.Verdict{Class: check.Logical, Kind: check.KindNone, Evidence: "exit 1"}
	w.Plan.Propose = oneTask
	id := w.Start("make the tests pass")
	ran := play(t, w, id)
	want := "perceiver planner planner executor agent-validator executor agent-validator meta-validator"
	if got := strings.Join(ran, " "); got != want {
		t.Errorf("ran %s, want %s", got, want)
	}
	r := w.Goal(id).Rounds[0].Request
	if r == nil || len(r.Outcomes) != 1 || r.Outcomes[0].Status != message.Failed || r.CorrectionCount != 1 || len(r.TaskVerdicts) != 1 || !r.TaskVerdicts[0].Passed() {
		t.Fatalf("the controller was told %+v", r)
	}
	if o := r.Outcomes[0]; o.Attempts != 2 || len(o.GapTrajectory) != 2 || o.GapTrajectory[1].Attempt != 2 || o.Slot != "fix" || o.Approach != "try-1" {
		t.Errorf("outcome %+v", o)
	}
	direct(w, id, message.PlanDirective{Policy: message.LikeForLike, Directive: message.ChangeApproach, TaskDirectives: []message.TaskDirective{
		{Slot: "fix", Directive: message.ChangeApproach, BlockedApproaches: []string{"try-1"}, Because: "it failed logically"},
	}})
	w.Verdicts = map[string]check.Verdict{}
	if ran = play(t, w, id); strings.Join(ran, " ") != "planner planner executor agent-validator meta-validator" {
		t.Errorf("ran %v", ran)
	}
	if g := w.Goal(id); len(g.Plans) != 2 || g.Plans[1].Tasks[0].Approach != "try-2" || g.Rounds[1].Summary == nil {
		t.Errorf("second plan %+v", g.Plans)
	}
	if prev := w.Plan.Asked[1].Previous; len(prev) != 1 || prev[0].Status != message.Failed || prev[0].Reason != "exit 1" {
		t.Errorf("the planner was told %+v", prev)
	}
}

func TestAThirdRefusedPlanGoesToTheController(t *testing.T) {
	w := steptest.New(t)
	w.Plan.Propose = func(think.PlanInput) (think.Proposal, error) { return think.Proposal{}, nil }
	id := w.Start("do it")
	if ran := play(t, w, id); strings.Join(ran, " ") != "perceiver planner planner planner planner" {
		t.Errorf("ran %v", ran)
	}
	g := w.Goal(id)
	if len(g.Rounds) != 1 || g.Rounds[0].PlanFailure == nil {
		t.Fatalf("rounds %+v", g.Rounds)
	}
	if v := w.Plan.Asked[1].Violations; len(v) == 0 || v[0].Rule != planner.RuleEmpty {
		t.Errorf("the planner was not told why: %+v", v)
	}
	if n := len(w.Messages("SubTask", "DispatchManifest")); n != 0 {
		t.Errorf("%d messages of a refused plan", n)
	}
}

func TestInvariant_MemoryIsAskedBeforeEveryPlan(t *testing.T) {
	w := steptest.New(t)
	w.Config.Limits.Corrections = 0
	w.Verdicts["task"] = check.Verdict{Class: check.Logical, Evidence: "exit 1"}
	w.Plan.Propose, w.Plan.Pairs = oneTask, []message.Pair{{Tool: "try-1", Target: "./..."}}
	id := w.Start("make the tests pass")
	play(t, w, id)
	direct(w, id, message.PlanDirective{Policy: "v0.8", Directive: message.ChangeApproach, BlockedTools: []string{"try-1"}})
	play(t, w, id)
	open := false
	for _, m := range w.Messages("MemoryQuery", "MemoryTimeout", "DispatchManifest") {
		switch b := m.Body.(type) {
		case message.MemoryQuery:
			if b.Space != "intent:make_the_tests" || len(b.Candidates) != 1 {
				t.Errorf("asked %+v", b)
			}
		case message.MemoryTimeout:
			open = true
		case message.DispatchManifest:
			if !open {
				t.Error("planned before the memory answered or was given up on")
			}
			if !strings.Contains(b.Memory, "no answer") {
				t.Errorf("the log does not say that it was planned without the memory: %q", b.Memory)
			}
			open = false
		}
	}
	if n := len(w.Messages("MemoryQuery")); n != 2 {
		t.Errorf("%d questions in 2 rounds", n)
	}
}

// A person's word is on the log: the planner has it although no memory answers,
// unless there is to be none.
func TestFactsAreToldWithoutAnAnswerOfTheMemory(t *testing.T) {
	for _, off := range []bool{false, true} {
		w := steptest.New(t)
		w.Config.Memory.Off = off
		w.Plan.Propose = oneTask
		var said []message.Message
		for _, text := range []string{"use yarn", "Use yarn", "gone", "use yarn"} {
			said = append(said, w.Say("human-1", "", "", message.MemoryFact{Text: text}))
		}
		w.Say("human-1", "", "", message.MemoryForget{IDs: []string{string(said[2].ID)}})
		play(t, w, w.Start("do it"))
		in, want := w.Plan.Asked[0], "use yarn, Use yarn"
		if off {
			want = ""
		}
		if got := strings.Join(in.Facts, ", "); got != want {
			t.Errorf("off: %v: told %q, want %q", off, got, want)
		}
	}
}

// A step may die at any of its messages. What it left is tidied up and the
// same work is done again, once.
func TestAPlannerThatDiesInTheMiddleLeavesNothing(t *testing.T) {
	w := steptest.New(t)
	w.Plan.Propose = oneTask
	id := w.Start("do it")
	for range 2 {
		due := w.Due()
		if err := w.Do(due[0], runners[due[0].Key.Role]); err != nil {
			t.Fatal(err)
		}
		w.Tidy(steptest.Nobody)
	}
	a := w.Due()[0]
	e := w.Claim(a)
	e.Board = dying{e.Board, new(int), 1}
	if err := planner.Run(context.Background(), e); !errors.Is(err, errDied) {
		t.Fatalf("it should have died: %v", err)
	}
	w.Tidy(steptest.Nobody)
	w.View(func(s *blackboard.State) {
		if n := s.Counts(id)[blackboard.Void]; n != 1 || s.Counts(id)[blackboard.Draft] != 0 {
			t.Errorf("counts %v, want one void draft", s.Counts(id))
		}
	})
	if again := w.Due(); len(again) != 1 || again[0].Key != a.Key {
		t.Fatalf("due %v, want the same plan again", again)
	}
	play(t, w, id)
	if g := w.Goal(id); len(g.Plans) != 1 || len(g.Plans[0].Tasks) != 1 {
		t.Errorf("plans %+v", g.Plans)
	}
}

var errDied = errors.New("killed here")

// dying is a board whose process is killed before its n-th append.
type dying struct {
	step.Board
	said *int
	n    int
}

func (d dying) AppendFunc(ctx context.Context, f func(*blackboard.State) (message.Message, error), o ...blackboard.AppendOption) (message.Message, error) {
	if *d.said++; *d.said > d.n {
		return message.Message{}, errDied
	}
	return d.Board.AppendFunc(ctx, f, o...)
}

// Every step of a whole goal is killed before its first message, then before
// its second, and so on; the goal still ends the same way, with one effect each.
func TestDeathAnywhereChangesNothing(t *testing.T) {
	for n := range 4 {
		w := steptest.New(t)
		w.Plan.Propose = func(in think.PlanInput) (think.Proposal, error) {
			p, err := oneTask(in)
			p.Tasks[0].ReadOnly = true
			return p, err
		}
		w.Work.Act = func(ctx context.Context, _ think.ExecuteInput, tools think.Tools) (think.Execution, error) {
			_, err := tools.Do(ctx, "shell", steptest.Shell("read it"))
			return think.Execution{Status: message.Completed, Output: "seen"}, err
		}
		id := w.Start("do it")
		for range 40 {
			w.Tidy(steptest.Nobody)
			due := w.Due()
			if len(due) == 0 {
				break
			}
			a := due[0]
			if prior := tries(w, a.Key); prior < 2 {
				e := w.Claim(a)
				e.Board = dying{e.Board, new(int), n}
				if err := runners[a.Key.Role](context.Background(), e); err != nil && !errors.Is(err, errDied) {
					t.Fatal(err)
				}
				continue // nobody ends it: it is found dead
			}
			if err := w.Do(a, runners[a.Key.Role]); err != nil {
				t.Fatal(err)
			}
		}
		g := w.Goal(id)
		if len(g.Rounds) != 1 || g.Rounds[0].Summary == nil || len(g.Plans) != 1 {
			t.Errorf("killed before message %d: rounds %+v", n+1, g.Rounds)
		}
		for _, typ := range []message.Type{"TaskSpec", "MemoryQuery", "DispatchManifest", "ExecutionResult", "SubTaskOutcome", "OutcomeSummary"} {
			if got := len(w.Messages(typ)); got != 1 {
				t.Errorf("killed before message %d: %d of %s", n+1, got, typ)
			}
		}
	}
}

func tries(w *steptest.World, key blackboard.ActivationKey) (n int) {
	w.View(func(s *blackboard.State) {
		a, _ := s.Activation(key)
		n = a.Try
	})
	return n
}

func TestInvariant_IdsAreTheRuntimes(t *testing.T) {
	w := steptest.New(t)
	w.Plan.Propose = func(in think.PlanInput) (think.Proposal, error) {
		p, err := oneTask(in)
		p.Tasks[0].Action = json.RawMessage(`{"id":"00000000-0000-0000-0000-000000000000"}`)
		second := p.Tasks[0]
		second.Slot, second.Intent, second.Approach, second.DependsOn = "more", "and more", "other", []string{"fix"}
		p.Tasks = append(p.Tasks, second)
		return p, err
	}
	id := w.Start("do it")
	play(t, w, id)
	seen := map[message.TaskID]bool{}
	for _, x := range w.Tasks(id) {
		if len(x.ID) != 36 || strings.HasPrefix(string(x.ID), "00000000") || seen[x.ID] || len(x.PlanID) != 36 {
			t.Errorf("task id %q of plan %q", x.ID, x.PlanID)
		}
		seen[x.ID] = true
		for _, c := range x.SuccessCriteria {
			if !strings.HasPrefix(c.ID, x.Slot+".") {
				t.Errorf("criterion id %q", c.ID)
			}
		}
	}
	tasks := w.Tasks(id)
	i := slices.IndexFunc(tasks, func(x blackboard.Task) bool { return x.Slot == "more" })
	j := slices.IndexFunc(tasks, func(x blackboard.Task) bool { return x.Slot == "fix" })
	if len(tasks) != 2 || len(tasks[i].DependsOn) != 1 || tasks[i].DependsOn[0] != tasks[j].ID {
		t.Errorf("dependencies were not mapped: %+v", tasks)
	}
}

// A step that ends well without saying anything is shown to a person, and runs
// again when the person says so.
func TestAStepThatSaysNothingIsShownAndRetried(t *testing.T) {
	w := steptest.New(t)
	w.Plan.Propose = oneTask
	id := w.Start("do it")
	if err := w.Do(w.Due()[0], func(context.Context, *step.Env) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if due := w.Due(); len(due) != 0 {
		t.Fatalf("it spins: %v", due)
	}
	w.Tidy(steptest.Nobody)
	if g := w.Goal(id); g.Status != blackboard.GoalSuspended || g.Suspended.Command != "orch goals retry "+string(id) {
		t.Fatalf("the goal is %s: %+v", g.Status, g.Suspended)
	}
	w.Say("human-1", id, "", message.Unblocked{Reason: "try again"})
	play(t, w, id)
	if g := w.Goal(id); len(g.Rounds) != 1 || g.Rounds[0].Summary == nil {
		t.Errorf("after the retry: %+v", g.Rounds)
	}
}
