package blackboard

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"orch/blackboard/message"
)

// fannedIn is a goal whose plan of two tasks is over: one matched, one did not.
func fannedIn(t *testing.T) *script {
	c := newScript(t)
	c.perceived("g")
	c.planned("g", "p", sub("ok", "p", 1), sub("bad", "p", 1))
	c.matched("ok")
	c.failed("bad")
	return c
}

func TestInvariant_GGSIsTheSoleEmitterOfFinalResult(t *testing.T) {
	c := fannedIn(t)
	c.say(message.ReplanRequest{TaskID: "g", PlanID: "p"}, inGoal("g"))
	round := c.goal("g").Rounds[0].Ref.ID
	final := message.FinalResult{TaskID: "g", Directive: message.Abandon, NextMoves: []string{"x"}}
	for _, r := range message.Roles() {
		if r != message.GGS {
			c.refused("may be sent by", final, inGoal("g"), because(round), sentBy(r))
		}
	}
	c.say(final, inGoal("g"), because(round))
}

func TestInvariant_OnlyFinalResultEndsAGoal(t *testing.T) {
	c := fannedIn(t)
	for _, b := range []message.Body{message.Aborted{}, message.CheckpointReached{Name: "n"}, message.BudgetReached{Cap: "cost"}, message.Paused{}, message.CircuitBreaker{Finding: "f"}} {
		c.say(b, inGoal("g"))
		if got := c.goal("g").Status; got != GoalSuspended {
			t.Errorf("%s made the goal %s", b.Type(), got)
		}
	}
}

func TestInvariant_FinalResultDirectiveIsAcceptSuccessOrAbandon(t *testing.T) {
	c := fannedIn(t)
	c.say(message.ReplanRequest{TaskID: "g", PlanID: "p"}, inGoal("g"))
	round := c.goal("g").Rounds[0].Ref.ID
	for _, d := range []message.Directive{"", message.Init, message.Refine, message.ChangePath, message.ChangeApproach, message.BreakSymmetry} {
		c.refused("not accept, success or abandon", message.FinalResult{TaskID: "g", Directive: d}, inGoal("g"), because(round))
	}
	c.refused("not everything matched", message.FinalResult{TaskID: "g", Directive: message.Accept}, inGoal("g"), because(round))
}

func TestInvariant_ReplanRequestGoesToGGSNeverToThePlanner(t *testing.T) {
	c := fannedIn(t)
	c.refused("goes to", message.ReplanRequest{TaskID: "g", PlanID: "p"}, inGoal("g"), sentTo(message.Planner))
	c.say(message.ReplanRequest{TaskID: "g", PlanID: "p"}, inGoal("g"))
	if c.goal("g").PlanCause.Seq != 0 {
		t.Error("the request woke the planner by itself")
	}
}

func TestInvariant_PlannerDoesNotDirectItself(t *testing.T) {
	c := fannedIn(t)
	c.say(sub("new", "q", 1), inGoal("g"))
	c.refused("no plan is asked for", c.manifest("g", "q", "new"), inGoal("g"), because("m3"))
	c.refused("may be sent by", message.PlanDirective{TaskID: "g", Directive: message.Refine}, inGoal("g"), sentBy(message.Planner))
	c.say(message.ReplanRequest{TaskID: "g", PlanID: "p"}, inGoal("g"))
	d := c.say(message.PlanDirective{TaskID: "g", Directive: message.Refine}, inGoal("g"), because(c.goal("g").Rounds[0].Ref.ID))
	c.refused("a plan is asked for by", c.manifest("g", "q", "new"), inGoal("g"), because("m3"))
	c.say(c.manifest("g", "q", "new"), inGoal("g"), because(d.ID))
}

func TestInvariant_ARoundIsAnsweredOnce(t *testing.T) {
	c := fannedIn(t)
	c.say(message.ReplanRequest{TaskID: "g", PlanID: "p"}, inGoal("g"))
	round := c.goal("g").Rounds[0].Ref.ID
	c.refused("waits for the controller", message.ReplanRequest{TaskID: "g", PlanID: "p"}, inGoal("g"))
	c.refused("open is the round of", message.PlanDirective{TaskID: "g", Directive: message.Refine}, inGoal("g"), because("m1"))
	c.say(message.PlanDirective{TaskID: "g", Directive: message.Refine}, inGoal("g"), because(round))
	c.refused("no round waits", message.PlanDirective{TaskID: "g", Directive: message.Refine}, inGoal("g"), because(round))
	c.refused("a new plan is asked for", message.ReplanRequest{TaskID: "g", PlanID: "p"}, inGoal("g"))
}

