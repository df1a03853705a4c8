package blackboard

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"orch/blackboard/message"
)

// coding is a board with one goal whose plan has the tasks, all for coders.
func coding(t *testing.T, tasks ...message.SubTask) *script {
	t.Helper()
	c := newScript(t)
	c.say(message.UserInput{Text: "do g", Profile: "code"}, inGoal("g"))
	c.say(message.TaskSpec{TaskID: "g", Intent: "do it", RawInput: "do g"}, inGoal("g"))
	var ids []message.TaskID
	for _, x := range tasks {
		ids = append(ids, x.ID)
		c.say(x, inGoal("g"), sentTo(message.Coder))
	}
	c.say(c.manifest("g", "p", ids...), inGoal("g"), because(c.goal("g").PlanCause.ID))
	return c
}

func (c *script) submit(id message.TaskID, agent message.AgentID, commit string) {
	c.t.Helper()
	f := c.claim(id, agent)
	c.say(message.ReviewRequested{Task: id, ReviewCommit: commit}, as(agent), under(f))
}

func (c *script) approved(id message.TaskID) {
	c.t.Helper()
	c.say(message.ReviewVerdict{Task: id, ReviewCommit: c.task(id).Review.Commit, Decision: message.Approved, Checks: []message.Verdict{passes("c")}}, as("code-reviewer-1"))
}

func (c *script) merge(id message.TaskID) {
	c.t.Helper()
	c.say(message.MergeStarting{Task: id, From: "a", To: "b"})
	c.say(message.Merged{Task: id, From: "a", To: "b"})
}

func (c *script) blockedBy(id message.TaskID, agent message.AgentID) {
	c.t.Helper()
	f := c.claim(id, agent)
	c.say(message.Blocked{Task: id, BlockedReason: "no spec for it", BlockedQuestions: []string{"which way?"}, Kind: message.BlockedSpec}, as(agent), under(f))
}

var wrong = message.Blocker{File: "a.go", Line: 3, Defect: "off by one", Fix: "use <"}

func rejects(id message.TaskID, commit string, v message.ReviewVerdict) message.ReviewVerdict {
	v.Task, v.ReviewCommit, v.Decision = id, commit, message.Rejected
	if v.Checks == nil {
		v.Checks = []message.Verdict{passes("c")}
	}
	return v
}

func TestVerdictsBind(t *testing.T) {
	c := coding(t, sub("t", "p", 1))
	c.submit("t", "coder-1", "one")
	reviewer := as("code-reviewer-1")
	approve := message.ReviewVerdict{Task: "t", ReviewCommit: "one", Decision: message.Approved}
	c.refused("no passing check", approve, reviewer)
	approve.Checks = []message.Verdict{fails("c")}
	c.refused("failed checks", approve, reviewer)
	c.refused("submitted is", rejects("t", "other", message.ReviewVerdict{Blockers: []message.Blocker{wrong}}), reviewer)
	c.refused("without a blocker", rejects("t", "one", message.ReviewVerdict{}), reviewer)
	for field, b := range map[string]message.Blocker{
		"file":   {Line: 1, Defect: "d", Fix: "f"},
		"line":   {File: "a.go", Defect: "d", Fix: "f"},
		"defect": {File: "a.go", Line: 1, Fix: "f"},
		"fix":    {File: "a.go", Line: 1, Defect: "d"},
	} {
		c.refused(field, rejects("t", "one", message.ReviewVerdict{Blockers: []message.Blocker{b}}), reviewer)
	}
	c.say(rejects("t", "one", message.ReviewVerdict{Blockers: []message.Blocker{wrong}}), reviewer)
	if r := c.task("t").Review; r.Cycles != 1 || r.CyclesTotal != 1 || len(r.Pending) != 1 {
		t.Fatalf("after a rejection: %+v", r)
	}

	c.submit("t", "coder-1", "two")
	other := message.Blocker{File: "b.go", Line: 1, Defect: "no test", Fix: "write one"}
	c.refused("does not say what became", rejects("t", "two", message.ReviewVerdict{Blockers: []message.Blocker{other}}), reviewer)
	say := func(state string) []message.Feedback { return []message.Feedback{{What: wrong.Name(), State: state}} }
	c.refused("not RESOLVED, STILL_PRESENT", rejects("t", "two", message.ReviewVerdict{Blockers: []message.Blocker{other}, PriorFeedback: say("FIXED")}), reviewer)
	c.refused("no review left open", rejects("t", "two", message.ReviewVerdict{Blockers: []message.Blocker{other},
		PriorFeedback: append(say(message.Partial), message.Feedback{What: "else", State: message.Resolved})}), reviewer)
	c.say(rejects("t", "two", message.ReviewVerdict{Checks: []message.Verdict{fails("c")}}), reviewer)
	if got := c.task("t").Review.Pending; len(got) != 1 || got[0] != wrong {
		t.Errorf("a red check lost what was pending: %+v", got)
	}

	c.submit("t", "coder-1", "three")
	approve = message.ReviewVerdict{Task: "t", ReviewCommit: "three", Decision: message.Approved, Checks: []message.Verdict{passes("c")}, PriorFeedback: say(message.Partial)}
	c.refused("not RESOLVED", approve, reviewer)
	approve.PriorFeedback = say(message.Resolved)
	c.refused("own work", approve, as("coder-1"))
	c.say(approve, reviewer)
	if r := c.task("t").Review; r.CyclesTotal != 2 || len(r.Pending) != 0 || r.Approvals != 1 {
		t.Errorf("after the approval: %+v", r)
	}
}

