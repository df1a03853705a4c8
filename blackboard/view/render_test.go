package view

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"

	"orch/blackboard"
	"orch/blackboard/message"
)

var update = flag.Bool("update", false, "write the golden files anew")

// richBoard has one of everything a view shows.
func richBoard() *fakeState {
	criteria := []message.Criterion{
		{ID: "c1", Criterion: "README.md names every command", Mode: message.Verifiable, Required: true, Check: json.RawMessage(`{"run":"true"}`)},
		{ID: "c2", Criterion: "it reads well", Mode: message.Plausible},
		{ID: "c3", Criterion: "links work", Mode: message.Verifiable},
	}
	verdicts := []message.Verdict{
		{CriterionID: "c1", Criterion: criteria[0].Criterion, Verdict: message.Pass, Evidence: "exit 0: 14 of 14", By: message.ByCode},
		{CriterionID: "c2", Criterion: criteria[1].Criterion, Verdict: message.Fail, FailureClass: message.Logical, Evidence: "no introduction:\nit begins with a table", By: message.ByModel},
		{CriterionID: "c3", Criterion: "other words", Verdict: message.Pass, Evidence: "x", By: message.ByModel},
	}
	reason := "the port is taken"
	open := blackboard.Goal{
		ID: "document_commands", Status: blackboard.GoalSuspended, InputRef: ref(2),
		Input:     message.UserInput{Text: "document: every command\n把每个命令写进文档", Profile: "task"},
		Spec:      &message.TaskSpec{Intent: "document every command"},
		Suspended: &blackboard.Suspension{Why: "clarification", Detail: "1 question", Command: "orch answer", Since: ref(9)},
		Clarify:   blackboard.Clarification{Round: 1, Questions: []string{"Which language?"}, Asked: ref(9)},
		Plan:      &message.DispatchManifest{PlanID: "p-2", TaskCriteria: criteria},
		Rounds: []blackboard.Round{
			{Request: &message.ReplanRequest{TaskVerdicts: verdicts}, Answer: ref(7), Directive: &message.PlanDirective{Directive: message.ChangePath, Loss: message.Loss{D: 0.5, P: 0.25, Omega: 0.1, L: 0.42}}},
		},
		Steps: 7, ActiveMS: 61_500, Cost: 0.1234567, Reserved: 0.5,
	}
	ended := blackboard.Goal{
		ID: "old", Status: blackboard.GoalEnded, Input: message.UserInput{Text: strings.Repeat("long ", 80), Profile: "task"}, FinalRef: ref(3),
		Final: &message.FinalResult{Directive: message.Abandon, Summary: "could not", Loss: message.Loss{L: 0.9}, UnmetCriteria: verdicts[1:2]},
	}
	held := plainTask("0190a1b2-0000-7000-8000-000000000001", blackboard.Claimed)
	held.Goal, held.Agent, held.Fence, held.Lease = open.ID, "executor-1", 2, message.Lease{ExpiresAt: day(59)}
	held.Slot, held.Sequence, held.Targets, held.DependsOn = "docs", 1, []string{"docs/a.md", "true"}, []message.TaskID{"F-001"}
	held.OpenCall = &message.ToolStarted{Tool: "shell"}
	held.Created = ref(4)
	blocked := plainTask("F-001", blackboard.Blocked)
	blocked.BlockedKind, blocked.BlockedReason, blocked.HumanNotes = "spec", "which port?", []string{"ask Ann: she knows", "8080\nor 9090", "yes"}
	rejected := plainTask("F-002", blackboard.Rejected)
	rejected.Created, rejected.Attempt, rejected.Corrections, rejected.SuccessCriteria = ref(5), 1, 1, criteria[:2]
	rejected.Correction = &message.CorrectionSignal{FailedCriterion: "c2", WhatWasWrong: "no introduction", WhatToDo: "write one", Verdicts: verdicts[:2]}
	rejected.Result = &message.ExecutionResult{Output: strings.Repeat("output ", 60)}
	failed := plainTask("F-003", blackboard.Approved)
	failed.Created, failed.Goal, failed.Fence, failed.Agent, failed.Output = ref(6), open.ID, 1, "executor-2", "done"
	failed.Outcome = &message.SubTaskOutcome{Status: message.Failed, FailureReason: &reason}
	gone := plainTask("F-000", blackboard.Merged)
	return &fakeState{
		seq: 12, goals: []blackboard.Goal{ended, open}, tasks: []blackboard.Task{blocked, held, rejected, failed, gone},
		agents: []blackboard.Agent{
			{ID: "ggs-1", Role: message.GGS, Status: message.AgentIdle},
			{ID: "executor-1", Role: message.Executor, Status: message.AgentWorking, CurrentTask: held.ID, Terminal: "tty1", Process: message.Process{PID: 42}, Lease: message.Lease{ExpiresAt: day(59)}},
		},
		approvals: []blackboard.Approval{
			{ApprovalRequest: message.ApprovalRequest{Request: "r1", Task: held.ID, Tool: "shell", Input: json.RawMessage(`{"run":"rm -rf x"}`), Reason: "deletes"}, Goal: open.ID, Asked: ref(8)},
			{ApprovalRequest: message.ApprovalRequest{Request: "r0"}, Given: ref(8)},
		},
		brakes:    blackboard.Brakes{Paused: &blackboard.Ref{Seq: 11, TS: day(11)}, Reason: "lunch"},
		anomalies: []blackboard.AnomalyRecord{{Anomaly: message.Anomaly{Task: "F-002", Kind: "retry_loop", Details: map[string]string{"error_pattern": "EADDRINUSE", "count": "3"}}, Agent: "executor-2", Ref: ref(10)}},
		limits:    map[string]time.Time{"b": day(2), "a": day(1)},
	}
}