func TestInvariant_OneMegramPerCauseAndOrdinal(t *testing.T) {
	c := fannedIn(t)
	c.say(message.ReplanRequest{TaskID: "g", PlanID: "p"}, inGoal("g"))
	round := c.goal("g").Rounds[0].Ref.ID
	c.say(message.Megram{ID: "a", Ordinal: 1}, inGoal("g"), because(round))
	c.refused("written before", message.Megram{ID: "b", Ordinal: 1}, inGoal("g"), because(round))
	c.say(message.Megram{ID: "c", Ordinal: 2}, inGoal("g"), because(round))
	c.refused("may be sent by", message.Megram{ID: "d", Ordinal: 3}, inGoal("g"), because(round), sentBy(message.MetaValidator))
	if got := c.goal("g").Rounds[0].Megrams; !slices.Equal(got, []string{"Megram:1", "Megram:2"}) {
		t.Errorf("megrams %v", got)
	}
}

func TestInvariant_FanInIsCompleteBeforeTheControllerIsAsked(t *testing.T) {
	for _, st := range []Status{Unclaimed, Claimed, ReadyForReview, Rejected} {
		c := inStatus(t, message.Executor, st)
		c.refused("fan-in is not complete", message.ReplanRequest{TaskID: "g", PlanID: "p"}, inGoal("g"))
	}
	c := inStatus(t, message.Coder, Approved)
	c.refused("fan-in is not complete", message.ReplanRequest{TaskID: "g", PlanID: "p"}, inGoal("g"))
	for _, st := range []Status{Approved, Blocked} {
		c := inStatus(t, message.Executor, st)
		c.refused("not the current one", message.ReplanRequest{TaskID: "g", PlanID: "other"}, inGoal("g"))
		c.say(message.ReplanRequest{TaskID: "g", PlanID: "p"}, inGoal("g"))
	}
}

func TestInvariant_MatchedIffEveryCriterionPassed(t *testing.T) {
	c := newScript(t)
	c.perceived("g")
	x := sub("t", "p", 1)
	x.SuccessCriteria = []message.Criterion{criterion("a"), criterion("b")}
	c.planned("g", "p", x)
	c.attempt("t", "executor-1")
	say := func(status string, v ...message.Verdict) message.SubTaskOutcome {
		return message.SubTaskOutcome{SubtaskID: "t", Status: status, CriteriaVerdicts: v}
	}
	by := as("agent-validator-1")
	c.refused("criterion b has no passing verdict", say(message.Matched, passes("a")), by)
	c.refused("matched with failed criterion b", say(message.Matched, passes("a"), fails("b")), by)
	c.refused("no criterion failed", say(message.Failed, passes("a"), passes("b")), by)
	c.refused("not skipped", say(message.Skipped), by)
	c.say(say(message.Matched, passes("a"), passes("b")), by)
}

func TestInvariant_OutcomeSummaryOnlyOverWhatMatched(t *testing.T) {
	c := fannedIn(t)
	both := []message.SubTaskOutcome{
		{SubtaskID: "ok", Status: message.Matched, CriteriaVerdicts: []message.Verdict{passes("c")}},
		{SubtaskID: "bad", Status: message.Matched, CriteriaVerdicts: []message.Verdict{passes("c")}},
	}
	c.refused("not everything matched", message.OutcomeSummary{TaskID: "g", PlanID: "p", Outcomes: both}, inGoal("g"))

	c = newScript(t)
	c.perceived("g")
	c.planned("g", "p", sub("a", "p", 1))
	c.matched("a")
	b := message.OutcomeSummary{TaskID: "g", PlanID: "p"}
	c.refused("no outcome of task a", b, inGoal("g"))
	b.Outcomes = []message.SubTaskOutcome{*c.task("a").Outcome}
	c.refused("criterion t of the goal was not judged", b, inGoal("g"))
	b.TaskVerdicts = []message.Verdict{passes("t")}
	m := c.say(b, inGoal("g"))
	c.say(message.FinalResult{TaskID: "g", Directive: message.Accept}, inGoal("g"), because(m.ID))
}

