package blackboard

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"orch/blackboard/message"
)

// inStatus builds a board on which task "t" of goal "g" has the status. The
// role is the one that works on it.
func inStatus(t testing.TB, role message.Role, st Status) *script {
	c := newScript(t)
	c.perceived("g")
	x := sub("t", "p", 1)
	cause := c.goal("g").PlanCause.ID
	c.say(x, inGoal("g"), sentTo(role))
	agent := message.AgentID(role + "-1")
	if st == Draft {
		return c
	}
	if st == Void {
		c.say(message.DraftVoided{Task: "t", PlanID: "p"})
		return c
	}
	c.say(c.manifest("g", "p", "t"), inGoal("g"), because(cause))
	coder := role == message.Coder
	submit := func() {
		f := c.claim("t", agent)
		if coder {
			c.say(message.ReviewRequested{Task: "t", ReviewCommit: "abc"}, as(agent), under(f))
		} else {
			c.say(message.ExecutionResult{SubtaskID: "t", Attempt: 1, Status: message.Completed}, as(agent), under(f))
		}
	}
	reason := "no"
	switch st {
	case Claimed:
		c.claim("t", agent)
	case ReadyForReview:
		submit()
	case Rejected:
		submit()
		if coder {
			c.say(message.ReviewVerdict{Task: "t", ReviewCommit: "abc", Decision: message.Rejected, Checks: []message.Verdict{fails("c")}}, as("code-reviewer-1"))
		} else {
			c.say(message.CorrectionSignal{SubtaskID: "t", AttemptNumber: 1, FailedCriterion: "c"}, as("agent-validator-1"))
		}
	case Approved, Merged, IntegrationFailed:
		submit()
		if coder {
			c.say(message.ReviewVerdict{Task: "t", ReviewCommit: "abc", Decision: message.Approved, Checks: []message.Verdict{passes("c")}}, as("code-reviewer-1"))
		} else {
			c.say(message.SubTaskOutcome{SubtaskID: "t", Status: message.Matched, CriteriaVerdicts: []message.Verdict{passes("c")}}, as("agent-validator-1"))
		}
		if st == Merged {
			c.say(message.MergeStarting{Task: "t", From: "a", To: "b"})
			c.say(message.Merged{Task: "t", From: "a", To: "b"})
		}
		if st == IntegrationFailed {
			c.say(message.IntegrationFailed{Task: "t"})
		}
	case Blocked:
		submit()
		if coder {
			c.say(message.Blocked{Task: "t", BlockedReason: "no", BlockedQuestions: []string{"why?"}, Kind: message.BlockedSpec}, as("code-reviewer-1"), sentBy(message.CodeReviewer))
		} else {
			c.say(message.SubTaskOutcome{SubtaskID: "t", Status: message.Failed, FailureReason: &reason}, as("agent-validator-1"))
		}
	case Superseded:
		c.say(message.Rescoped{Task: "t", RescopeReason: "wrong cut", Alignment: "as before"})
	case Abandoned:
		c.say(message.Abandoned{Task: "t", Reason: "no use"})
	}
	if got := c.task("t").Status; got != st {
		t.Fatalf("built %s, want %s", got, st)
	}
	return c
}

