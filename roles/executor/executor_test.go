package executor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/act/tool"
	"orch/roles/act/tool/gate"
	"orch/roles/internal/steptest"
	"orch/roles/loop"
	"orch/roles/run/config"
	"orch/roles/run/step"
	"orch/roles/think"
)

func world(t *testing.T) (*steptest.World, message.GoalID) {
	w := steptest.New(t)
	return w, w.Dispatch(nil, steptest.Task("a", steptest.Checked("c1", "check")))
}

func result(t *testing.T, w *steptest.World) message.ExecutionResult {
	t.Helper()
	msgs := w.Messages("ExecutionResult")
	if len(msgs) == 0 {
		t.Fatal("nothing was reported")
	}
	return msgs[len(msgs)-1].Body.(message.ExecutionResult)
}

func TestEveryCallIsInTheLogOnBothSides(t *testing.T) {
	w, _ := world(t)
	long := strings.Repeat("é", 500) + "end"
	w.Box.Results = map[string]tool.Result{"make": {Output: []byte(long), Head: long, Tail: long}}
	w.Box.During = func(command string) {
		if n := len(w.Messages("ToolStarted")); n != len(w.Box.Ran) {
			t.Errorf("%s acts before its start is in the log", command)
		}
	}
	w.Work.Act = steptest.Call("make", "read x")
	if err := w.Next(message.Executor, Run); err != nil {
		t.Fatal(err)
	}
	calls := w.Messages("ToolStarted", "ToolCall")
	if len(calls) != 4 || calls[1].Body.(message.ToolCall).Call != calls[0].Body.(message.ToolStarted).Call {
		t.Fatalf("calls %+v", calls)
	}
	if calls[0].Body.(message.ToolStarted).Idempotent || !calls[2].Body.(message.ToolStarted).Idempotent {
		t.Error("what is harmless to repeat is not told from what is not")
	}
	first := calls[1].Body.(message.ToolCall)
	if n := len([]rune(first.Tail)); n != 120 || !strings.HasSuffix(first.Tail, "end") {
		t.Errorf("tail of %d characters: %q", n, first.Tail)
	}
	kept, err := w.As("supervisor-1").Blob("g", first.Blob)
	if err != nil || string(kept) != long {
		t.Errorf("the whole output is not kept: %v", err)
	}
	r := result(t, w)
	if r.Status != message.Completed || len(r.ToolCalls) != 2 || !strings.HasPrefix(r.ToolCalls[0], "shell:make → ") || !strings.HasSuffix(r.ToolCalls[0], "end") {
		t.Errorf("result %+v", r)
	}
}

func TestInvariant_ForbiddenCallsHaveNoEffect(t *testing.T) {
	w, id := world(t)
	e := w.Claim(w.Due()[0])
	task, g, err := e.ReadTask(context.Background())
	if err != nil || g.ID != id {
		t.Fatal(err)
	}
	bans := think.Constraints{MustNot: []think.Ban{
		{Approach: "shell:npm", Source: "memory"}, {Slot: "a", Approach: "try", Target: "make all"}, {Target: "make test"}, {Slot: "b", Approach: "shell:go"},
	}}
	tools := e.Tools(task.SubTask, bans, false)
	for _, c := range []struct {
		command string
		denied  bool
	}{
		{"npm install", true}, {"make all", true}, {"make test", true}, {"go build", false},
		{"make test", false}, // go build may have changed the workspace: looking again is no repeat
		{"npm install", true},
	} {
		before := len(w.Box.Ran)
		r, err := tools.Do(context.Background(), "shell", steptest.Shell(c.command))
		if err != nil {
			t.Fatal(err)
		}
		if (r.Denied != "") != c.denied || (len(w.Box.Ran) == before) != c.denied {
			t.Errorf("%s: denied %q, ran %v", c.command, r.Denied, w.Box.Ran)
		}
		if c.denied && r.Class != message.Environmental {
			t.Errorf("%s: a denied call is %q", c.command, r.Class)
		}
	}
}