func TestInvariant_TaskSpecKeepsThePersonsWordsAndCarriesNoCriteria(t *testing.T) {
	c := newScript(t)
	c.say(message.UserInput{Text: " do it \n", Profile: "task"}, inGoal("g"))
	c.refused("byte for byte", message.TaskSpec{TaskID: "g", Intent: "i", RawInput: "do it"}, inGoal("g"))
	c.refused("task_id", message.TaskSpec{TaskID: "h", Intent: "i", RawInput: " do it \n"}, inGoal("g"))
	c.say(message.TaskSpec{TaskID: "g", Intent: "i", RawInput: " do it \n"}, inGoal("g"))
	if _, err := message.Decode("TaskSpec", []byte(`{"task_id":"g","intent":"i","raw_input":"r","success_criteria":[]}`)); err == nil {
		t.Error("a TaskSpec may carry criteria")
	}
}

func TestInvariant_AtMostTwoRoundsOfQuestions(t *testing.T) {
	c := newScript(t)
	c.say(message.UserInput{Text: "x", Profile: "task"}, inGoal("g"))
	for round := 1; round <= 2; round++ {
		c.say(message.ClarificationQuestion{Round: round, Questions: []string{"q?"}}, inGoal("g"))
		if g := c.goal("g"); g.Status != GoalSuspended || g.Suspended.Command != "orch answer" {
			t.Errorf("round %d: %+v", round, g)
		}
		c.refused("not answered", message.TaskSpec{TaskID: "g", Intent: "i", RawInput: "x"}, inGoal("g"))
		c.refused("waits for an answer", message.Resumed{}, inGoal("g"))
		c.say(message.ClarificationAnswer{Round: round}, inGoal("g"))
		if got := c.goal("g").Status; got != GoalOpen {
			t.Errorf("after the answer: %s", got)
		}
	}
	c.refused("at most 2", message.ClarificationQuestion{Round: 3, Questions: []string{"q?"}}, inGoal("g"))
}

func TestInvariant_OneMemoryQueryPerRound(t *testing.T) {
	c := newScript(t)
	c.perceived("g")
	c.refused("no query", message.MemoryTimeout{}, inGoal("g"))
	c.say(message.MemoryQuery{Space: "s"}, inGoal("g"))
	c.refused("asked in this round", message.MemoryQuery{Space: "s"}, inGoal("g"))
	c.say(message.MemoryTimeout{}, inGoal("g"))
	c.refused("no query", message.MemoryAnswer{}, inGoal("g"))
	c.say(sub("a", "p", 1), inGoal("g"))
	c.say(message.PlanRejected{PlanID: "p", Attempt: 1}, inGoal("g"))
	c.refused("asked in this round", message.MemoryQuery{Space: "s"}, inGoal("g"))
}

func TestInvariant_TheSameWordsAreOneOpenGoal(t *testing.T) {
	c := fannedIn(t)
	err := c.refused("asks for the same", message.UserInput{Text: " do g\n", Profile: "task"}, inGoal("h"))
	var open *GoalOpenError
	if !errors.As(err, &open) || open.Goal != "g" || !strings.Contains(open.Hint(), "--continue") {
		t.Errorf("got %#v", err)
	}
	c.say(message.ReplanRequest{TaskID: "g", PlanID: "p"}, inGoal("g"))
	c.say(message.FinalResult{TaskID: "g", Directive: message.Abandon, NextMoves: []string{"x"}}, inGoal("g"), because(c.goal("g").Rounds[0].Ref.ID))
	c.say(message.UserInput{Text: "do g", Profile: "task"}, inGoal("h"))
}

func TestInvariant_NobodyJudgesTheirOwnWork(t *testing.T) {
	c := inStatus(t, message.Executor, ReadyForReview)
	matched := message.SubTaskOutcome{SubtaskID: "t", Status: message.Matched, CriteriaVerdicts: []message.Verdict{passes("c")}}
	c.refused("own work", matched, as("executor-1"))
	c.refused("no agent", matched)
	c.refused("may be sent by", matched, as("executor-1"), sentBy(message.Executor))

	c = inStatus(t, message.Coder, ReadyForReview)
	approve := message.ReviewVerdict{Task: "t", ReviewCommit: "abc", Decision: message.Approved}
	c.refused("own work", approve, as("coder-1"))
	c.refused("own work", message.ReviewClaimed{Task: "t", ReviewingBy: "coder-1", Fence: 1})
	approve.ReviewCommit = "abd"
	c.refused("submitted is", approve, as("code-reviewer-1"))
}

func TestInvariant_ADraftIsNeverClaimed(t *testing.T) {
	c := inStatus(t, message.Executor, Draft)
	c.refused("it is DRAFT", message.Claimed{Task: "t", Agent: "executor-1", Fence: 1})
	c.claimable("")
}

