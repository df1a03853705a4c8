package planner_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/internal/steptest"
	"orch/roles/perceiver"
	"orch/roles/planner"
	"orch/roles/run/step"
	"orch/roles/think"
)

// coding is a world with a coding goal whose spec is on the integration branch.
type coding struct {
	*steptest.World
	files    map[string]string
	skip     bool
	reviewer think.PlanReviewer
}

func newCoding(t *testing.T) *coding {
	w := &coding{World: steptest.New(t), files: map[string]string{"spec.md": "# Retry\n\nIt retries."}}
	w.StartWith(message.UserInput{Text: "retry calls", Profile: "code", Spec: "spec.md#retry"})
	if err := w.Next(message.Perceiver, perceiver.Run); err != nil {
		t.Fatal(err)
	}
	return w
}

// run is the planner's step in the world's repository.
func (w *coding) run(ctx context.Context, e *step.Env) error {
	e.Code = &step.Code{SkipSpecCheck: w.skip, PlanReviewer: w.reviewer, File: func(_ context.Context, path string) ([]byte, bool, error) {
		text, ok := w.files[path]
		return []byte(text), ok, nil
	}}
	return planner.Run(ctx, e)
}

// plan lets the planner ask the memory and plan once.
func (w *coding) plan() {
	w.T.Helper()
	if g := w.Goal("g"); g.Calibration.Cause != g.RoundCause.ID {
		w.step()
		w.Clock.Add(60_000_000_000)
		w.Tidy(steptest.Nobody)
	}
	w.step()
}

func (w *coding) step() {
	w.T.Helper()
	if err := w.Next(message.Planner, w.run); err != nil {
		w.T.Fatal(err)
	}
}

// coded is a task that passes every gate.
func coded(slot string, needs ...string) think.ProposedTask {
	return think.ProposedTask{Slot: slot, Intent: "build " + slot, Approach: "write", Target: slot, DependsOn: needs,
		SpecRef: "spec.md#" + slot, DoneWhen: "`go test ./" + slot + "` passes", Scope: slot + " and its tests"}
}

func proposes(tasks ...think.ProposedTask) func(think.PlanInput) (think.Proposal, error) {
	return func(think.PlanInput) (think.Proposal, error) {
		return think.Proposal{TaskCriteria: []think.CriterionSpec{{Text: "`go test ./...` exits 0"}}, Tasks: tasks}, nil
	}
}

func TestAPlanForCodersIsWorkForCoders(t *testing.T) {
	w := newCoding(t)
	w.Plan.Propose = proposes(coded("a"), coded("b", "a"))
	w.plan()
	in := w.Plan.Asked[0]
	if in.Code == nil || in.Code.SpecRef != "spec.md#retry" || !strings.Contains(in.Code.Spec, "It retries.") {
		t.Errorf("asked with %+v", in.Code)
	}
	tasks := w.Tasks("g")
	if len(tasks) != 2 {
		t.Fatalf("tasks: %+v", tasks)
	}
	a, b := tasks[0], tasks[1]
	if a.For != message.Coder || a.Status != blackboard.Unclaimed || a.SpecRef != "spec.md#a" || a.Scope == "" {
		t.Errorf("a: %+v", a)
	}
	if !slices.Equal(b.DependsOn, []message.TaskID{a.ID}) || !b.Waiting {
		t.Errorf("b waits for %v", b.DependsOn)
	}
	if n := len(a.SuccessCriteria); n != 2 || !a.SuccessCriteria[0].HasCheck() || a.SuccessCriteria[1].ID != "done_when" {
		t.Errorf("criteria: %+v", a.SuccessCriteria)
	}
	if due := w.Due(); len(due) != 1 || due[0].Key.Role != message.Coder {
		t.Errorf("due: %+v", due)
	}
}