// attempts are the best-formed messages of every type that touches a task that exists.
func attempts(c *script, role message.Role) map[message.Type][]func() (message.Body, []with) {
	t := c.task("t")
	agent := t.Agent
	lease := message.Lease{Boot: "b", ExpiresAt: c.now.Add(time.Hour)}
	reason := "no"
	held := []with{as(agent), under(t.Fence), about("t")}
	say := func(b message.Body, w ...with) func() (message.Body, []with) {
		return func() (message.Body, []with) { return b, w }
	}
	g := c.goal("g")
	return map[message.Type][]func() (message.Body, []with){
		"Claimed":     {say(message.Claimed{Task: "t", Agent: message.AgentID(role + "-1"), Fence: t.Fence + 1, Lease: lease})},
		"Released":    {say(message.Released{Task: "t", Agent: agent, Fence: t.Fence})},
		"LeaseLapsed": {say(message.LeaseLapsed{Task: "t", Agent: agent, Fence: t.Fence})},
		"LeaseExtended": {
			say(message.LeaseExtended{Task: "t", Agent: agent, Fence: t.Fence, Lease: lease}),
			say(message.LeaseExtended{Task: "t", Agent: t.Review.Reviewer, Fence: t.Review.Fence, Lease: lease}),
		},
		"StateBefore":     {say(message.StateBefore{}, held...)},
		"ToolStarted":     {say(message.ToolStarted{Call: "call"}, held...)},
		"ToolCall":        {say(message.ToolCall{Call: "call", Denied: "no"}, held...)},
		"ExecutionResult": {say(message.ExecutionResult{SubtaskID: "t", Attempt: t.Attempt + 1, Status: message.Completed}, held...)},
		"TaskFinished":    {say(message.TaskFinished{Task: "t"}, held...)},
		"ReviewRequested": {say(message.ReviewRequested{Task: "t", ReviewCommit: "abc"}, held...)},
		"Handoff":         {say(message.Handoff{Task: "t", Summary: "s", NextAction: "n"}, held...)},
		"Blocked": {
			say(message.Blocked{Task: "t", BlockedReason: "r", BlockedQuestions: []string{"q?"}, Kind: message.BlockedSpec}, held...),
			say(message.Blocked{Task: "t", BlockedReason: "r", BlockedQuestions: []string{"q?"}, Kind: message.BlockedSpec}, sentBy(message.CodeReviewer), as("code-reviewer-1")),
			say(message.Blocked{Task: "t", BlockedReason: "r", BlockedQuestions: []string{"q?"}, Kind: message.BlockedIterations}, sentBy(message.Supervisor)),
		},
		"LateResult":       {say(message.LateResult{Task: "t", Fence: max(t.Fence, 1) - 1})},
		"ApprovalRequest":  {say(message.ApprovalRequest{Request: "r", Task: "t"})},
		"CorrectionSignal": {say(message.CorrectionSignal{SubtaskID: "t", AttemptNumber: t.Attempt}, as("agent-validator-1"))},
		"SubTaskOutcome": {
			say(message.SubTaskOutcome{SubtaskID: "t", Status: message.Matched, CriteriaVerdicts: []message.Verdict{passes("c")}}, as("agent-validator-1")),
			say(message.SubTaskOutcome{SubtaskID: "t", Status: message.Failed, FailureReason: &reason}, as("agent-validator-1")),
		},
		"ReviewClaimed":  {say(message.ReviewClaimed{Task: "t", ReviewingBy: "code-reviewer-1", Fence: t.Review.Fence + 1})},
		"ReviewReleased": {say(message.ReviewReleased{Task: "t", Fence: 1})},
		"ReviewVerdict": {
			say(message.ReviewVerdict{Task: "t", ReviewCommit: t.Review.Commit, Decision: message.Approved, Checks: []message.Verdict{passes("c")}}, as("code-reviewer-1")),
			say(message.ReviewVerdict{Task: "t", ReviewCommit: t.Review.Commit, Decision: message.Rejected, Checks: []message.Verdict{fails("c")}}, as("code-reviewer-1")),
		},
		"MergeStarting":     {say(message.MergeStarting{Task: "t", From: "a", To: "b"})},
		"Merged":            {say(message.Merged{Task: "t", From: "a", To: "b"})},
		"IntegrationFailed": {say(message.IntegrationFailed{Task: "t"})},
		"Unblocked": {
			say(message.Unblocked{Task: "t"}),
			say(message.Unblocked{Task: "t", Reason: "use the other port"}, sentBy(message.Planner)),
		},
		"HumanEdit": {
			say(message.HumanEdit{Edits: []message.Edit{{Task: "t", Field: "priority", Old: []byte("100"), New: []byte("7")}}}),
			say(message.HumanEdit{Edits: []message.Edit{{Task: "t", Field: "status", Old: []byte(`"` + t.Status + `"`), New: []byte(`"ABANDONED"`)}}}),
		},
		"HumanNote":   {say(message.HumanNote{For: "t", Message: "mind the gap"})},
		"Abandoned":   {say(message.Abandoned{Task: "t", Reason: "r"})},
		"Rescoped":    {say(message.Rescoped{Task: "t", RescopeReason: "r", Alignment: "as before"})},
		"DraftVoided": {say(message.DraftVoided{Task: "t", PlanID: "p"})},
		"TaskGated":   {say(message.TaskGated{Task: "t", Missing: []message.Gate{{Gate: "scope", Why: "it has none"}}})},
		"SubTask":     {say(sub("t", "p", 1), inGoal("g"))},
		"TaskAdded":   {say(message.TaskAdded{Tasks: []message.SubTask{sub("t", "", 1)}}, inGoal("g"))},
		"DispatchManifest": {
			say(c.manifest("g", "p", "t"), inGoal("g"), because(g.PlanCause.ID)),
		},
		"PlanRejected": {say(message.PlanRejected{PlanID: "p", Attempt: 1}, inGoal("g"))},
		"FinalResult": {say(message.FinalResult{TaskID: "g", Directive: message.Abandon, NextMoves: []string{"x"}}, inGoal("g"),
			because("m0"))},
	}
}