func TestInvariant_AFenceIsUsedOnce(t *testing.T) {
	c := inStatus(t, message.Executor, Unclaimed)
	c.refused("fence 0 after 0", message.Claimed{Task: "t", Agent: "executor-1", Fence: 0})
	c.refused("fence 2 after 0", message.Claimed{Task: "t", Agent: "executor-1", Fence: 2})
	c.claim("t", "executor-1")
	c.refused("executor-1 holds it", message.Claimed{Task: "t", Agent: "executor-2", Fence: 2})
}

func TestInvariant_ACallHasAStartAndOneEnd(t *testing.T) {
	c := inStatus(t, message.Executor, Claimed)
	held := []with{about("t"), as("executor-1"), under(1)}
	c.refused("was not started", message.ToolCall{Call: "x"}, held...)
	c.say(message.ToolStarted{Call: "x"}, held...)
	c.refused("has not ended", message.ToolStarted{Call: "y"}, held...)
	c.refused("has not ended", message.ExecutionResult{SubtaskID: "t", Attempt: 1, Status: message.Completed}, held...)
	c.refused("open is x", message.ToolCall{Call: "y"}, held...)
	c.say(message.ToolCall{Call: "x", Class: message.Environmental, Kind: "transient", Approach: "a"}, held...)
	c.say(message.ToolCall{Call: "z", Denied: "no"}, held...)
	c.say(message.ToolStarted{Call: "w"}, held...)

	// The next holder finds the call that may or may not have happened.
	c.say(message.LeaseLapsed{Task: "t", Agent: "executor-1", Fence: 1})
	c.claim("t", "executor-2")
	got := c.task("t")
	if got.OpenCall == nil || got.OpenCall.Call != "w" || len(got.FailedCalls) != 1 {
		t.Fatalf("got %+v", got)
	}
	c.say(message.ExecutionResult{SubtaskID: "t", Attempt: 1, Status: message.Failed}, as("executor-2"), under(2))
	if c.task("t").OpenCall != nil {
		t.Error("the call is still open after the attempt")
	}
}

// A call that an agent's own record shows neither starts nor ends one of ours,
// and is held against nobody.
func TestInvariant_AnObservedCallChangesNothing(t *testing.T) {
	c := inStatus(t, message.Executor, Claimed)
	held := []with{about("t"), as("executor-1"), under(1)}
	c.say(message.ToolStarted{Call: "run"}, held...)
	c.say(message.ToolCall{Call: "seen", Observed: true, Exit: 1, Class: message.Environmental, Approach: "a"}, held...)
	c.say(message.ToolCall{Call: "run", Observed: true}, held...)
	if got := c.task("t"); got.OpenCall == nil || got.OpenCall.Call != "run" || len(got.FailedCalls) != 0 {
		t.Fatalf("got %+v", got)
	}
	c.refused("", message.ToolCall{Call: "late", Observed: true}, about("t"), as("executor-2"), under(1))
	c.say(message.ToolCall{Call: "run"}, held...)
	if c.task("t").OpenCall != nil {
		t.Error("the run is still open")
	}
}

func TestInvariant_AnActivationRunsOnceAtATime(t *testing.T) {
	c := newScript(t)
	c.perceived("g")
	start := func(agent message.AgentID, try int) message.StepStarting {
		return message.StepStarting{Role: message.Planner, Subject: "g", Cause: "m3", Agent: agent, Try: try, Reserve: 0.5}
	}
	end := func(class string) message.StepEnded {
		return message.StepEnded{Role: message.Planner, Subject: "g", Cause: "m3", Agent: "planner-1", Class: class, Cost: 0.2}
	}
	c.refused("no step", end(message.EndDone), inGoal("g"))
	c.say(start("planner-1", 1), inGoal("g"))
	err := c.refused("is taken", start("planner-2", 1), inGoal("g"))
	var taken *ActivationTakenError
	if !errors.As(err, &taken) || taken.Done {
		t.Errorf("got %#v", err)
	}
	if got := c.s.NextAgent(message.Planner); got != "planner-2" {
		t.Errorf("next agent %s", got)
	}
	c.after(5 * time.Second)
	c.say(end(message.EndCrash), inGoal("g"))
	c.refused("try 1 after 1", start("planner-1", 1), inGoal("g"))
	c.say(start("planner-1", 2), inGoal("g"))
	c.after(time.Hour) // asleep
	c.say(end(message.EndDone), inGoal("g"))
	c.refused("has done it", start("planner-1", 3), inGoal("g"))
	g := c.goal("g")
	if g.ActiveMS != 5_000+ActiveGapMS || g.Running != 0 || g.Reserved != 0 || g.Cost != 0.4 || g.Steps != 2 {
		t.Errorf("meter %+v", g)
	}
	if a := c.s.ActivationsOf("g"); len(a) != 1 || a[0].Crashes != 1 {
		t.Errorf("activations %+v", a)
	}
}