// Every gate that is missed is told, by name, to the planner and on the draft.
func TestADraftThatMissesAGateIsNotWorkedOn(t *testing.T) {
	edit := func(f func(*think.ProposedTask)) think.ProposedTask {
		x := coded("a")
		f(&x)
		return x
	}
	for name, c := range map[string]struct {
		task think.ProposedTask
		gate string
	}{
		"no spec":            {edit(func(x *think.ProposedTask) { x.SpecRef = "" }), "spec_ref"},
		"spec is not there":  {edit(func(x *think.ProposedTask) { x.SpecRef = "other.md#x" }), "spec_ref"},
		"spec is outside":    {edit(func(x *think.ProposedTask) { x.SpecRef = "../spec.md" }), "spec_ref"},
		"no done_when":       {edit(func(x *think.ProposedTask) { x.DoneWhen = "" }), "done_when"},
		"vague done_when":    {edit(func(x *think.ProposedTask) { x.DoneWhen = "errors are handled properly" }), "done_when"},
		"no scope":           {edit(func(x *think.ProposedTask) { x.Scope = " " }), "scope"},
		"unknown dependency": {edit(func(x *think.ProposedTask) { x.DependsOn = []string{"nothing"} }), "depends_on"},
		"waits for itself":   {edit(func(x *think.ProposedTask) { x.DependsOn = []string{"a"} }), "depends_on"},
		"only tests":         {edit(func(x *think.ProposedTask) { x.Intent = "add tests for a" }), "tests"},
		"code without tests": {edit(func(x *think.ProposedTask) { x.Targets = []string{"a.go"} }), "tests"},
		"exempt code":        {edit(func(x *think.ProposedTask) { x.Targets, x.ExemptFromTests = []string{"a.go"}, true }), "tests"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newCoding(t)
			w.Plan.Propose = proposes(c.task, coded("b"))
			w.plan()
			g := w.Goal("g")
			if g.Plan != nil || len(g.PlanRejected) != 1 {
				t.Fatalf("plan %+v, refused %+v", g.Plan, g.PlanRejected)
			}
			if v := g.PlanRejected[0].Violations; len(v) != 1 || v[0].Rule != "gate_"+c.gate || v[0].What != "a" {
				t.Errorf("violations: %+v", v)
			}
			gated := w.Messages("TaskGated")
			if len(gated) != 1 {
				t.Fatalf("%d were gated", len(gated))
			}
			missed := gated[0].Body.(message.TaskGated)
			w.View(func(s *blackboard.State) {
				d, _ := s.Task(missed.Task)
				if d.Status != blackboard.Draft || len(d.Gates) != 1 || d.Gates[0].Gate != c.gate || d.Slot != "a" {
					t.Errorf("the draft: %s %+v", d.Status, d.Gates)
				}
			})
			// What was missed is told, and the next proposal takes its place.
			w.Plan.Propose = proposes(coded("a"), coded("b"))
			w.plan()
			if told := w.Plan.Asked[1].Violations; len(told) != 1 || told[0].Rule != "gate_"+c.gate {
				t.Errorf("asked again with %+v", told)
			}
			if g := w.Goal("g"); g.Plan == nil || len(g.Plan.SubtaskIDs) != 2 {
				t.Errorf("plan: %+v", g.Plan)
			}
			w.View(func(s *blackboard.State) {
				if d, _ := s.Task(missed.Task); d.Status != blackboard.Void {
					t.Errorf("the old draft is %s", d.Status)
				}
			})
		})
	}
}

func TestDraftsThatWaitForEachOtherAreGated(t *testing.T) {
	w := newCoding(t)
	w.Plan.Propose = proposes(coded("a", "b"), coded("b", "a"))
	w.plan()
	if v := w.Goal("g").PlanRejected[0].Violations; len(v) != 2 || v[0].Rule != "gate_depends_on" {
		t.Errorf("violations: %+v", v)
	}
}