func TestCyclesAreOfOneCoderAndTheTotalStays(t *testing.T) {
	c := coding(t, sub("t", "p", 1))
	for n := range 2 {
		c.submit("t", "coder-1", fmt.Sprint(n))
		c.say(rejects("t", fmt.Sprint(n), message.ReviewVerdict{Checks: []message.Verdict{fails("c")}, Blockers: []message.Blocker{wrong}}), as("code-reviewer-1"))
	}
	if r := c.task("t").Review; r.Cycles != 2 || r.Iterations != 2 {
		t.Fatalf("%+v", r)
	}
	f := c.claim("t", "coder-1")
	if r := c.task("t").Review; r.Cycles != 2 || len(r.Pending) != 1 {
		t.Errorf("the same coder starts anew: %+v", r)
	}
	c.say(message.Released{Task: "t", Agent: "coder-1", Fence: f})
	c.claim("t", "coder-2")
	if r := c.task("t").Review; r.Cycles != 0 || r.Iterations != 0 || r.CyclesTotal != 2 || len(r.Pending) != 0 {
		t.Errorf("another coder: %+v", r)
	}
}

func TestAReviewLeaseIsExtended(t *testing.T) {
	c := coding(t, sub("t", "p", 1))
	c.submit("t", "coder-1", "one")
	lease := message.Lease{Boot: "b", AwakeMS: 9, ExpiresAt: c.now.Add(time.Minute)}
	c.say(message.ReviewClaimed{Task: "t", ReviewingBy: "code-reviewer-1", Fence: 1, ReviewLeaseExpires: lease})
	c.refused("code-reviewer-1 reviews it", message.ReviewClaimed{Task: "t", ReviewingBy: "code-reviewer-2", Fence: 2, ReviewLeaseExpires: lease})
	lease.AwakeMS, lease.ExpiresAt = 99, c.now.Add(time.Hour)
	c.refused("no longer holds", message.LeaseExtended{Task: "t", Agent: "code-reviewer-2", Fence: 1, Lease: lease})
	c.say(message.LeaseExtended{Task: "t", Agent: "code-reviewer-1", Fence: 1, Lease: lease})
	if got := c.task("t").Review.Lease; got != lease {
		t.Errorf("lease %+v", got)
	}
	c.after(2 * time.Hour) // stale: somebody else may have it
	c.say(message.ReviewClaimed{Task: "t", ReviewingBy: "code-reviewer-2", Fence: 2, ReviewLeaseExpires: lease})
	c.refused("no longer holds", rejects("t", "one", message.ReviewVerdict{Blockers: []message.Blocker{wrong}}), as("code-reviewer-1"), under(1))
}

