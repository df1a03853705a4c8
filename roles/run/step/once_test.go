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

// An executor that is killed before any of its messages, once or in each of
// its first tries, pays each bill exactly once. Where nobody can know whether a
// bill was paid, a person is asked about that one and nothing is paid meanwhile;
// the person looks, and says the truth.
func TestInvariant_APaymentOnRecordIsNeverMadeAgain(t *testing.T) {
	for _, by := range []string{"playbook", "model", "forgetful"} {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			for n := range 2*len(payments) + 2 {
				for _, deaths := range []int{1, 3} {
					paysOnce(t, by, n, deaths, false)
					paysOnce(t, by, n, deaths, true)
				}
			}
		})
	}
}

func paysOnce(t *testing.T, by string, n, deaths int, lost bool) {
	t.Helper()
	w, id := office(t, by)
	killedBefore(t, w, n, deaths, lost)
	times := map[string]int{}
	for _, command := range w.Box.Ran {
		times[command]++
	}
	for _, command := range payments {
		if made := times[command]; made != 1 && strings.HasPrefix(command, "pay") {
			t.Errorf("%d deaths before message %d, lost %t: %q was made %d times", deaths, n+1, lost, command, made)
		}
	}
	if task := w.Tasks(id)[0]; task.Status != blackboard.Approved {
		t.Errorf("%d deaths before message %d, lost %t: the task is %s", deaths, n+1, lost, task.Status)
	}
}

// answer lets a person answer what is asked: a payment that was made is left
// alone, another one is made again.
func answer(t *testing.T, w *steptest.World) {
	t.Helper()
	var asked []blackboard.Approval
	w.View(func(s *blackboard.State) { asked = s.Approvals() })
	for _, a := range asked {
		if a.Given.Seq != 0 {
			continue
		}
		command := steptest.Command(tool.Call{Input: a.Input})
		if !strings.HasPrefix(command, "pay") || !strings.Contains(a.Reason, command+" ") {
			t.Errorf("a person is asked about %q: %s", command, a.Reason)
		}
		again := !slices.Contains(w.Box.Ran, command)
		w.Say("human-1", a.Goal, a.Asked.ID, message.ApprovalGiven{Request: a.Request, Allowed: again, Rule: a.Rule})
		if again {
			w.Box.Rules = append(w.Box.Rules, a.Request)
		}
	}
}

// killedBefore lets the first executors die before their n-th message, and
// the rest go on until nothing is due. What is lost had no effect although it
// was started.
func killedBefore(t *testing.T, w *steptest.World, n, deaths int, lost bool) {
	t.Helper()
	for range 60 {
		answer(t, w)
		w.Tidy(steptest.Nobody)
		due := w.Due()
		if len(due) == 0 || due[0].Key.Role != message.Executor && due[0].Key.Role != message.AgentValidator {
			return
		}
		w.Verdicts["all paid"] = check.Verdict{Pass: slices.Contains(w.Box.Ran, "pay 3"), Class: check.Logical, Evidence: "the last payment"}
		a := due[0]
		if deaths > 0 && a.Key.Role == message.Executor {
			deaths--
			ran := len(w.Box.Ran)
			e := w.Claim(a)
			e.Board = dying{e.Board, new(int), n}
			if err := runners[a.Key.Role](context.Background(), e); err != nil && !errors.Is(err, errDied) {
				t.Fatal(err)
			}
			if open := w.Tasks(a.Goal)[0].OpenCall; lost && open != nil && len(w.Box.Ran) > ran {
				w.Box.Ran = w.Box.Ran[:len(w.Box.Ran)-1]
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
	killedBefore(t, w, 5, 1, false)
	results := w.Messages("ExecutionResult")
	last := results[len(results)-1].Body.(message.ExecutionResult)
	if len(last.Calls) != len(payments) || !strings.Contains(last.Output, "receipt 1") {
		t.Errorf("%+v", last)
	}
}
