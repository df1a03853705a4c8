package planner_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/internal/steptest"
	"orch/roles/loop"
	"orch/roles/planner"
	"orch/roles/run/step"
	"orch/roles/think"
)

// planned is a world whose plan has tasks a, and b after it.
func planned(t *testing.T) *coding {
	w := newCoding(t)
	w.Plan.Propose = proposes(coded("a"), coded("b", "a"))
	w.plan()
	return w
}

// slot is the plan's task of a slot.
func (w *coding) slot(name string) (found blackboard.Task) {
	w.T.Helper()
	for _, t := range w.Tasks("g") {
		if t.Slot == name {
			found = t
		}
	}
	if found.ID == "" {
		w.T.Fatalf("the plan has no task %q", name)
	}
	return found
}

// claims gives a task to a coder.
func (w *coding) claims(t blackboard.Task, agent message.AgentID) message.Fence {
	w.T.Helper()
	w.about(t.ID, message.Supervisor, "supervisor-1", t.Fence+1, message.Claimed{Task: t.ID, Agent: agent, Fence: t.Fence + 1})
	return t.Fence + 1
}

// blocks lets a coder be blocked on a slot.
func (w *coding) blocks(slot string, agent message.AgentID) {
	w.T.Helper()
	t := w.slot(slot)
	w.about(t.ID, message.Coder, agent, w.claims(t, agent), message.Blocked{Task: t.ID, BlockedReason: "the spec names no limit",
		BlockedQuestions: []string{"How often is a call tried again?"}, Attempted: []string{"read spec.md"}, Kind: message.BlockedSpec})
}

// unfits lets an approved task fail to integrate.
func (w *coding) unfits(slot string, agent message.AgentID) {
	w.T.Helper()
	t := w.slot(slot)
	w.about(t.ID, message.Coder, agent, w.claims(t, agent), message.ReviewRequested{Task: t.ID, ReviewCommit: "c" + string(agent)})
	fence := t.Review.Fence + 1
	w.about(t.ID, message.Supervisor, "supervisor-1", 0, message.ReviewClaimed{Task: t.ID, ReviewingBy: "code-reviewer-1", Fence: fence})
	v := message.ReviewVerdict{Task: t.ID, ReviewCommit: "c" + string(agent), Decision: message.Approved}
	for _, c := range t.SuccessCriteria {
		v.Checks = append(v.Checks, message.Verdict{CriterionID: c.ID, Verdict: message.Pass, Evidence: "e", By: message.ByCode})
	}
	w.about(t.ID, message.CodeReviewer, "code-reviewer-1", fence, v)
	w.about(t.ID, message.Supervisor, "supervisor-1", 0, message.MergeStarting{Task: t.ID, From: "a", To: "b"})
	w.about(t.ID, message.Supervisor, "supervisor-1", 0, message.IntegrationFailed{Task: t.ID, Conflict: []string{"api.go"}, Command: "git merge"})
}

func (w *coding) answers(all ...think.WakeAnswer) {
	w.Plan.Wake = func(in think.WakeInput) (think.WakeAnswer, error) {
		return all[min(len(w.Plan.Woken), len(all))-1], nil
	}
}

func rescope(tasks ...think.ProposedTask) think.WakeAnswer {
	return think.WakeAnswer{Answer: think.AnswerRescope, Reason: "the spec leaves the limit open, and two things were asked at once",
		Alignment: "same goal, the limit is set apart", Tasks: tasks}
}

// on is the task as the board has it, whatever plan it is in.
func (w *coding) on(id message.TaskID) (t blackboard.Task) {
	w.T.Helper()
	w.View(func(s *blackboard.State) { t, _ = s.Task(id) })
	return t
}

func TestABlockedCoderIsAnswered(t *testing.T) {
	w := planned(t)
	w.blocks("a", "coder-1")
	w.answers(think.WakeAnswer{Answer: think.AnswerUnblock, Reason: "five times", SpecGaps: []string{"no limit is named"}})
	w.step()
	in := w.Plan.Woken[0]
	if in.Kind != loop.WakeBlocked || in.Task == nil || in.Task.Questions[0] != "How often is a call tried again?" || in.Task.DoneWhen == "" ||
		!slices.Equal(in.May, []string{"unblock", "rescope", "abandon"}) || !strings.Contains(in.SpecText, "It retries.") || len(in.Plan) != 2 {
		t.Errorf("asked with %+v", in)
	}
	a := w.slot("a")
	if a.Status != blackboard.Unclaimed || !slices.Equal(a.Review.Answers, []string{"five times"}) {
		t.Errorf("%s, answers %v", a.Status, a.Review.Answers)
	}
	if due := w.Due(); len(due) != 1 || due[0].Agent != "coder-2" {
		t.Errorf("due: %+v", due)
	}
	if n := w.Messages("Anomaly"); len(n) != 1 || n[0].Body.(message.Anomaly).Kind != "spec_gap" {
		t.Errorf("anomalies: %+v", n)
	}
}