// codingBoard has a sprint, a draft that misses a gate, work in review, a block.
func codingBoard() *fakeState {
	draft := plainTask("C-1", blackboard.Draft)
	draft.Gates = []message.Gate{{Gate: "done_when", Why: "it is vague"}}
	reviewed := plainTask("C-2", blackboard.ReadyForReview)
	reviewed.For, reviewed.Fence, reviewed.Agent, reviewed.Created = message.Coder, 2, "coder-1", ref(2)
	reviewed.Review = blackboard.Review{Commit: "abc", Reviewer: "code-reviewer-1", Lease: message.Lease{ExpiresAt: day(40)}, Iterations: 2, Cycles: 1, CyclesTotal: 3,
		Pending: []message.Blocker{{File: "a.go", Line: 3, Defect: "off by one", Fix: "use <"}}}
	stuck := plainTask("C-3", blackboard.Blocked)
	stuck.For, stuck.Fence, stuck.Agent, stuck.Created, stuck.Rescopes = message.Coder, 1, "coder-2", ref(3), 1
	stuck.BlockedReason, stuck.BlockedKind = "two ways are possible", message.BlockedSpec
	stuck.Review = blackboard.Review{FailedBy: []message.AgentID{"coder-2"}, Questions: []string{"Which way?"}, Attempted: []string{"the left one"}}
	g := blackboard.Goal{ID: "g", Status: blackboard.GoalOpen, Input: message.UserInput{Text: "do it", Profile: "code"}, InputRef: ref(1),
		Alignment: []blackboard.Alignment{{Task: "C-0", Line: "the same calls, one file each"}},
		Raised: []blackboard.Raised{{Kind: blackboard.RaisedDiscovery, What: "the clock is wrong", Severity: "high", Urgency: message.Immediate, Task: "C-2"},
			{Kind: blackboard.RaisedDiscovery, What: "answered", Answer: ref(4)}}}
	sprint := &blackboard.Sprint{Opened: ref(1), Deadline: day(50), Scope: message.SprintScope{Planned: []message.TaskID{"C-2"}, Stretch: []message.TaskID{"C-3"}}, Approved: 1, Rejected: 2}
	return &fakeState{seq: 4, goals: []blackboard.Goal{g}, tasks: []blackboard.Task{draft, reviewed, stuck}, sprint: sprint}
}