// TestLifecycleEveryStatusAndMessage tries every message that can be about a
// task on a task in every status: it moves the task as the table says, or is
// refused and leaves everything as it was.
func TestLifecycleEveryStatusAndMessage(t *testing.T) {
	reached := map[string]bool{}
	for _, role := range []message.Role{message.Executor, message.Coder} {
		for _, st := range Statuses() {
			if role == message.Executor && (st == Merged || st == IntegrationFailed) {
				continue // only what a coder makes is merged
			}
			for typ, list := range attempts(inStatus(t, role, st), role) {
				for i := range list {
					c := inStatus(t, role, st)
					body, opts := attempts(c, role)[typ][i]()
					m, err := c.try(body, opts...)
					now := c.task("t").Status
					if err != nil {
						if err.Error() == "" || now != st {
							t.Errorf("%s on %s: refused with %q, now %s", typ, st, err, now)
						}
						continue
					}
					to := now
					if now == st && !legal(typ, m.From, st, now) {
						to = ""
					}
					if !legal(typ, m.From, st, to) {
						t.Errorf("%s by %s took a task from %s to %s, which is not in the table", typ, m.From, st, now)
					}
					reached[string(typ)+" "+string(st)+" "+string(to)] = true
				}
			}
		}
	}
	for _, tr := range Transitions() {
		for _, st := range tr.From {
			if !reached[string(tr.Type)+" "+string(st)+" "+string(tr.To)] && !elsewhere(tr, st) {
				t.Errorf("no test took the row %s %s → %q", tr.Type, st, tr.To)
			}
		}
	}
}

// elsewhere lists the rows that need more than one task or an open round;
// TestLifecycleOfPlans walks them.
func elsewhere(tr Transition, st Status) bool {
	switch tr.Type {
	case "FinalResult", "Rescoped", "PlanRejected", "Merged", "Triaged":
		return true
	case "IntegrationFailed": // TestAMergeThatFailsAfterTheGoalEndedLeavesNothingOpen
		return tr.To == Abandoned
	case "LeaseExtended": // of a review: TestAReviewLeaseIsExtended
		return st == ReadyForReview
	case "DispatchManifest":
		return tr.To != Unclaimed
	case "TaskAdded":
		return st == Draft
	case "Released", "LeaseLapsed":
		return tr.To != Unclaimed
	case "ReviewReleased":
		return true
	case "FindingsAccepted": // TestFindingsAreAcceptedWhereverTheirTaskStands
		return true
	}
	return false
}