func TestTwoBlockedCodersMeanRescope(t *testing.T) {
	c := coding(t, sub("t", "p", 1), sub("u", "p", 1))
	c.blockedBy("t", "coder-1")
	if ok, why := c.s.FanIn(c.goal("g")); ok || why != "task t is BLOCKED" {
		t.Errorf("fan-in before the planner had its say: %v %q", ok, why)
	}
	c.refused("answers nothing", message.Unblocked{Task: "t"}, sentBy(message.Planner))
	c.say(message.Unblocked{Task: "t", Reason: "take the left one"}, sentBy(message.Planner))
	if got := c.task("t"); got.Status != Unclaimed || !slices.Equal(got.Review.Answers, []string{"take the left one"}) {
		t.Errorf("%+v", got.Review)
	}
	c.blockedBy("t", "coder-2")
	c.refused("must be rescoped", message.Unblocked{Task: "t", Reason: "try again"}, sentBy(message.Planner))

	fix := sub("t2", "p", 1)
	c.refused("is committed", fix, inGoal("g"), sentTo(message.Coder))
	fix.Supersedes = "t"
	c.say(fix, inGoal("g"), sentTo(message.Coder))
	rescope := message.Rescoped{Task: "t", SupersededBy: []message.TaskID{"t2"}, RescopeReason: "the spec has two ways", Alignment: "the left way serves the goal"}
	c.refused("hypothesis_exhaustion was not logged", rescope, inGoal("g"))
	c.say(message.Anomaly{Task: "t", Kind: message.HypothesisExhaustion, Details: map[string]string{"what": "two ways"}}, inGoal("g"))
	c.say(rescope, inGoal("g"))
	g := c.goal("g")
	if c.task("t").Status != Superseded || c.task("t2").Status != Unclaimed || c.task("t2").Rescopes != 1 {
		t.Errorf("t %s, t2 %s after %d rescopes", c.task("t").Status, c.task("t2").Status, c.task("t2").Rescopes)
	}
	if len(g.Alignment) != 1 || g.Alignment[0].Line != rescope.Alignment || !slices.Equal(g.Plan.SubtaskIDs, []message.TaskID{"t2", "u"}) {
		t.Errorf("alignment %+v, plan %v", g.Alignment, g.Plan.SubtaskIDs)
	}
	if tasks := g.Plans[0].Tasks; len(tasks) != 3 || tasks[2].ID != "t2" {
		t.Errorf("a later plan can not keep t2: %+v", tasks)
	}
}

func TestARescopeNeedsAReasonAndAlignment(t *testing.T) {
	c := coding(t, sub("t", "p", 1))
	c.refused("rescope_reason", message.Rescoped{Task: "t", Alignment: "a"}, inGoal("g"))
	c.refused("alignment", message.Rescoped{Task: "t", RescopeReason: "r"}, inGoal("g"))
}

func TestWhatWaitsForARescopedTaskWaitsForItsReplacements(t *testing.T) {
	later := sub("later", "p", 1)
	later.DependsOn = []message.TaskID{"t"}
	next := sub("next", "p", 2)
	c := coding(t, sub("t", "p", 1), later, next)
	a, b := sub("a", "p", 1), sub("b", "p", 1)
	a.Supersedes, b.Supersedes = "t", "t"
	b.DependsOn = []message.TaskID{"later"}
	c.say(a, inGoal("g"), sentTo(message.Coder))
	c.say(b, inGoal("g"), sentTo(message.Coder))
	circle := message.Rescoped{Task: "t", SupersededBy: []message.TaskID{"a", "b"}, RescopeReason: "too big", Alignment: "same goal"}
	c.refused("would wait for itself", circle, inGoal("g"))
	c.say(message.Rescoped{Task: "t", SupersededBy: []message.TaskID{"a"}, RescopeReason: "too big", Alignment: "same goal"}, inGoal("g"))
	if got := c.task("later"); !slices.Equal(got.DependsOn, []message.TaskID{"a"}) || !got.Waiting {
		t.Errorf("later depends on %v, waits: %v", got.DependsOn, got.Waiting)
	}
	if !c.task("next").Waiting {
		t.Error("the next sequence starts before the replacement is done")
	}
	c.submit("a", "coder-1", "x")
	c.approved("a")
	c.merge("a")
	if c.task("later").Waiting {
		t.Error("later still waits")
	}
}