func TestInvariant_NothingStartsUnderABrakeOrOutsideAnOpenGoal(t *testing.T) {
	c := newScript(t)
	c.perceived("g")
	b := message.StepStarting{Role: message.Planner, Subject: "g", Cause: "m3", Agent: "planner-1", Try: 1}
	c.say(message.Paused{})
	c.refused("paused", b, inGoal("g"))
	c.say(message.Resumed{})
	c.say(message.BudgetReached{Cap: "cost"}, inGoal("g"))
	err := c.refused("SUSPENDED (budget)", b, inGoal("g"))
	var hinted interface{ Hint() string }
	if !errors.As(err, &hinted) || hinted.Hint() != "`orch resume --max-cost N`" {
		t.Errorf("got %#v", err)
	}
}

func TestInvariant_AnIdentityBelongsToOneProcess(t *testing.T) {
	c := inStatus(t, message.Executor, Claimed)
	reg := func(pid int) message.Registered {
		return message.Registered{Agent: "executor-1", Role: message.Executor, Process: message.Process{PID: pid}, Lease: message.Lease{ExpiresAt: c.now.Add(time.Minute)}}
	}
	c.say(reg(1))
	if got := c.task("t").Step.PID; got != 1 {
		t.Errorf("the claim's process is %d", got)
	}
	var live *AgentLiveError
	if err := c.refused("registered by process 1", reg(2)); !errors.As(err, &live) {
		t.Errorf("got %T", err)
	}
	c.say(reg(1))
	c.after(2 * time.Minute)
	c.say(reg(2))
	c.say(message.Deregistered{Agent: "executor-1"})
	c.say(message.Deregistered{Agent: "executor-1"})
	c.say(reg(3))
	c.refused("can not act as", message.Registered{Agent: "executor-1", Role: message.Planner})
}

func TestInvariant_PermissionsAreAskedForAndGivenOnce(t *testing.T) {
	c := inStatus(t, message.Executor, Claimed)
	c.say(message.ApprovalRequest{Request: "r1", Task: "t", Rule: []byte(`{"a":1}`)})
	c.say(message.ApprovalRequest{Request: "r2", Task: "t", Rule: []byte(`{"b":1}`)})
	c.refused("made before", message.ApprovalRequest{Request: "r1", Task: "t"})
	if g := c.goal("g"); g.Status != GoalSuspended || g.Suspended.Command != "orch allow r2" {
		t.Errorf("%+v", g.Suspended)
	}
	c.say(message.ApprovalGiven{Request: "r1", Allowed: true})
	if g := c.goal("g"); g.Status != GoalSuspended || g.Suspended.Command != "orch allow r2" {
		t.Errorf("%+v", g.Suspended)
	}
	c.say(message.ApprovalGiven{Request: "r2", Allowed: true, Always: true})
	c.refused("answered before", message.ApprovalGiven{Request: "r2"})
	if got := c.goal("g").Status; got != GoalOpen {
		t.Errorf("goal is %s", got)
	}
	if got := c.s.Rules("g"); !slices.Equal(got, []string{`{"b":1}`, `{"a":1}`}) {
		t.Errorf("rules %v", got)
	}
	if got := c.s.Rules(""); !slices.Equal(got, []string{`{"b":1}`}) {
		t.Errorf("rules of the board %v", got)
	}
}