func TestLifecycleOfPlans(t *testing.T) {
	t.Run("a replan supersedes what it does not keep", func(t *testing.T) {
		c := newScript(t)
		c.perceived("g")
		c.planned("g", "p", sub("keep", "p", 1), sub("drop", "p", 1), sub("bad", "p", 1), sub("never", "p", 2))
		c.matched("keep")
		c.matched("drop")
		c.failed("bad")
		c.say(message.ReplanRequest{TaskID: "g", PlanID: "p"}, inGoal("g"))
		round := c.goal("g").Rounds[0].Ref.ID
		c.say(message.PlanDirective{TaskID: "g", Directive: message.Refine}, inGoal("g"), because(round))
		cause := c.goal("g").PlanCause.ID
		c.say(sub("new", "q", 1), inGoal("g"))
		c.say(sub("other", "r", 1), inGoal("g"))
		m := c.manifest("g", "q", "new")
		m.Kept = []message.TaskID{"keep"}
		c.say(m, inGoal("g"), because(cause))
		want := map[message.TaskID]Status{"keep": Approved, "drop": Superseded, "bad": Superseded, "never": Superseded, "new": Unclaimed, "other": Void}
		for id, st := range want {
			if got := c.task(id).Status; got != st {
				t.Errorf("%s is %s, want %s", id, got, st)
			}
		}
		if got := c.s.PlanTasks(c.goal("g")); len(got) != 2 || got[0].ID != "keep" || got[1].ID != "new" {
			t.Errorf("plan %v", got)
		}
	})
	t.Run("a refused plan voids its drafts, and the third goes to the controller", func(t *testing.T) {
		c := newScript(t)
		c.perceived("g")
		for n, plan := range []message.PlanID{"p", "q", "r"} {
			c.say(sub(message.TaskID("t"+plan), plan, 1), inGoal("g"))
			c.say(message.PlanRejected{PlanID: plan, Attempt: n + 1}, inGoal("g"))
			if got := c.task(message.TaskID("t" + plan)).Status; got != Void {
				t.Errorf("draft is %s", got)
			}
			c.refused("dropped", sub("late", plan, 1), inGoal("g"))
		}
		g := c.goal("g")
		if g.PlanCause.Seq != 0 || len(g.Rounds) != 1 || g.Rounds[0].PlanFailure == nil {
			t.Errorf("after the third refusal: %+v", g)
		}
		c.say(message.PlanDirective{TaskID: "g", Directive: message.BreakSymmetry}, inGoal("g"), because(g.Rounds[0].Ref.ID))
		if g := c.goal("g"); g.PlanCause.Seq == 0 || g.PlanRejected != nil {
			t.Errorf("the directive begins no round: %+v", g)
		}
	})
	t.Run("the end of a goal", func(t *testing.T) {
		c := newScript(t)
		c.perceived("g")
		c.planned("g", "p", sub("ok", "p", 1), sub("bad", "p", 1), sub("never", "p", 2))
		c.matched("ok")
		c.failed("bad")
		c.say(sub("draft", "q", 1), inGoal("g"))
		c.say(message.ReplanRequest{TaskID: "g", PlanID: "p"}, inGoal("g"))
		round := c.goal("g").Rounds[0].Ref.ID
		c.say(message.FinalResult{TaskID: "g", Directive: message.Abandon, NextMoves: []string{"x"}}, inGoal("g"), because(round))
		want := map[message.TaskID]Status{"ok": Approved, "bad": Abandoned, "never": Abandoned, "draft": Void}
		for id, st := range want {
			if got := c.task(id).Status; got != st {
				t.Errorf("%s is %s, want %s", id, got, st)
			}
		}
		if len(c.s.OpenGoals()) != 0 || len(c.s.Goals()) != 1 {
			t.Error("the goal is still open")
		}
		c.refused("ENDED", sub("x", "z", 1), inGoal("g"))
	})
	t.Run("released and lapsed tasks go back to where they were claimed from", func(t *testing.T) {
		for _, lapsed := range []bool{false, true} {
			for _, st := range []Status{Unclaimed, Rejected, IntegrationFailed} {
				c := inStatus(t, message.Coder, st)
				f := c.claim("t", "coder-2")
				f2 := c.claim("t", "coder-2") // started over
				var b message.Body = message.Released{Task: "t", Agent: "coder-2", Fence: f2}
				if lapsed {
					b = message.LeaseLapsed{Task: "t", Agent: "coder-2", Fence: f2}
				}
				var late *LateError
				if err := c.refused("no longer holds", message.Released{Task: "t", Agent: "coder-2", Fence: f}); !errors.As(err, &late) {
					t.Errorf("got %T", err)
				}
				c.say(b)
				if got := c.task("t").Status; got != st {
					t.Errorf("claimed from %s, back at %s", st, got)
				}
			}
		}
	})
	t.Run("a person's draft", func(t *testing.T) {
		c := newScript(t)
		c.say(message.TaskAdded{Tasks: []message.SubTask{sub("a", "", 0)}, Draft: true})
		c.refused("DRAFT", message.Claimed{Task: "a", Agent: "coder-1", Fence: 1})
		done := sub("a", "", 0)
		done.Intent = "now it is clear"
		c.say(message.TaskAdded{Tasks: []message.SubTask{done}})
		if got := c.task("a"); got.Status != Unclaimed || got.Intent != done.Intent {
			t.Errorf("got %+v", got)
		}
		c.refused("already", message.TaskAdded{Tasks: []message.SubTask{done}})
	})
	t.Run("replacements take the place of a rescoped task", func(t *testing.T) {
		c := newScript(t)
		c.perceived("g")
		c.planned("g", "p", sub("a", "p", 1), sub("b", "p", 1))
		c.say(sub("a2", "p2", 1), inGoal("g"))
		c.say(message.Rescoped{Task: "a", SupersededBy: []message.TaskID{"a2"}, RescopeReason: "cut wrong", Alignment: "as before"})
		if got := c.task("a2").Status; got != Unclaimed {
			t.Errorf("a2 is %s", got)
		}
		if got := c.goal("g").Plan.SubtaskIDs; !slices.Equal(got, []message.TaskID{"a2", "b"}) {
			t.Errorf("plan %v", got)
		}
	})
}