func TestASpecThatIsNotThereMayBeNamedWhenTheEnvironmentSaysSo(t *testing.T) {
	w := newCoding(t)
	w.files, w.skip = nil, true
	w.Plan.Propose = proposes(coded("a"))
	w.plan()
	if w.Goal("g").Plan == nil {
		t.Errorf("refused: %+v", w.Goal("g").PlanRejected)
	}
}

func TestAThirdPlanThatMissesAGateGoesToTheController(t *testing.T) {
	w := newCoding(t)
	w.Plan.Propose = func(in think.PlanInput) (think.Proposal, error) {
		x := coded("a")
		x.DoneWhen, x.Target = "", fmt.Sprint(len(in.Violations))
		return proposes(x)(in)
	}
	for range 3 {
		w.plan()
	}
	g := w.Goal("g")
	if len(g.Rounds) != 1 || g.Rounds[0].PlanFailure == nil || g.PlanCause.ID != "" {
		t.Errorf("rounds %+v, still asked: %v", g.Rounds, g.PlanCause.ID)
	}
	if len(w.Due()) != 0 {
		t.Errorf("due: %+v", w.Due())
	}
}

// Shape and gates are told at once, and no draft is written of what is not
// even a plan.
func TestWhatIsNoPlanIsToldWithItsGates(t *testing.T) {
	w := newCoding(t)
	x := coded("a")
	x.Scope, x.Approach = "", ""
	w.Plan.Propose = proposes(x, coded("a"))
	w.plan()
	var rules []string
	for _, v := range w.Goal("g").PlanRejected[0].Violations {
		rules = append(rules, v.Rule)
	}
	if got := strings.Join(rules, " "); got != "duplicate_slot no_approach gate_scope" {
		t.Errorf("violations: %s", got)
	}
	if n := len(w.Messages("SubTask")); n != 0 {
		t.Errorf("%d drafts were written", n)
	}
}

// about says something about a task.
func (w *coding) about(id message.TaskID, from message.Role, agent message.AgentID, fence message.Fence, body message.Body) message.Message {
	w.T.Helper()
	to, door := message.DefaultTo(body.Type()), message.DoorOf(from)
	if message.Route(body.Type(), door, from, to) != nil {
		door = message.DoorAgent
	}
	m, err := w.As(agent).Append(w.T.Context(), message.Message{From: from, To: to, Door: door, Goal: "g", Subject: string(id), Fence: fence, Agent: agent, Body: body})
	if err != nil {
		w.T.Fatalf("%s: %v", body.Type(), err)
	}
	return m
}

// merges brings a task to the integration branch.
func (w *coding) merges(id message.TaskID) {
	w.T.Helper()
	var t blackboard.Task
	w.View(func(s *blackboard.State) { t, _ = s.Task(id) })
	say := func(from message.Role, agent message.AgentID, fence message.Fence, body message.Body) {
		w.T.Helper()
		w.about(id, from, agent, fence, body)
	}
	fence := t.Fence + 1
	say(message.Supervisor, "supervisor-1", fence, message.Claimed{Task: id, Agent: "coder-1", Fence: fence})
	say(message.Coder, "coder-1", fence, message.ReviewRequested{Task: id, ReviewCommit: "c"})
	say(message.Supervisor, "supervisor-1", 0, message.ReviewClaimed{Task: id, ReviewingBy: "code-reviewer-1", Fence: 1})
	v := message.ReviewVerdict{Task: id, ReviewCommit: "c", Decision: message.Approved}
	for _, c := range t.SuccessCriteria {
		v.Checks = append(v.Checks, message.Verdict{CriterionID: c.ID, Verdict: message.Pass, Evidence: "e", By: message.ByCode})
	}
	say(message.CodeReviewer, "code-reviewer-1", 1, v)
	say(message.Supervisor, "supervisor-1", 0, message.MergeStarting{Task: id, From: "a", To: "b"})
	say(message.Supervisor, "supervisor-1", 0, message.Merged{Task: id, From: "a", To: "b"})
}