func TestGolden(t *testing.T) {
	crowd := twoTasks()
	crowd.seq = 3
	for i := range 30 {
		crowd.tasks = append(crowd.tasks, plainTask(fmt.Sprintf("Z-%02d", i), blackboard.Unclaimed))
		crowd.goals = append(crowd.goals, blackboard.Goal{ID: message.GoalID(fmt.Sprintf("g_%02d", i)), Status: blackboard.GoalEnded})
	}
	for name, view := range map[string][]byte{
		"rich":  Render(richBoard(), Options{}),
		"full":  Render(richBoard(), Options{Full: true}),
		"code":  Render(codingBoard(), Options{}),
		"empty": Render(&fakeState{seq: 1}, Options{}),
		"crowd": Render(crowd, Options{MaxTasks: 4}),
		"form":  EditableYAML(richBoard().tasks[0]),
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join("testdata", name+".yaml")
			if *update {
				if err := os.WriteFile(file, view, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(want, view) {
				t.Errorf("differs from %s (run with -update if that is meant):\n%s", file, DiffYAML(want, view))
			}
			if err := yaml.Unmarshal(view, new(map[string]any)); err != nil {
				t.Errorf("yaml.v3 cannot read it: %v", err)
			}
		})
	}
}

// A view says everything in it truly: what yaml.v3 reads is what the state has.
func TestViewReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &fakeState{seq: 5}
		for i := range rapid.IntRange(0, 4).Draw(t, "tasks") {
			task := plainTask(fmt.Sprintf("%s%d", stringGen().Draw(t, "id"), i), rapid.SampledFrom(attention).Draw(t, "status"))
			task.Intent = stringGen().Draw(t, "intent")
			task.HumanNotes = rapid.SliceOfN(stringGen(), 0, 3).Draw(t, "notes")
			task.Priority = rapid.IntRange(-5, 5).Draw(t, "priority")
			s.tasks = append(s.tasks, task)
		}
		data := Render(s, Options{})
		if !Sealed(data) {
			t.Fatal("the checksum does not fit")
		}
		if seq, ok := SeqOf(data); !ok || seq != 5 {
			t.Fatalf("SeqOf = %d, %v", seq, ok)
		}
		var got struct {
			Board       string
			Bookkeeping struct{ Log struct{ Seq uint64 } }
			Tasks       map[string]struct {
				Status, Intent string
				Priority       int
				HumanNotes     []string `yaml:"human_notes"`
			}
		}
		if err := yaml.Unmarshal(data, &got); err != nil {
			t.Fatalf("%v in\n%s", err, data)
		}
		if got.Board != s.BoardID() || got.Bookkeeping.Log.Seq != 5 || len(got.Tasks) != len(s.tasks) {
			t.Fatalf("got %+v from\n%s", got, data)
		}
		for _, want := range s.tasks {
			g := got.Tasks[string(want.ID)]
			if g.Status != string(want.Status) || g.Intent != want.Intent || g.Priority != want.Priority || fmt.Sprint(g.HumanNotes) != fmt.Sprint(want.HumanNotes) {
				t.Fatalf("got %+v, want %+v from\n%s", g, want, data)
			}
		}
	})
}

func TestOneChangedByteBreaksTheSeal(t *testing.T) {
	data := Render(twoTasks(), Options{})
	for i := range data {
		broken := bytes.Clone(data)
		broken[i] ^= 1
		if Sealed(broken) || Sealed(data[:i]) {
			t.Fatalf("byte %d of %d can change unseen", i, len(data))
		}
	}
	if Sealed(append(data, '\n')) {
		t.Error("something after the seal goes unseen")
	}
}