// A backend that acts by itself is told what it must not, and held to what it
// says and to what is seen of it.
func TestInvariant_AnAgentThatDoesWhatItMustNotFails(t *testing.T) {
	bans := []think.Ban{{Approach: "shell:npm", Source: "memory"}, {Slot: "a", Approach: "try", Target: "make all"}, {Target: "make test"}, {Slot: "b", Approach: "shell:go"}}
	for name, c := range map[string]struct {
		seen []think.Observed
		asks string
		may  bool
		want bool // it is told
	}{
		"a banned program":                       {seen: []think.Observed{{Command: "npm install"}}, want: true},
		"a banned program that failed":           {seen: []think.Observed{{Command: "npm install", Failed: true}}, want: true},
		"the task's approach on a target":        {seen: []think.Observed{{Command: "make all"}}, want: true},
		"a target":                               {seen: []think.Observed{{Command: "make test"}}, want: true},
		"a target after looking":                 {seen: []think.Observed{{Command: "read x"}, {Command: "make test"}}, want: true},
		"a target after a command":               {seen: []think.Observed{{Command: "go build"}, {Command: "make test"}}},
		"a target after an edit":                 {seen: []think.Observed{{Tool: "Edit"}, {Command: "make test"}}},
		"another slot's":                         {seen: []think.Observed{{Command: "go build"}}},
		"no command":                             {seen: []think.Observed{{Tool: "npm"}}},
		"what its own rules refused":             {seen: []think.Observed{{Command: "npm install", Denied: "no"}}},
		"what we refused, reported as a failure": {asks: "npm install", seen: []think.Observed{{Command: "npm install", Failed: true}}},
		"what we refused, done all the same":     {asks: "npm install", seen: []think.Observed{{Command: "npm install"}}, want: true},
		"what it may":                            {asks: "go build", may: true},
	} {
		w, _ := world(t)
		e := w.Claim(w.Due()[0])
		task, _, err := e.ReadTask(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		tools := e.Tools(task.SubTask, think.Constraints{MustNot: bans}, false)
		if c.asks != "" && tools.May("shell", steptest.Shell(c.asks)) != c.may {
			t.Errorf("%s: leave given: %v", name, !c.may)
		}
		told := false
		for _, o := range c.seen {
			err := tools.Observe(t.Context(), o)
			if told = errors.As(err, new(*think.MustNotError)); err != nil && !told {
				t.Fatal(err)
			}
		}
		if told != c.want || len(tools.Calls()) != len(c.seen) {
			t.Errorf("%s: told %v, noted %+v", name, told, tools.Calls())
		}
	}
}

func TestAnApproachOfItsOwnMustBeAllowed(t *testing.T) {
	w, _ := world(t)
	e := w.Claim(w.Due()[0])
	task, g, err := e.ReadTask(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	avoid := func(tool, target string) message.Potential {
		return message.Potential{Pair: message.Pair{Tool: tool, Target: target}, Action: loop.Avoid}
	}
	g.Calibration.Answer = &message.MemoryAnswer{Potentials: []message.Potential{avoid("shell:npm", ""), avoid("edit", "t"), avoid("", "t"), avoid("write", "u")}}
	in, err := Input(t.Context(), e, task, g)
	if err != nil || len(in.MustNot) != 4 {
		t.Errorf("it is told %+v, %v", in.MustNot, err)
	}
	a := attempt{e: e, task: task, goal: g, number: 1}
	for approach, want := range map[string]string{"": message.Completed, "try": message.Completed, "other": message.Completed, "write": message.Completed,
		"shell:npm": message.Failed, "edit": message.Failed} {
		r := a.result(think.Execution{Status: message.Completed, Approach: approach, Output: "done"}, nil)
		if r.Status != want || want == message.Failed && (r.Class != message.Logical || !strings.Contains(r.MustNot, approach)) {
			t.Errorf("%q: %+v", approach, r)
		}
	}
}

// Before an agent goes about a task in a way of which the memory is of two
// minds, a person is asked; one that only looks may look.
func TestAnAgentWaitsForAYesWhereTheMemoryIsOfTwoMinds(t *testing.T) {
	for _, c := range []struct{ permits, reads, runs bool }{{false, false, false}, {true, false, true}, {false, true, true}} {
		w, _ := world(t)
		w.Box.Permits = c.permits
		e := w.Claim(w.Due()[0])
		task, _, err := e.ReadTask(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		task.ReadOnly = c.reads
		tools := e.Tools(task.SubTask, think.Constraints{AskFirst: []message.Pair{{Tool: task.Approach, Target: task.Target}}}, false)
		ran := false
		r, err := tools.Act(t.Context(), "agent:x", []byte(`{}`), func(context.Context) think.Acted { ran = true; return think.Acted{} })
		if err != nil || ran != c.runs || (r.Denied == "") != c.runs || len(w.Messages("ApprovalRequest")) != map[bool]int{false: 1}[c.runs] {
			t.Errorf("%+v: ran %v, %+v, %v", c, ran, r, err)
		}
		if open := len(w.Messages("ToolStarted")) - len(w.Messages("ToolCall")); open != 0 {
			t.Errorf("%d calls have no end", open)
		}
	}
}

func TestARefusedCallAsksAPersonOnce(t *testing.T) {
	w, id := world(t)
	rule := gate.Rule{ID: "r1"}
	w.Box.Results = map[string]tool.Result{"rm x": {Exit: -1, Denied: "[denied] deletes x", Denial: &tool.Denial{Kind: tool.DeniedGate, Reason: "deletes x", Needs: rule}}}
	w.Work.Act = func(ctx context.Context, in think.ExecuteInput, tools think.Tools) (think.Execution, error) {
		for range 2 {
			if r, err := tools.Do(ctx, "shell", steptest.Shell("rm x")); err != nil || r.Denied == "" {
				t.Errorf("denied %q, %v", r.Denied, err)
			}
		}
		return think.Execution{Status: message.Failed, Reason: "refused"}, nil
	}
	if err := w.Next(message.Executor, Run); err != nil {
		t.Fatal(err)
	}
	asked := w.Messages("ApprovalRequest")
	if len(asked) != 1 || asked[0].Body.(message.ApprovalRequest).Request != "r1" {
		t.Fatalf("asked %+v", asked)
	}
	if r := result(t, w); r.Class != message.Environmental || !strings.Contains(r.ToolCalls[0], "[denied]") {
		t.Errorf("result %+v", r)
	}
	if g := w.Goal(id); g.Status != blackboard.GoalSuspended {
		t.Errorf("the goal does not wait for the person: %s", g.Status)
	}
}

// A step that dies between a tool's start and its end: what is harmless is run
// again, anything else is not, and the doubt is said.
func TestDeathBetweenAToolsStartAndItsEnd(t *testing.T) {
	for _, c := range []struct {
		command string
		again   bool
	}{{"read x", true}, {"deploy", false}} {
		w, _ := world(t)
		a := w.Due()[0]
		e := w.Claim(a)
		dying, die := context.WithCancel(context.Background())
		w.Box.During = func(string) { die() }
		w.Work.Act = steptest.Call(c.command)
		if err := Run(dying, e); step.ExitCode(err) != step.ExitAgain {
			t.Fatalf("%s: stopped with %v", c.command, err)
		}
		w.Box.During = nil
		w.End(a, e, message.EndInterrupted)
		if err := w.Next(message.Executor, Run); err != nil {
			t.Fatal(err)
		}
		r := result(t, w)
		if got := len(w.Box.Ran) == 2; got != c.again {
			t.Errorf("%s: ran %v", c.command, w.Box.Ran)
		}
		doubt := r.Status == message.Failed && r.Class == message.Environmental && strings.Contains(r.Reason, "unknown") && strings.Contains(r.Reason, c.command)
		if doubt == c.again {
			t.Errorf("%s: result %+v", c.command, r)
		}
	}
}

func TestDeclaredIdempotentCallsAreRunAgain(t *testing.T) {
	w, _ := world(t)
	w.Work.Act = func(ctx context.Context, _ think.ExecuteInput, tools think.Tools) (think.Execution, error) {
		_, err := tools.(think.DeclaredTools).DoIdempotent(ctx, "shell", steptest.Shell("make"))
		return think.Execution{Status: message.Completed}, err
	}
	if err := w.Next(message.Executor, Run); err != nil {
		t.Fatal(err)
	}
	if !w.Messages("ToolStarted")[0].Body.(message.ToolStarted).Idempotent {
		t.Error("what its author declares is not in the log")
	}
}

func TestALateResultIsKeptAndCountsForNothing(t *testing.T) {
	w, _ := world(t)
	a := w.Due()[0]
	e := w.Claim(a)
	w.Work.Act = func(context.Context, think.ExecuteInput, think.Tools) (think.Execution, error) {
		w.End(a, e, message.EndLost) // meanwhile somebody found it dead
		return think.Execution{Status: message.Completed, Output: "precious"}, nil
	}
	err := Run(context.Background(), e)
	if !errors.Is(err, step.ErrLate) || step.ExitCode(err) != step.ExitAgain {
		t.Fatalf("got %v", err)
	}
	late := w.Messages("LateResult")
	if len(late) != 1 || len(w.Messages("ExecutionResult")) != 0 {
		t.Fatalf("late %+v", late)
	}
	kept, err := w.As("supervisor-1").Blob("g", late[0].Body.(message.LateResult).Hash)
	if err != nil || !strings.Contains(string(kept), "precious") {
		t.Errorf("kept %q, %v", kept, err)
	}
	if tasks := w.Tasks("g"); tasks[0].Status != blackboard.Unclaimed || tasks[0].Attempt != 0 {
		t.Errorf("it changed the task: %s, attempt %d", tasks[0].Status, tasks[0].Attempt)
	}
}

func TestAClaimLostDuringACallEndsTheWork(t *testing.T) {
	w, _ := world(t)
	a := w.Due()[0]
	e := w.Claim(a)
	e.Heart = &step.Heart{}
	w.Box.During = func(string) {
		w.End(a, e, message.EndLost)
		w.Clock.Add(time.Hour)
		e.Heart.Beat("some output")
	}
	w.Work.Act = steptest.Call("read x")
	if err := Run(context.Background(), e); !errors.Is(err, step.ErrLate) {
		t.Fatalf("got %v", err)
	}
	if n := len(w.Messages("ToolCall")); n != 0 {
		t.Errorf("%d calls were ended under a lost claim", n)
	}
}

func TestLeaseIsExtendedWithProgressOnly(t *testing.T) {
	third := time.Duration(config.Default().Limits.LeaseMS) * time.Millisecond / 3
	for _, c := range []struct {
		pass time.Duration
		want int
	}{{0, 0}, {third - time.Millisecond, 0}, {third, 1}} {
		w, _ := world(t)
		e := w.Claim(w.Due()[0])
		e.Heart = &step.Heart{}
		w.Work.Act = func(context.Context, think.ExecuteInput, think.Tools) (think.Execution, error) {
			w.Clock.Add(c.pass)
			e.Heart.Beat("output")
			e.Heart.Beat("more output")
			return think.Execution{Status: message.Completed}, nil
		}
		if err := Run(context.Background(), e); err != nil {
			t.Fatal(err)
		}
		if n := len(w.Messages("LeaseExtended")); n != c.want {
			t.Errorf("after %s: %d extensions, want %d", c.pass, n, c.want)
		}
	}
	var none *step.Heart
	none.Beat("there is nothing to extend")
}

func TestABackendThatFailsFailsTheAttempt(t *testing.T) {
	w, _ := world(t)
	w.Work.Act = func(context.Context, think.ExecuteInput, think.Tools) (think.Execution, error) {
		return think.Execution{}, errors.New("model unreachable")
	}
	if err := w.Next(message.Executor, Run); err != nil {
		t.Fatal(err)
	}
	if r := result(t, w); r.Status != message.Failed || r.Class != message.Environmental || !strings.Contains(r.Reason, "model unreachable") {
		t.Errorf("result %+v", r)
	}
}

func TestChangedSettingsSuspendTheGoal(t *testing.T) {
	w, id := world(t)
	dir := filepath.Join(w.Root, ".orch")
	e := w.Claim(w.Due()[0])
	e.Settings = step.SettingsOf(dir)
	w.Box.During = func(string) {
		if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte("limits: {jobs: 99}\n"), 0o644); err != nil {
			t.Error(err)
		}
	}
	w.Work.Act = steptest.Call("make", "make again")
	err := Run(context.Background(), e)
	var drift *step.DriftError
	if !errors.As(err, &drift) || drift.Hint() == "" {
		t.Fatalf("got %v", err)
	}
	if len(w.Box.Ran) != 1 {
		t.Errorf("it went on: %v", w.Box.Ran)
	}
	if g := w.Goal(id); g.Status != blackboard.GoalSuspended || g.Suspended.Why != blackboard.WhyCheckpoint {
		t.Errorf("the goal is %s", g.Status)
	}
}

func TestOutputsOfEarlierSequencesAreHandedOn(t *testing.T) {
	w := steptest.New(t)
	first, second := steptest.Task("a", steptest.Checked("c1", "check")), steptest.Task("b", steptest.Checked("c1", "check"))
	second.Sequence = 2
	id := w.Dispatch(nil, first, second)
	if err := w.Next(message.Executor, Run); err != nil {
		t.Fatal(err)
	}
	got := w.Tasks(id)[0]
	w.Say("agent-validator-9", id, got.ResultRef.ID, message.SubTaskOutcome{
		SubtaskID: "a", ParentTaskID: id, Slot: "a", Status: message.Matched, Output: "what a found",
		CriteriaVerdicts: []message.Verdict{{CriterionID: "c1", Verdict: message.Pass, Evidence: "e", By: message.ByCode}},
	})
	if err := w.Next(message.Executor, Run); err != nil {
		t.Fatal(err)
	}
	if in := w.Work.Asked[1].Inputs; in["a"] != "what a found" {
		t.Errorf("handed on %v", in)
	}
}

func TestNothingHappensWithoutTheClaim(t *testing.T) {
	w, _ := world(t)
	e := w.Claim(w.Due()[0])
	e.Fence++
	if err := Run(context.Background(), e); !errors.Is(err, step.ErrMoved) || len(w.Work.Asked) != 0 {
		t.Errorf("got %v", err)
	}
}

// Of what the memory is of two minds about, nothing with an effect runs without
// a person's yes, and what can be repeated without harm runs at once.
func TestADoubtedApproachAsksBeforeItHasAnEffect(t *testing.T) {
	for _, permitted := range []bool{false, true} {
		w, id := world(t)
		w.Box.Permits = permitted
		e := w.Claim(w.Due()[0])
		task, _, err := e.ReadTask(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		doubted := think.Constraints{AskFirst: []message.Pair{{Tool: task.Approach, Target: task.Target}}}
		tools := e.Tools(task.SubTask, doubted, false)
		read, err := tools.Do(context.Background(), "shell", steptest.Shell("read it"))
		if err != nil || read.Denied != "" {
			t.Fatalf("a look was refused: %+v, %v", read, err)
		}
		if r, err := tools.DoIdempotent(context.Background(), "shell", steptest.Shell("make again")); err != nil || r.Denied != "" {
			t.Fatalf("what is declared harmless to repeat was refused: %+v, %v", r, err)
		}
		r, err := tools.Do(context.Background(), "shell", steptest.Shell("make it"))
		if err != nil || (r.Denied == "") != permitted || slices.Contains(w.Box.Ran, "make it") != permitted {
			t.Errorf("permitted %v: %+v, %v, ran %v", permitted, r, err, w.Box.Ran)
		}
		if waits := w.Goal(id).Status == blackboard.GoalSuspended; waits == permitted {
			t.Errorf("permitted %v: the goal waits: %v", permitted, waits)
		}
		asked := w.Messages("ApprovalRequest")
		if permitted {
			continue
		}
		if len(asked) != 1 || !strings.Contains(asked[0].Body.(message.ApprovalRequest).Reason, "two minds") {
			t.Errorf("asked %+v", asked)
		}
	}
}