// fails ends the round as the meta-validator and the controller do.
func (w *coding) fails(reason string) {
	w.T.Helper()
	for _, t := range w.Tasks("g") {
		if t.Status != blackboard.Merged {
			w.about(t.ID, message.Planner, "planner-1", 0, message.Abandoned{Task: t.ID, Reason: reason})
		}
	}
	g := w.Goal("g")
	r := message.ReplanRequest{TaskID: "g", PlanID: g.Plan.PlanID}
	for _, t := range w.Tasks("g") {
		if t.Status != blackboard.Merged {
			r.FailedSubtasks = append(r.FailedSubtasks, t.ID)
			r.Outcomes = append(r.Outcomes, message.SubTaskOutcome{SubtaskID: t.ID, ParentTaskID: "g", Slot: t.Slot, Approach: t.Approach, Target: t.Target,
				Status: message.Failed, FailureReason: &reason})
		}
	}
	said := w.Say("meta-validator-1", "g", g.PlanRef.ID, r)
	w.Say("ggs-1", "g", said.ID, message.PlanDirective{TaskID: "g", Round: 1, Policy: message.LikeForLike, Directive: message.ChangeApproach,
		TaskDirectives: []message.TaskDirective{{Slot: "b", Directive: message.ChangeApproach}}})
}

func TestAReplanKeepsWhatWasMerged(t *testing.T) {
	w := newCoding(t)
	w.Plan.Propose = proposes(coded("a"), coded("b"))
	w.plan()
	a := w.Tasks("g")[0].ID
	w.merges(a)
	w.fails("b does not build")
	other := coded("b", "a")
	other.Approach = "generate"
	w.Plan.Propose = proposes(other)
	w.plan()
	g := w.Goal("g")
	if !slices.Equal(g.Plan.Kept, []message.TaskID{a}) {
		t.Fatalf("kept: %v, refused: %+v", g.Plan.Kept, g.PlanRejected)
	}
	tasks := w.Tasks("g")
	if b := tasks[1]; b.Slot != "b" || !slices.Equal(b.DependsOn, []message.TaskID{a}) || b.Waiting {
		t.Errorf("b: %+v", b)
	}
}

func TestWhatIsMergedMayBePlannedAgain(t *testing.T) {
	w := newCoding(t)
	w.Plan.Propose = proposes(coded("a"), coded("b"))
	w.plan()
	w.merges(w.Tasks("g")[0].ID)
	w.fails("a is too slow for b")
	again, other := coded("a"), coded("b")
	again.Approach, other.Approach = "rewrite", "generate"
	w.Plan.Propose = proposes(again, other)
	w.plan()
	if g := w.Goal("g"); len(g.Plan.Kept) != 0 || len(g.Plan.SubtaskIDs) != 2 || g.PlanRejected != nil {
		t.Errorf("plan %+v, refused %+v", g.Plan, g.PlanRejected)
	}
}

// looker is a plan reviewer that says what it is told to.
type looker struct {
	say   think.PlanReview
	err   error
	asked []think.PlanReviewInput
}

func (l *looker) ReviewPlan(_ context.Context, in think.PlanReviewInput) (think.PlanReview, error) {
	l.asked = append(l.asked, in)
	return l.say, l.err
}

// A plan that nobody judged is neither taken nor refused: the step says so, and
// the goal waits.
func TestAPlanThatNobodyJudgesWaits(t *testing.T) {
	garbage := &think.UnusableError{Role: "plan-reviewer", Model: "m", Why: "it is no JSON"}
	for _, c := range []struct {
		err   error
		waits bool
	}{{garbage, true}, {fmt.Errorf("ask: %w", garbage), true}, {errors.New("a full disk"), false}} {
		w := newCoding(t)
		w.reviewer, w.Config.Code.PlanReview = &looker{err: c.err}, "model"
		w.Plan.Propose = proposes(coded("a"))
		w.step()
		w.Clock.Add(60_000_000_000)
		w.Tidy(steptest.Nobody)
		err := w.Next(message.Planner, w.run)
		if g := w.Goal("g"); err == nil || step.NotJudged(err) != c.waits || c.waits && step.ExitCode(err) != step.ExitAgain || g.Plan != nil || len(g.PlanRejected) > 0 {
			t.Errorf("%v: ended with %v, plan %+v, refused %+v", c.err, err, g.Plan, g.PlanRejected)
		}
	}
}