// A planner may try again what is around a task blocked twice; from the third
// time on nobody is asked, and a person is told what to do.
func TestWhatIsAroundATaskIsForAPerson(t *testing.T) {
	w := planned(t)
	w.answers(think.WakeAnswer{Answer: think.AnswerUnblock, Reason: "try again"})
	for range 3 {
		a := w.slot("a")
		w.about(a.ID, message.Coder, "coder-1", w.claims(a, "coder-1"), message.Blocked{Task: a.ID, BlockedReason: "the proxy refuses every download",
			BlockedQuestions: []string{"Is there a mirror?"}, Attempted: []string{"npm ci"}, Kind: message.BlockedEnvironment})
		err := w.Next(message.Planner, w.run)
		around, told := errors.AsType[*planner.AroundError](err)
		switch n := w.slot("a").Review.Environment; {
		case n < 3 && err != nil:
			t.Fatal(err)
		case n == 3 && !told:
			t.Fatalf("after %d times: %v", n, err)
		case n == 3:
			for _, part := range []string{"blocked 3 times", "the proxy refuses every download", "orch task unblock " + string(a.ID), "orch resume"} {
				if !strings.Contains(around.Error()+". "+around.Hint(), part) {
					t.Errorf("%q and %q do not say %q", around, around.Hint(), part)
				}
			}
		}
	}
	if n := len(w.Plan.Woken); n != 2 {
		t.Errorf("the planner was asked %d times", n)
	}
}

func TestARescopedTaskIsReplacedByDraftsThatPassTheGates(t *testing.T) {
	w := planned(t)
	w.blocks("a", "coder-1")
	old := w.slot("a")
	w.answers(rescope(coded("a"), coded("limit", "a")))
	w.step()
	if w.on(old.ID).Status != blackboard.Superseded {
		t.Errorf("the old task is %s", w.on(old.ID).Status)
	}
	a, limit, b := w.slot("a"), w.slot("limit"), w.slot("b")
	if a.Supersedes != old.ID || a.Rescopes != 1 || a.Status != blackboard.Unclaimed || a.For != message.Coder || len(a.SuccessCriteria) != 2 {
		t.Errorf("a: %+v", a)
	}
	if !slices.Equal(limit.DependsOn, []message.TaskID{a.ID}) || !slices.Contains(b.DependsOn, a.ID) || !slices.Contains(b.DependsOn, limit.ID) {
		t.Errorf("limit waits for %v, b for %v", limit.DependsOn, b.DependsOn)
	}
	said := w.Messages("Rescoped")[0].Body.(message.Rescoped)
	if !strings.Contains(said.RescopeReason, "two things were asked") {
		t.Errorf("said: %+v", said)
	}
	if h := w.Goal("g").Alignment; len(h) != 1 || h[0].Line != "same goal, the limit is set apart" {
		t.Errorf("alignment: %+v", h)
	}
}

func TestTwoBlockedCodersAreLoggedBeforeTheRescope(t *testing.T) {
	w := planned(t)
	w.blocks("a", "coder-1")
	w.answers(think.WakeAnswer{Answer: think.AnswerUnblock, Reason: "five times"})
	w.step()
	w.blocks("a", "coder-2")
	w.Plan.Woken = nil
	w.answers(think.WakeAnswer{Answer: think.AnswerUnblock, Reason: "try again"}, rescope(coded("a")))
	w.step()
	if !slices.Equal(w.Plan.Woken[0].May, []string{"rescope", "abandon"}) || !strings.Contains(w.Plan.Woken[1].Refused, "unblock") {
		t.Errorf("asked with %+v", w.Plan.Woken)
	}
	all := w.Messages("Anomaly", "Rescoped")
	if len(all) != 2 || all[0].Type() != "Anomaly" || all[0].Body.(message.Anomaly).Kind != message.HypothesisExhaustion || all[0].Seq > all[1].Seq {
		t.Errorf("said: %+v", all)
	}
}