func TestGatedDraftsStay(t *testing.T) {
	c := newScript(t)
	c.perceived("g")
	c.say(sub("good", "p", 1), inGoal("g"), sentTo(message.Coder))
	c.say(sub("bad", "p", 1), inGoal("g"), sentTo(message.Coder))
	missing := []message.Gate{{Gate: "scope", Why: "it states none"}}
	c.say(message.TaskGated{Task: "bad", Missing: missing})
	c.say(message.PlanRejected{PlanID: "p", Attempt: 1}, inGoal("g"))
	if got := c.task("bad"); got.Status != Draft || !slices.Equal(got.Gates, missing) || c.task("good").Status != Void {
		t.Errorf("bad is %s with %v, good is %s", got.Status, got.Gates, c.task("good").Status)
	}
	c.refused("DRAFT", message.Claimed{Task: "bad", Agent: "coder-1", Fence: 1})
	c.say(sub("again", "q", 1), inGoal("g"), sentTo(message.Coder))
	c.say(c.manifest("g", "q", "again"), inGoal("g"), because(c.goal("g").PlanCause.ID))
	if got := c.task("bad").Status; got != Void {
		t.Errorf("after the plan that took its place it is %s", got)
	}
}

// What is around a task, such as a crash or a service that is not there, says
// nothing of the task: its hypotheses are not exhausted by it, and the same
// coder may go on. A planner can try again only so often.
func TestWhatTheEnvironmentBlocksExhaustsNothing(t *testing.T) {
	c := coding(t, sub("t", "p", 1))
	block := func(agent message.AgentID, from message.Role) {
		f := c.claim("t", agent)
		if from == message.Supervisor {
			c.say(message.Released{Task: "t", Agent: agent, Fence: f, Reason: "the step ended: crash"}, under(f))
		}
		c.say(message.Blocked{Task: "t", BlockedReason: "no registry", BlockedQuestions: []string{"which?"}, Kind: message.BlockedEnvironment}, as(agent), under(f), sentBy(from))
	}
	block("coder-1", message.Coder)
	c.say(message.Unblocked{Task: "t", Reason: "it is there now"}, sentBy(message.Planner))
	block("coder-1", message.Coder)
	c.say(message.Unblocked{Task: "t", Reason: "try again"}, sentBy(message.Planner))
	block("coder-2", message.Supervisor) // crashed too often
	if got := c.task("t"); got.Exhausted() || len(got.Review.FailedBy) != 0 {
		t.Errorf("exhausted by its environment: %v", got.Review.FailedBy)
	}
	c.refused("a person has to look", message.Unblocked{Task: "t", Reason: "and again"}, sentBy(message.Planner))
	c.say(message.Unblocked{Task: "t", Reason: "installed"}, sentBy(message.Human))
	block("coder-1", message.Coder)
	c.say(message.Unblocked{Task: "t", Reason: "it is there now"}, sentBy(message.Planner))
	c.blockedBy("t", "coder-1")
	c.say(message.Unblocked{Task: "t", Reason: "see the spec"}, sentBy(message.Planner))
	c.blockedBy("t", "coder-2")
	if got := c.task("t"); !got.Exhausted() {
		t.Error("two coders that the task itself blocked do not exhaust it")
	}
}

func TestLimitsBlockOnlyCodersTasks(t *testing.T) {
	c := newScript(t)
	c.perceived("g")
	c.planned("g", "p", sub("t", "p", 1))
	c.refused("not a coder's", message.Blocked{Task: "t", BlockedReason: "r", BlockedQuestions: []string{"q?"}, Kind: message.BlockedIterations}, sentBy(message.Supervisor))
}