func TestAPlanIsLookedAtByAnotherModel(t *testing.T) {
	for name, c := range map[string]struct {
		say  think.PlanReview
		want string // of the first violation; empty when it is worked on
	}{
		"accepted":                  {think.PlanReview{Accepted: true, Reason: "it covers the spec"}, ""},
		"rejected":                  {think.PlanReview{Problems: []think.PlanProblem{{Slot: "a", Problem: "no limit", Fix: "name one"}}}, "no limit; name one"},
		"accepted, with a problem":  {think.PlanReview{Accepted: true, Problems: []think.PlanProblem{{Problem: "gap", Fix: "fill it"}}}, "gap; fill it"},
		"rejected for some reason":  {think.PlanReview{Reason: "too large"}, "too large"},
		"neither accepted nor said": {think.PlanReview{}, "it was not accepted, without a reason"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newCoding(t)
			l := &looker{say: c.say}
			w.reviewer, w.Config.Code.PlanReview = l, "model"
			w.Plan.Propose = proposes(coded("a"))
			w.plan()
			g := w.Goal("g")
			if len(l.asked) != 1 || l.asked[0].Tasks[0].DoneWhen == "" || len(l.asked[0].TaskCriteria) != 1 {
				t.Fatalf("it was shown %+v", l.asked)
			}
			if c.want == "" {
				if g.Plan == nil || g.Plan.PlanReview != c.say.Reason {
					t.Errorf("plan: %+v", g.Plan)
				}
				return
			}
			if g.Plan != nil || g.PlanRejected[0].Violations[0].Rule != planner.RulePlanReview || g.PlanRejected[0].Violations[0].Because != c.want {
				t.Errorf("plan %+v, refused %+v", g.Plan, g.PlanRejected)
			}
		})
	}
}

// What code refuses is not worth a question to a model.
func TestAPlanThatMissesAGateIsNotReviewed(t *testing.T) {
	w := newCoding(t)
	l := &looker{say: think.PlanReview{Accepted: true}}
	w.reviewer, w.Config.Code.PlanReview = l, "model"
	x := coded("a")
	x.Scope = ""
	w.Plan.Propose = proposes(x)
	w.plan()
	if len(l.asked) != 0 {
		t.Error("a reviewer was asked")
	}
}

// A gap is logged once, and with the plan that is worked on: many of one kind
// would stop the goal.
func TestGapsOfTheSpecAreLoggedOnce(t *testing.T) {
	w := newCoding(t)
	w.Plan.Propose = func(in think.PlanInput) (think.Proposal, error) {
		x := coded("a")
		if len(w.Plan.Asked) == 1 {
			x.Scope = ""
		}
		p, err := proposes(x)(in)
		p.SpecGaps = []string{"it does not say how often", " ", "it does not say how often"}
		return p, err
	}
	w.plan()
	if n := len(w.Messages("Anomaly")); n != 0 {
		t.Errorf("%d gaps of a refused plan", n)
	}
	w.plan()
	said := w.Messages("Anomaly")
	if len(said) != 1 || said[0].Body.(message.Anomaly).Kind != "spec_gap" || said[0].Seq > w.Goal("g").PlanRef.Seq {
		t.Errorf("anomalies: %+v", said)
	}
	w.blocks("a", "coder-1")
	w.answers(think.WakeAnswer{Answer: think.AnswerUnblock, Reason: "five times", SpecGaps: []string{"it does not say how often", "it names no unit"}})
	w.step()
	if n := len(w.Messages("Anomaly")); n != 2 {
		t.Errorf("%d gaps", n)
	}
}
