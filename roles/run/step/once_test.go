package step_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/act/check"
	"orch/roles/act/tool"
	"orch/roles/internal/steptest"
	"orch/roles/think"
	"orch/roles/think/model"
	"orch/roles/think/playbook"
	"orch/roles/think/thinker"
)

// payments are three calls that must not be made twice, behind and between
// calls that may.
var payments = []string{"read the bill", "pay 1", "pay 2", "read the account", "pay 3"}

// cashier makes the payments by a playbook.
func cashier(t *testing.T) (think.Executor, json.RawMessage) {
	t.Helper()
	lib, err := playbook.Load(fstest.MapFS{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := playbook.New(playbook.Options{Library: lib, Facts: func(string) playbook.Facts { return playbook.Workspace(t.TempDir(), nil) }})
	if err != nil {
		t.Fatal(err)
	}
	var steps []playbook.ActionStep
	for i, command := range payments {
		steps = append(steps, playbook.ActionStep{Name: fmt.Sprint("s", i), Tool: "shell", Input: steptest.Shell(command)})
	}
	action, err := json.Marshal(playbook.Action{Version: 1, Slot: "a", Approach: "try", Target: "t", Output: "all",
		Variants: []playbook.ActionVariant{{Name: "first", Steps: steps}}})
	if err != nil {
		t.Fatal(err)
	}
	return b, action
}

// clerk is a model that makes the payments one by one. A forgetful one begins
// with the first whatever it is told; another one reads what was done.
type clerk struct{ forgetful bool }

func (clerk) Model() string   { return "fake:clerk" }
func (clerk) Account() string { return "fake" }

func (c clerk) Complete(_ context.Context, req model.Request) (model.Response, error) {
	made := map[string]bool{}
	for i, turn := range req.Turns {
		for _, command := range payments {
			if i == 0 && !c.forgetful && strings.Contains(turn.Text, "`"+command+"`\n[exit") {
				made[command] = true
			}
			for _, call := range turn.Calls {
				made[command] = made[command] || string(call.Input) == string(steptest.Shell(command))
			}
		}
	}
	for _, command := range payments {
		if !made[command] {
			return model.Response{Stop: model.StopTools, Calls: []model.Call{{ID: command, Name: "shell", Input: steptest.Shell(command)}}}, nil
		}
	}
	return model.Response{Stop: model.StopEnd, Text: `{"status":"completed","output":"all paid"}`}, nil
}

// office is a world in which a task is done when every payment was made.
func office(t *testing.T, by string) (*steptest.World, message.GoalID) {
	t.Helper()
	w := steptest.New(t)
	task := steptest.Task("a", steptest.Checked("c1", "all paid"))
	playbook, action := cashier(t)
	var backend think.Executor = playbook
	if by != "playbook" {
		th, err := thinker.New(clerk{forgetful: by == "forgetful"}, thinker.Options{})
		if err != nil {
			t.Fatal(err)
		}
		backend, action = th, nil
	}
	task.Action = action
	w.Work.Act = backend.Execute
	return w, w.Dispatch(nil, task)
}

// paid counts the payments, and names those that a result says are in doubt.
func paid(w *steptest.World) (times map[string]int, inDoubt string) {
	times = map[string]int{}
	for _, command := range w.Box.Ran {
		times[command]++
	}
	for _, m := range w.Messages("ExecutionResult") {
		if r := m.Body.(message.ExecutionResult); r.CutOff {
			call, _, _ := strings.Cut(r.Reason, ":"+" an earlier try")
			inDoubt += call
		}
	}
	return times, inDoubt
}

// An executor that is killed before any of its messages, once or in each of
// its first tries, pays each bill exactly once; or the doubt is said, about
// that one bill.
func TestInvariant_APaymentOnRecordIsNeverMadeAgain(t *testing.T) {
	for _, by := range []string{"playbook", "model", "forgetful"} {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			for n := range 2*len(payments) + 2 {
				paysOnce(t, by, n, 1)
				paysOnce(t, by, n, 3)
			}
		})
	}
}

func paysOnce(t *testing.T, by string, n, deaths int) {
	t.Helper()
	w, id := office(t, by)
	killedBefore(t, w, n, deaths)
	times, inDoubt := paid(w)
	for _, command := range payments {
		if !strings.HasPrefix(command, "pay") {
			continue
		}
		if made := times[command]; made == 0 || made > 1 && !strings.Contains(inDoubt, command) {
			t.Errorf("%d deaths before message %d: %q was made %d times; in doubt: %q", deaths, n+1, command, made, inDoubt)
		}
	}
	if task := w.Tasks(id)[0]; task.Status != blackboard.Approved {
		t.Errorf("%d deaths before message %d: the task is %s", deaths, n+1, task.Status)
	}
}

// killedBefore lets the first executors die before their n-th message, and
// the rest go on until nothing is due.
func killedBefore(t *testing.T, w *steptest.World, n, deaths int) {
	t.Helper()
	for range 60 {
		w.Tidy(steptest.Nobody)
		due := w.Due()
		if len(due) == 0 || due[0].Key.Role != message.Executor && due[0].Key.Role != message.AgentValidator {
			return
		}
		w.Verdicts["all paid"] = check.Verdict{Pass: slices.Contains(w.Box.Ran, "pay 3"), Class: check.Logical, Evidence: "the last payment"}
		a := due[0]
		if deaths > 0 && a.Key.Role == message.Executor {
			deaths--
			e := w.Claim(a)
			e.Board = dying{e.Board, new(int), n}
			if err := runners[a.Key.Role](context.Background(), e); err != nil && !errors.Is(err, errDied) {
				t.Fatal(err)
			}
			continue
		}
		if err := w.Do(a, runners[a.Key.Role]); err != nil {
			t.Fatal(err)
		}
	}
}

// What is on record is evidence of the attempt that goes on behind it.
func TestTheRecordIsEvidence(t *testing.T) {
	w, _ := office(t, "playbook")
	w.Box.Results = map[string]tool.Result{"pay 1": {Output: []byte(strings.Repeat("x", 300) + "receipt 1")}}
	killedBefore(t, w, 4, 1)
	results := w.Messages("ExecutionResult")
	last := results[len(results)-1].Body.(message.ExecutionResult)
	if len(last.Calls) != len(payments) || !strings.Contains(last.Output, "receipt 1") {
		t.Errorf("%+v", last)
	}
}