// A Renderer that copies blocks shows the same as one that does not, whatever
// field of a task changed, also when no message says so.
func TestRendererForgetsNoChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := NewRenderer(Options{MaxTasks: 3})
		s := richBoard()
		for range rapid.IntRange(1, 6).Draw(t, "rounds") {
			i := rapid.IntRange(0, len(s.tasks)-1).Draw(t, "task")
			mutate(t, reflect.ValueOf(&s.tasks[i]).Elem(), "task")
			s.seq++
			if got, want := r.Render(s), Render(s, Options{MaxTasks: 3}); !bytes.Equal(got, want) {
				t.Fatalf("copied and fresh differ:\n%s", DiffYAML(want, got))
			}
		}
	})
}

// The same for what random changes seldom reach.
func TestRendererSeesDeepChanges(t *testing.T) {
	reason := "another"
	for name, change := range map[string]func(*blackboard.Task){
		"verdict of a correction": func(t *blackboard.Task) {
			c := *t.Correction
			c.Verdicts = []message.Verdict{c.Verdicts[0]}
			t.Correction = &c
		},
		"verdict of an outcome": func(t *blackboard.Task) {
			t.Outcome = &message.SubTaskOutcome{CriteriaVerdicts: []message.Verdict{{CriterionID: "c2", Criterion: "it reads well", Verdict: message.Pass}}}
		},
		"reason of a failure": func(t *blackboard.Task) { t.Outcome = &message.SubTaskOutcome{FailureReason: &reason} },
		"output":              func(t *blackboard.Task) { t.Result = &message.ExecutionResult{Output: "other"} },
		"check":               func(t *blackboard.Task) { t.SuccessCriteria = t.SuccessCriteria[:1] },
	} {
		r, s := NewRenderer(Options{}), richBoard()
		s.tasks[2].Outcome = nil
		before := r.Render(s)
		change(&s.tasks[2])
		got := r.Render(s)
		if want := Render(s, Options{}); !bytes.Equal(got, want) || bytes.Equal(got, before) {
			t.Errorf("%s: copied and fresh differ:\n%s", name, DiffYAML(want, got))
		}
	}
}

// mutate changes one field somewhere below v; what is shared is copied first.
func mutate(t *rapid.T, v reflect.Value, name string) {
	if name == "Slot" {
		return // a task keeps the slot it was made with
	}
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(day(rapid.IntRange(0, 59).Draw(t, name))))
			return
		}
		i := rapid.IntRange(0, v.NumField()-1).Draw(t, name+" field")
		mutate(t, v.Field(i), v.Type().Field(i).Name)
	case reflect.String:
		if v.Type() == reflect.TypeFor[blackboard.Status]() {
			v.SetString(string(rapid.SampledFrom(statuses).Draw(t, name)))
			return
		}
		v.SetString(rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, name))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64Range(0, 3).Draw(t, name))
	case reflect.Float64:
		v.SetFloat(float64(rapid.IntRange(0, 3).Draw(t, name)) / 4)
	case reflect.Uint64:
		v.SetUint(rapid.Uint64Range(0, 3).Draw(t, name))
	case reflect.Uint8:
		v.SetUint(uint64(rapid.SampledFrom([]byte(`12`)).Draw(t, name)))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, name))
	case reflect.Pointer:
		fresh := reflect.New(v.Type().Elem())
		if !v.IsNil() {
			fresh.Elem().Set(v.Elem())
		}
		mutate(t, fresh.Elem(), name)
		v.Set(fresh)
		if rapid.IntRange(0, 3).Draw(t, name+" nil") == 0 {
			v.SetZero()
		}
	case reflect.Slice:
		fresh := reflect.MakeSlice(v.Type(), v.Len(), v.Len()+1)
		reflect.Copy(fresh, v)
		if fresh.Len() == 0 || rapid.Bool().Draw(t, name+" append") {
			fresh = reflect.Append(fresh, reflect.Zero(v.Type().Elem()))
		}
		mutate(t, fresh.Index(fresh.Len()-1), name)
		v.Set(fresh)
	default:
		t.Fatalf("%s is a %s: say how it changes", name, v.Kind())
	}
}