// loggers says of each kind of anomaly who may log it and which details it
// needs, as the role definitions have it: the logging duties of planner, coder
// and code reviewer, and the ambiguity that every role raises. The executor has
// the duties of the coder, the agent-validator those of the code reviewer; the
// meta-validator also sees gaps of the spec, and the supervisor compares specs
// and loses claims.
var loggers = map[string]struct{ who, needs string }{
	"hypothesis_exhaustion": {"planner", "what"},
	"spec_gap":              {"planner meta-validator", "what"},
	"retry_loop":            {"coder executor code-reviewer agent-validator", "count error_pattern"},
	"trade_off":             {"coder executor", "what why debt_created"},
	"spec_ambiguity":        {"coder executor", "spec_ref question"},
	"external_blocker":      {"coder executor", "blocker_service"},
	"assumption_violated":   {"coder executor code-reviewer agent-validator", "assumption reality"},
	"scope_deviation":       {"code-reviewer agent-validator", "what"},
	"workaround":            {"code-reviewer agent-validator", "what"},
	"debt_created":          {"code-reviewer agent-validator", "what"},
	"spec_changed":          {"code-reviewer agent-validator supervisor", "what"},
	"claim_failed":          {"supervisor", "what"},
	"system_ambiguity":      {"planner coder code-reviewer executor agent-validator meta-validator supervisor", "protocol_section question"},
	"others":                {"planner coder code-reviewer executor agent-validator meta-validator supervisor", "what"},
}

func TestWhoMayLogWhat(t *testing.T) {
	if got, want := message.AnomalyKinds(), slices.Sorted(maps.Keys(loggers)); !slices.Equal(got, want) {
		t.Errorf("kinds are %v, want %v", got, want)
	}
	c := coding(t, sub("t", "p", 1))
	details := func(needs, but string) map[string]string {
		all := map[string]string{}
		for _, f := range strings.Fields(needs) {
			if f != but {
				all[f] = "x"
			}
		}
		return all
	}
	for kind, l := range loggers {
		who := strings.Fields(l.who)
		for _, role := range []message.Role{message.Planner, message.Coder, message.CodeReviewer, message.Executor, message.AgentValidator, message.MetaValidator, message.Supervisor} {
			b := message.Anomaly{Kind: kind, Details: details(l.needs, "")}
			if slices.Contains(who, string(role)) {
				c.say(b, sentBy(role), sentTo(message.Auditor))
			} else {
				c.refused("may be logged by", b, sentBy(role), sentTo(message.Auditor))
			}
		}
		for _, f := range strings.Fields(l.needs) {
			c.refused("details."+f, message.Anomaly{Kind: kind, Details: details(l.needs, f)}, sentBy(message.Role(who[0])), sentTo(message.Auditor))
		}
	}
}

// What nobody judged is asked again when a person says so, and not before; the
// work and its coder stay as they were.
func TestAReviewThatNobodyJudgedIsAskedAgainWhenResumed(t *testing.T) {
	for name, lift := range map[string]struct {
		body message.Body
		opts []with
	}{
		"resume":              {message.Resumed{}, []with{sentBy(message.Human), inGoal("g")}},
		"resume of the board": {message.Resumed{}, []with{sentBy(message.Human)}},
		"retry, --continue":   {message.Unblocked{}, []with{sentBy(message.Human), inGoal("g")}},
	} {
		c := coding(t, sub("t", "p", 1))
		c.submit("t", "coder-1", "one")
		cause := c.task("t").ResultRef.ID
		start := func(try int) message.StepStarting {
			return message.StepStarting{Role: message.CodeReviewer, Subject: "t", Cause: cause, Agent: "code-reviewer-1", Try: try}
		}
		c.say(start(1), inGoal("g"))
		c.say(message.StepEnded{Role: message.CodeReviewer, Subject: "t", Cause: cause, Agent: "code-reviewer-1", Class: message.EndUnjudged, Exit: 42}, inGoal("g"))
		before := c.task("t")
		c.say(message.CheckpointReached{Name: CheckpointUnjudged, Reason: "t: nobody's verdict binds"}, sentBy(message.Supervisor), inGoal("g"))
		if s := c.goal("g").Suspended; s == nil || s.Why != WhyUnjudged || s.Command != "orch resume" {
			t.Fatalf("%s: suspended %+v", name, s)
		}
		c.say(lift.body, lift.opts...)
		if g := c.goal("g"); g.Status != GoalOpen {
			t.Errorf("%s: the goal is %s", name, g.Status)
		}
		if a, known := c.s.Activation(ActivationKey{Role: message.CodeReviewer, Subject: "t", Cause: cause}); known {
			t.Errorf("%s: it is not asked again: %+v", name, a)
		}
		c.say(start(1), inGoal("g"))
		if now := c.task("t"); !reflect.DeepEqual(now, before) {
			t.Errorf("%s: the task is %+v, was %+v", name, now, before)
		}
	}
}