// After so many rescopes nobody is asked: the controller decides.
func TestALineThatWasRescopedTooOftenIsGivenUp(t *testing.T) {
	w := planned(t)
	w.Config.Code.MaxRescopes = 1
	w.blocks("a", "coder-1")
	w.answers(rescope(coded("a")))
	w.step()
	w.blocks("a", "coder-2")
	w.answers(think.WakeAnswer{Answer: think.AnswerUnblock, Reason: "five times"})
	w.step()
	if may := w.Plan.Woken[1].May; !slices.Equal(may, []string{"unblock", "abandon"}) {
		t.Errorf("may %v", may)
	}
	w.blocks("a", "coder-3")
	before := len(w.Plan.Woken)
	w.step()
	if len(w.Plan.Woken) != before {
		t.Error("a model was asked")
	}
	if a := w.slot("a"); a.Status != blackboard.Abandoned || !slices.Contains(a.Anomalies, message.HypothesisExhaustion) {
		t.Errorf("%s, anomalies %v", a.Status, a.Anomalies)
	}
}

func TestASecondFailureToIntegrateBecomesAFixTask(t *testing.T) {
	w := planned(t)
	w.unfits("a", "coder-1")
	if due := w.Due(); len(due) != 1 || due[0].Key.Role != message.Coder {
		t.Fatalf("due after the first: %+v", due)
	}
	w.unfits("a", "coder-2")
	fix := coded("a")
	fix.Context = "Keep the retry loop."
	w.answers(rescope(fix))
	w.step()
	in := w.Plan.Woken[0]
	if in.Kind != loop.WakeIntegration || in.Task.Fix == nil || !slices.Equal(in.Task.Fix.Conflict, []string{"api.go"}) {
		t.Errorf("asked with %+v", in.Task)
	}
	if a := w.slot("a"); !strings.HasPrefix(a.Context, "Keep the retry loop.") || !strings.Contains(a.Context, "git merge ccoder-2") || a.Status != blackboard.Unclaimed {
		t.Errorf("the fix: %s %q", a.Status, a.Context)
	}
}

// finds lets a coder find something while it works on a slot.
func (w *coding) finds(slot, what string) message.ID {
	w.T.Helper()
	t := w.slot(slot)
	fence := w.claims(t, "coder-1")
	m := w.about(t.ID, message.Coder, "coder-1", fence, message.Discovery{Description: what, Severity: "high", Urgency: message.Immediate, Recommendation: "fix it"})
	return m.ID
}

func TestADiscoveryBecomesATaskOrNot(t *testing.T) {
	for name, c := range map[string]struct {
		answer think.WakeAnswer
		tasks  int
	}{
		"later": {think.WakeAnswer{Answer: think.AnswerTriage, Reason: "the next sprint has it"}, 2},
		"now":   {think.WakeAnswer{Answer: think.AnswerTriage, Reason: "calls are lost", Alignment: "one task more", Tasks: []think.ProposedTask{coded("cache", "a")}}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			w := planned(t)
			cause := w.finds("a", "the cache keeps errors")
			w.answers(c.answer)
			w.step()
			in := w.Plan.Woken[0]
			if in.Kind != loop.WakeDiscovery || in.Raised == nil || in.Raised.What != "the cache keeps errors" || in.Raised.Slot != "a" || !slices.Equal(in.May, []string{"triage"}) {
				t.Errorf("asked with %+v", in)
			}
			if said := w.Messages("Triaged"); len(said) != 1 || said[0].Body.(message.Triaged).Of != cause {
				t.Errorf("said: %+v", said)
			}
			tasks := w.Tasks("g")
			if len(tasks) != c.tasks {
				t.Fatalf("%d tasks", len(tasks))
			}
			if c.tasks == 3 {
				if n := w.slot("cache"); n.Status != blackboard.Unclaimed || n.Supersedes != "" || !slices.Equal(n.DependsOn, []message.TaskID{w.slot("a").ID}) {
					t.Errorf("the new task: %+v", n)
				}
			}
			if w.slot("a").Status != blackboard.Claimed {
				t.Errorf("a is %s", w.slot("a").Status)
			}
		})
	}
}