func TestEveryTypeHasAnEffect(t *testing.T) {
	for _, e := range message.Catalogue() {
		if does := effects()[e.Type] != nil; does != (len(e.Changes) > 0) {
			t.Errorf("%s changes %v, and the fold does something with it: %v", e.Type, e.Changes, does)
		}
	}
	for _, tr := range Transitions() {
		for _, r := range tr.By {
			ok := false
			for _, e := range message.Catalogue() {
				ok = ok || e.Type == tr.Type && slices.Contains(e.From(), r)
			}
			if !ok {
				t.Errorf("the lifecycle lets %s send %s, the routes do not", r, tr.Type)
			}
		}
		for _, from := range tr.From {
			if from.Terminal() && tr.To != "" {
				t.Errorf("%s leaves %s", tr.Type, from)
			}
		}
	}
}

func TestLifecycleDocIsCurrent(t *testing.T) {
	checkDoc(t, "lifecycle.md", LifecycleMarkdown())
}

// checkDoc compares a generated page of docs; with ORCH_UPDATE_DOCS=1 it writes it.
func checkDoc(t *testing.T, name, want string) {
	t.Helper()
	path := filepath.Join("..", "docs", name)
	if os.Getenv("ORCH_UPDATE_DOCS") == "1" {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("docs/%s is not current: run ORCH_UPDATE_DOCS=1 go test %s", name, "./blackboard/...")
	}
}