func TestWhatIsRaisedWaitsForThePlanner(t *testing.T) {
	c := coding(t, sub("t", "p", 1))
	found := c.say(message.Discovery{Description: "the clock is wrong", Severity: "high", Urgency: message.Immediate}, inGoal("g"), about("t"))
	unclear := c.say(message.Anomaly{Task: "t", Kind: message.SystemAmbiguity, Details: map[string]string{"protocol_section": "lease", "question": "whose?"}}, inGoal("g"), sentBy(message.Coder))
	g := c.goal("g")
	if len(g.Raised) != 2 || g.Raised[0].Task != "t" || g.Raised[1].Kind != message.SystemAmbiguity || g.Status != GoalSuspended || g.Suspended.Why != WhyCheckpoint {
		t.Fatalf("raised %+v, goal %s", g.Raised, g.Status)
	}
	c.say(message.Resumed{}, inGoal("g"))
	extra := sub("extra", "p", 1)
	c.refused("is committed", extra, inGoal("g"), sentTo(message.Coder))
	c.say(extra, inGoal("g"), sentTo(message.Coder), because(found.ID))
	c.refused("waits for an answer", message.Triaged{Of: "nothing", Reason: "r"}, inGoal("g"))
	c.say(message.Triaged{Of: found.ID, Tasks: []message.TaskID{"extra"}, Reason: "it would fail at midnight"}, inGoal("g"))
	c.say(message.Triaged{Of: unclear.ID, Reason: "the coder's"}, inGoal("g"))
	c.refused("waits for an answer", message.Triaged{Of: found.ID, Reason: "twice"}, inGoal("g"))
	g = c.goal("g")
	if c.task("extra").Status != Unclaimed || !slices.Contains(g.Plan.SubtaskIDs, "extra") || len(g.Alignment) != 1 {
		t.Errorf("extra is %s, plan %v, alignment %v", c.task("extra").Status, g.Plan.SubtaskIDs, g.Alignment)
	}
}

func TestRaisedIsBoundedAndKeepsWhatWaits(t *testing.T) {
	var g Goal
	for n := range maxRaised + 20 {
		urgency := message.Deferred
		if n%100 == 0 {
			urgency = message.Immediate
		}
		g.raise(Raised{Ref: Ref{Seq: uint64(n + 1)}, Urgency: urgency})
	}
	immediate := 0
	for _, r := range g.Raised {
		if r.Urgency == message.Immediate {
			immediate++
		}
	}
	if len(g.Raised) != maxRaised || immediate != 6 {
		t.Errorf("%d raised, %d immediate", len(g.Raised), immediate)
	}
}

func TestAPlanIsLookedAtByResuming(t *testing.T) {
	c := coding(t, sub("t", "p", 1))
	c.say(message.CheckpointReached{Name: CheckpointPlanReview, Reason: "the plan has 1 task"}, inGoal("g"))
	if g := c.goal("g"); g.Status != GoalSuspended || g.Suspended.Why != WhyPlanReview || g.Reviewed != "" {
		t.Fatalf("%+v", g.Suspended)
	}
	c.say(message.Resumed{}, inGoal("g"))
	if g := c.goal("g"); g.Status != GoalOpen || g.Reviewed != g.PlanRef.ID {
		t.Errorf("reviewed %q, plan %q", g.Reviewed, g.PlanRef.ID)
	}
}