func TestAnAmbiguityIsAnsweredWithWhatAPersonSaid(t *testing.T) {
	w := planned(t)
	a := w.slot("a")
	w.about(a.ID, message.Coder, "coder-1", w.claims(a, "coder-1"), message.Anomaly{Task: a.ID, Kind: message.SystemAmbiguity,
		Details: map[string]string{"protocol_section": "worktrees", "question": "May a generated file be committed?"}})
	if due := w.Due(); len(due) != 0 {
		t.Fatalf("due before a person answered: %+v", due)
	}
	w.Say("human-1", "g", "", message.Resumed{Reason: "yes, if it is small"})
	w.answers(think.WakeAnswer{Answer: think.AnswerTriage, Reason: "generated files are committed"})
	w.step()
	if in := w.Plan.Woken[0]; in.Kind != loop.WakeAmbiguity || !slices.Contains(in.Said, "yes, if it is small") {
		t.Errorf("asked with %+v", in)
	}
}

// What can not be taken is told, and asked for again; after that the step fails.
func TestAnswersThatAreNotTaken(t *testing.T) {
	edit := func(f func(*think.ProposedTask)) think.WakeAnswer {
		x := coded("a")
		f(&x)
		return rescope(x)
	}
	reason := func(text string) think.WakeAnswer {
		a := rescope(coded("a"))
		a.Reason = text
		return a
	}
	noAlignment := rescope(coded("a"))
	noAlignment.Alignment = ""
	for name, c := range map[string]struct {
		answer think.WakeAnswer
		want   string
	}{
		"not an answer":               {think.WakeAnswer{Answer: "merge", Reason: "because it is done"}, "no answer to blocked"},
		"an answer to something else": {think.WakeAnswer{Answer: think.AnswerTriage, Reason: "because it is later"}, "no answer to blocked"},
		"no reason":                   {think.WakeAnswer{Answer: think.AnswerUnblock, Reason: "  "}, "no reason"},
		"unblock with tasks":          {think.WakeAnswer{Answer: think.AnswerUnblock, Reason: "five times", Tasks: []think.ProposedTask{coded("c")}}, "takes no tasks"},
		"abandon with a shrug":        {think.WakeAnswer{Answer: think.AnswerAbandon, Reason: "too hard"}, "not specific"},
		"rescope by nothing":          {rescope(), "abandoned"},
		"a reason that is a shrug":    {reason("it does not work"), "names no cause"},
		"a reason that is a symptom":  {reason("the task was blocked by two coders"), "not why"},
		"no alignment":                {noAlignment, "alignment"},
		"no scope":                    {edit(func(x *think.ProposedTask) { x.Scope = "" }), "gate_scope (a)"},
		"a vague done_when":           {edit(func(x *think.ProposedTask) { x.DoneWhen = "it works correctly" }), "gate_done_when"},
		"a spec that is not there":    {edit(func(x *think.ProposedTask) { x.SpecRef = "no.md" }), "gate_spec_ref"},
		"only tests":                  {edit(func(x *think.ProposedTask) { x.Intent = "write tests for a" }), "gate_tests"},
		"an unknown dependency":       {edit(func(x *think.ProposedTask) { x.DependsOn = []string{"zzz"} }), "gate_depends_on"},
		"waits for what waits for it": {edit(func(x *think.ProposedTask) { x.DependsOn = []string{"b"} }), "waits for the task that is replaced"},
		"another task's slot":         {rescope(coded("b")), "does this part of the goal"},
		"one slot twice":              {rescope(coded("c"), coded("c")), planner.RuleSlot},
		"no approach":                 {edit(func(x *think.ProposedTask) { x.Approach = "" }), planner.RuleApproach},
		"outside the project":         {edit(func(x *think.ProposedTask) { x.Targets = []string{"../x"} }), planner.RuleTargetOutside},
	} {
		t.Run(name, func(t *testing.T) {
			w := planned(t)
			w.blocks("a", "coder-1")
			w.answers(c.answer)
			err := w.Next(message.Planner, w.run)
			var none *planner.UnansweredError
			if !errors.As(err, &none) || !strings.Contains(none.Problem, c.want) || len(w.Plan.Woken) != 3 {
				t.Fatalf("%v, asked %d times", err, len(w.Plan.Woken))
			}
			if !strings.Contains(w.Plan.Woken[2].Refused, c.want) {
				t.Errorf("told %q", w.Plan.Woken[2].Refused)
			}
			if a := w.slot("a"); a.Status != blackboard.Blocked || len(w.Tasks("g")) != 2 {
				t.Errorf("a is %s, %d tasks", a.Status, len(w.Tasks("g")))
			}
		})
	}
}