func TestTheMostUrgentTasksGetThePlaces(t *testing.T) {
	s := &fakeState{seq: 2}
	for i := range 10 {
		s.tasks = append(s.tasks, plainTask(fmt.Sprintf("U-%d", i), blackboard.Unclaimed))
	}
	s.tasks = append(s.tasks, plainTask("B", blackboard.Blocked), plainTask("done", blackboard.Merged))
	text := string(Render(s, Options{MaxTasks: 3}))
	for _, want := range []string{"\n  B:\n", "\n  U-0:\n", "\n  U-1:\n", "\ntasks_not_shown: 8\n", "MERGED: 1}\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if strings.Contains(text, "done:") || strings.Contains(text, "U-2:") {
		t.Errorf("it shows what has no place:\n%s", text)
	}
	if full := string(Render(s, Options{Full: true, MaxTasks: 3})); strings.Count(full, "    intent: ") != 12 {
		t.Errorf("a full view does not show all:\n%s", full)
	}
}

func TestDiff(t *testing.T) {
	s := twoTasks()
	s.seq = 1
	a := Render(s, Options{})
	if got := DiffYAML(a, a); got != "" {
		t.Errorf("a view differs from itself: %s", got)
	}
	s = s.clone()
	s.seq, s.tasks[1].Status = 2, blackboard.Unclaimed
	diff := DiffYAML(a, Render(s, Options{}))
	for _, want := range []string{"--- a/state.yaml\n+++ b/state.yaml\n@@ -", "\n-  log: {seq: 1, head: ", "\n+  log: {seq: 2, head: ", "\n-    status: BLOCKED\n+    status: UNCLAIMED\n"} {
		if !strings.Contains(diff, want) {
			t.Errorf("%q is missing in\n%s", want, diff)
		}
	}
	if strings.Contains(diff, "checksum") {
		t.Errorf("the diff shows checksums:\n%s", diff)
	}
}

// What a reviewer said of a coder's commit is on the board with who said it; of
// a commit that was submitted since nothing was said yet.
func TestTheVerdictOnACommitIsOnTheBoard(t *testing.T) {
	task := plainTask("C-1", blackboard.Approved)
	task.For, task.Fence, task.Agent, task.Goal = message.Coder, 1, "coder-1", "g"
	task.SuccessCriteria = []message.Criterion{{ID: "c", Criterion: "it builds", Required: true}}
	task.Review = blackboard.Review{Commit: "abc", JudgedBy: "code-reviewer-2", Verdict: &message.ReviewVerdict{ReviewCommit: "abc", Decision: message.Approved,
		Checks: []message.Verdict{{CriterionID: "c", Criterion: "it builds", Required: true, Verdict: message.Pass, Evidence: "exit 0", By: message.ByCode}}}}
	again := task
	again.Review.Commit = "def"
	render := func(t blackboard.Task) string {
		s := &fakeState{seq: 1, tasks: []blackboard.Task{t}, goals: []blackboard.Goal{{ID: "g", Status: blackboard.GoalOpen}}}
		return string(Render(s, Options{}))
	}
	if text := render(task); !strings.Contains(text, "verdict: approved by code-reviewer-2\n") || !strings.Contains(text, "exit 0") || strings.Contains(text, unseen) {
		t.Errorf("it does not say what was judged, and by whom:\n%s", text)
	}
	if text := render(again); strings.Contains(text, "verdict: ") || !strings.Contains(text, unseen) {
		t.Errorf("a new commit has the verdict of the old one:\n%s", text)
	}
	if sameToTheEye(&task, &again) {
		t.Error("both look the same")
	}
	other := task
	other.Review.JudgedBy = "code-reviewer-1"
	if sameToTheEye(&task, &other) {
		t.Error("who judged is not looked at")
	}
}