func TestASprintCountsWhatHappensInIt(t *testing.T) {
	c := coding(t, sub("a", "p", 1), sub("b", "p", 1), sub("c", "p", 1))
	c.refused("no task", message.SprintOpened{Scope: message.SprintScope{Planned: []message.TaskID{"nope"}}})
	c.refused("RFC 3339", message.SprintOpened{Deadline: "soon"})
	c.say(message.SprintOpened{Scope: message.SprintScope{Planned: []message.TaskID{"a"}, Stretch: []message.TaskID{"b"}}, Deadline: "2026-01-03T00:00:00Z"})
	c.refused("a sprint is open", message.SprintOpened{})
	c.submit("a", "coder-1", "x")
	c.approved("a")
	c.merge("a")
	c.submit("c", "coder-1", "x")
	c.say(rejects("c", "x", message.ReviewVerdict{Blockers: []message.Blocker{wrong}}), as("code-reviewer-1"))
	c.submit("c", "coder-1", "y")
	c.say(message.ReviewVerdict{Task: "c", ReviewCommit: "y", Decision: message.Approved, Checks: []message.Verdict{passes("c")},
		PriorFeedback: []message.Feedback{{What: wrong.Name(), State: message.Resolved}}}, as("code-reviewer-1"))
	c.say(message.IntegrationFailed{Task: "c", Conflict: []string{"a.go"}, Command: "make"})
	c.say(message.CheckpointReached{Name: CheckpointSprintComplete})
	s := c.s.Sprint()
	if s.Approved != 2 || s.FirstPass != 1 || s.Rejected != 1 || s.Merged != 1 || s.OutOfScope != 0 || s.Unmerged != 1 || !slices.Equal(s.Reached, []string{CheckpointSprintComplete}) {
		t.Errorf("%+v", s)
	}
	c.say(message.SprintClosed{Metrics: map[string]float64{"x": 1}})
	c.refused("no sprint is open", message.SprintClosed{})
	if s := c.s.Sprint(); s.Open() || s.Metrics["x"] != 1 {
		t.Errorf("%+v", s)
	}
}

func TestACheckpointIsEscalatedOnceALevel(t *testing.T) {
	c := coding(t, sub("t", "p", 1))
	at := c.say(message.CheckpointReached{Name: "by hand"})
	c.refused("not at the checkpoint", message.Escalated{Checkpoint: "m0", Level: 1})
	c.say(message.Escalated{Checkpoint: at.ID, Level: 1})
	c.refused("level 1 after 1", message.Escalated{Checkpoint: at.ID, Level: 1})
	c.say(message.Escalated{Checkpoint: at.ID, Level: 3})
	c.say(message.Resumed{})
	if c.s.Brakes().Level != 0 {
		t.Error("the level outlived its checkpoint")
	}
	at = c.say(message.CheckpointReached{Name: "by hand"}, inGoal("g"))
	c.say(message.Escalated{Checkpoint: at.ID, Level: 2}, inGoal("g"))
	c.refused("level 1 after 2", message.Escalated{Checkpoint: at.ID, Level: 1}, inGoal("g"))
}

func TestReplacementsTakeTheirPlaceInTheSprint(t *testing.T) {
	c := coding(t, sub("t", "p", 1), sub("u", "p", 1), sub("v", "p", 1))
	c.say(message.SprintOpened{Scope: message.SprintScope{Planned: []message.TaskID{"t", "u"}, Stretch: []message.TaskID{"v"}}})
	a, b := sub("a", "p", 1), sub("b", "p", 1)
	a.Supersedes, b.Supersedes = "t", "t"
	c.say(a, inGoal("g"), sentTo(message.Coder))
	c.say(b, inGoal("g"), sentTo(message.Coder))
	c.say(message.Rescoped{Task: "t", SupersededBy: []message.TaskID{"a", "b"}, RescopeReason: "too big", Alignment: "same goal"}, inGoal("g"))
	c.say(message.Rescoped{Task: "v", SupersededBy: []message.TaskID{"b"}, RescopeReason: "the same work", Alignment: "same goal"}, inGoal("g"))
	c.submit("b", "coder-1", "x")
	c.approved("b")
	c.merge("b")
	s := c.s.Sprint()
	if !slices.Equal(s.Scope.Planned, []message.TaskID{"a", "b", "u"}) || len(s.Scope.Stretch) != 0 || s.Rescoped != 2 || s.OutOfScope != 0 {
		t.Errorf("%+v", s)
	}
	c.say(message.Rescoped{Task: "u", RescopeReason: "not needed", Alignment: "same goal"}, inGoal("g"))
	if s := c.s.Sprint(); !slices.Equal(s.Scope.Planned, []message.TaskID{"a", "b", "u"}) {
		t.Errorf("what nothing replaced is gone: %+v", s.Scope)
	}
	c.say(message.SprintClosed{Retrospective: "cut smaller"})
	if s := c.s.Sprint(); s.Retrospective != "cut smaller" {
		t.Errorf("%+v", s)
	}
}