func TestInvariant_PlansAreSound(t *testing.T) {
	build := func(change func(a, b *message.SubTask)) (*script, message.ID) {
		c := newScript(t)
		c.perceived("g")
		a, b := sub("a", "p", 1), sub("b", "p", 1)
		change(&a, &b)
		c.say(a, inGoal("g"))
		c.say(b, inGoal("g"))
		return c, c.goal("g").PlanCause.ID
	}
	for want, change := range map[string]func(a, b *message.SubTask){
		"depend on each other": func(a, b *message.SubTask) { a.DependsOn, b.DependsOn = []message.TaskID{"b"}, []message.TaskID{"a"} },
		"which does not exist": func(a, _ *message.SubTask) { a.DependsOn = []message.TaskID{"x"} },
		"which has a higher":   func(a, b *message.SubTask) { a.DependsOn, b.Sequence = []message.TaskID{"b"}, 2 },
		"belongs to plan q":    func(a, _ *message.SubTask) { a.PlanID = "q" },
	} {
		c, cause := build(change)
		c.refused(want, c.manifest("g", "p", "a", "b"), inGoal("g"), because(cause))
	}
	c, cause := build(func(a, _ *message.SubTask) { a.DependsOn = []message.TaskID{"b"} })
	c.refused("which the plan drops", c.manifest("g", "p", "a"), inGoal("g"), because(cause))
	c.refused("twice", c.manifest("g", "p", "a", "b", "a"), inGoal("g"), because(cause))
	c.refused("no task nope", c.manifest("g", "p", "nope"), inGoal("g"), because(cause))
	m := c.manifest("g", "p", "b")
	m.Kept = []message.TaskID{"a"}
	c.refused("keeps task a, which is DRAFT", m, inGoal("g"), because(cause))
	c.say(c.manifest("g", "p", "b", "a"), inGoal("g"), because(cause))
	c.refused("already", sub("a", "q", 1), inGoal("g"))
	c.refused("is committed", sub("z", "p", 1), inGoal("g"))
}

func TestInvariant_AFactToRememberNeedsNoPlan(t *testing.T) {
	c := newScript(t)
	c.say(message.UserInput{Text: "x", Profile: "task"}, inGoal("g"))
	spec := c.say(message.TaskSpec{TaskID: "g", Intent: "i", RawInput: "x", Declarative: true}, inGoal("g"))
	if c.goal("g").PlanCause.Seq != 0 {
		t.Error("a fact asks for a plan")
	}
	c.say(message.Megram{ID: "a", Ordinal: 1}, inGoal("g"), because(spec.ID))
	c.refused("written before", message.Megram{ID: "a", Ordinal: 1}, inGoal("g"), because(spec.ID))
	c.refused("needs no plan", message.PlanDirective{TaskID: "g", Directive: message.Refine}, inGoal("g"), because(spec.ID))
	c.say(message.FinalResult{TaskID: "g", Directive: message.Accept}, inGoal("g"), because(spec.ID))
}

func TestInvariant_AnEditIsOfWhatIsThere(t *testing.T) {
	c := inStatus(t, message.Executor, Unclaimed)
	edit := func(field, old, now string) message.HumanEdit {
		return message.HumanEdit{Edits: []message.Edit{{Task: "t", Field: field, Old: []byte(old), New: []byte(now)}}}
	}
	c.refused("no longer what was edited", edit("priority", "1", "2"))
	c.refused("can not be edited", edit("fence", "0", "9"))
	c.refused("can not be", edit("priority", "100", `"high"`))
	c.refused("without intent", edit("intent", `"do t"`, `""`))
	c.refused("wait for itself", edit("depends_on", "[]", `["t"]`))
	c.refused("does not exist", edit("depends_on", "null", `["x"]`))
	c.refused("can not take task t from UNCLAIMED to ABANDONED", edit("status", `"UNCLAIMED"`, `"ABANDONED"`))
	c.refused("there is no task", message.HumanEdit{Edits: []message.Edit{{Task: "x", Field: "priority"}}})
	c.say(edit("human_notes", "", `["mind the gap"]`))
	c.say(edit("human_notes", `["mind the gap"]`, `[]`))
	c.say(edit("priority", "100", "-3"))
	if got := c.task("t"); got.Priority != -3 || len(got.HumanNotes) != 0 {
		t.Errorf("got %+v", got)
	}
}

func TestInvariant_TheFirstMessageIsGenesisAndSeqHasNoGaps(t *testing.T) {
	c := &script{t: t, s: NewState()}
	c.refused("the first message", message.Paused{})
	c.say(message.Genesis{Format: 1, Board: "b"})
	c.refused("one already", message.Genesis{Format: 1, Board: "b"})
	skip := func(m *message.Message) { m.Seq++ }
	c.refused("has seq 3, want 2", message.Paused{}, skip)
	c.refused("no id", message.Paused{}, func(m *message.Message) { m.ID = "" })
	if err := Apply(c.s, message.Message{Seq: 2, ID: "x"}); !errors.Is(err, message.ErrUnknownType) {
		t.Errorf("no body: %v", err)
	}
}