// A replacement that misses a gate is on the board with it, and never worked on.
func TestAReplacementThatMissesAGateStaysADraft(t *testing.T) {
	w := planned(t)
	w.blocks("a", "coder-1")
	x := coded("a")
	x.Scope = ""
	w.answers(rescope(x), rescope(coded("a")))
	w.step()
	gated := w.Messages("TaskGated")
	if len(gated) != 1 {
		t.Fatalf("%d were gated", len(gated))
	}
	if d := w.on(gated[0].Body.(message.TaskGated).Task); d.Status != blackboard.Draft || d.Gates[0].Gate != "scope" {
		t.Errorf("the draft: %s %+v", d.Status, d.Gates)
	}
	if a := w.slot("a"); a.Status != blackboard.Unclaimed || a.Scope == "" {
		t.Errorf("a: %+v", a)
	}
}

func TestAnAnswerThatCanNotBeReadIsAskedForAgain(t *testing.T) {
	w := planned(t)
	w.blocks("a", "coder-1")
	w.Plan.Wake = func(in think.WakeInput) (think.WakeAnswer, error) {
		if in.Refused == "" {
			return think.WakeAnswer{}, &think.UnusableError{Role: "planner-wake", Model: "m", Why: "it is empty"}
		}
		return think.WakeAnswer{Answer: think.AnswerUnblock, Reason: "five times"}, nil
	}
	w.step()
	if !strings.Contains(w.Plan.Woken[1].Refused, "it is empty") || w.slot("a").Status != blackboard.Unclaimed {
		t.Errorf("told %q, a is %s", w.Plan.Woken[1].Refused, w.slot("a").Status)
	}
}

// A step whose wake was answered meanwhile, or that was started for nothing,
// asks nobody.
func TestAPlannerWithNothingToAnswerAsksNobody(t *testing.T) {
	w := planned(t)
	w.blocks("a", "coder-1")
	due := w.Due()
	if len(due) != 1 || due[0].Key.Role != message.Planner {
		t.Fatalf("due: %+v", due)
	}
	e := w.Claim(due[0])
	a := w.slot("a")
	w.about(a.ID, message.Human, "human-1", 0, message.Unblocked{Task: a.ID, Reason: "five times"})
	if err := w.run(t.Context(), e); !errors.Is(err, step.ErrMoved) {
		t.Errorf("%v", err)
	}
	if len(w.Plan.Woken) != 0 || len(w.Plan.Asked) != 1 {
		t.Errorf("asked: %+v %+v", w.Plan.Woken, w.Plan.Asked)
	}
	w.End(due[0], e, message.EndAgain)
	for _, d := range w.Due() {
		if d.Key.Role == message.Planner {
			t.Errorf("the planner is due for %s", d.Reason)
		}
	}
}

// What is answered while the model thinks is not answered a second time.
func TestAnAnswerThatComesTooLateIsNotSaid(t *testing.T) {
	w := planned(t)
	w.blocks("a", "coder-1")
	w.Plan.Wake = func(think.WakeInput) (think.WakeAnswer, error) {
		a := w.slot("a")
		w.about(a.ID, message.Human, "human-1", 0, message.Unblocked{Task: a.ID, Reason: "five times"})
		return rescope(coded("a")), nil
	}
	if err := w.Next(message.Planner, w.run); !errors.Is(err, step.ErrMoved) {
		t.Errorf("%v", err)
	}
	if n := len(w.Messages("Rescoped")); n != 0 || len(w.Messages("SubTask")) != 2 {
		t.Errorf("%d rescopes, %d drafts", n, len(w.Messages("SubTask")))
	}
}

// A step that died after its drafts and before it said what they replace leaves
// nothing that is worked on, and the next one begins anew.
func TestAPlannerThatDiedBetweenDraftsAndAnswer(t *testing.T) {
	w := planned(t)
	w.blocks("a", "coder-1")
	due := w.Due()
	e := w.Claim(due[0])
	a := w.slot("a")
	half := message.SubTask{ID: "half", PlanID: w.Goal("g").Plan.PlanID, Intent: "build a", Slot: "a", Approach: "write", Supersedes: a.ID}
	if _, err := e.SayTo(t.Context(), message.Planner, message.Coder, e.Key.Cause, half, nil); err != nil {
		t.Fatal(err)
	}
	w.End(due[0], e, message.EndKilled)
	w.Tidy(steptest.Nobody)
	if got := w.on("half").Status; got != blackboard.Void {
		t.Errorf("the draft is %s", got)
	}
	w.answers(rescope(coded("a")))
	w.step()
	if now := w.slot("a"); now.Supersedes != a.ID || now.Status != blackboard.Unclaimed {
		t.Errorf("a: %+v", now)
	}
}
