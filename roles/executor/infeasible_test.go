package executor

import (
	"context"
	"encoding/json"
	"testing"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/act/check"
	"orch/roles/act/tool"
	"orch/roles/agentvalidator"
	"orch/roles/internal/steptest"
	"orch/roles/think"
)

// said is an attempt that calls a task infeasible after what it did.
func said(claim string, did func(context.Context, think.Tools) error) func(context.Context, think.ExecuteInput, think.Tools) (think.Execution, error) {
	return func(ctx context.Context, _ think.ExecuteInput, tools think.Tools) (think.Execution, error) {
		return think.Execution{Status: message.Completed, Infeasible: claim}, did(ctx, tools)
	}
}

func runs(command string) func(context.Context, think.Tools) error {
	return func(ctx context.Context, tools think.Tools) error {
		_, err := tools.Do(ctx, string(tool.Shell), steptest.Shell(command))
		return err
	}
}

func nothing(context.Context, think.Tools) error { return nil }

// An agent's own report of a call, and its run as a whole, are its words.
func observes(ctx context.Context, tools think.Tools) error {
	actor := tools.(think.Actor)
	_, err := actor.Act(ctx, "agent:x", json.RawMessage(`{}`), func(ctx context.Context) think.Acted {
		if err := actor.Observe(ctx, think.Observed{Tool: "Bash", Input: json.RawMessage(`{"command":"ls thing"}`), Command: "ls thing", Output: "no such thing here", Failed: true}); err != nil {
			return think.Acted{Failed: err.Error()}
		}
		return think.Acted{Exit: 1, Output: "bash: frob: command not found"}
	})
	return err
}

func TestInvariant_InfeasibleIsBelievedOnlyWithEvidence(t *testing.T) {
	results := map[string]tool.Result{
		"read gone": {Exit: 1, Output: []byte("cat: gone: No such file")},
		"read spec": {Output: []byte("The service was shut down in 2019.")},
		"curl it":   {Exit: -1, Denied: "[denied] curl is not allowed", Denial: &tool.Denial{Kind: tool.DeniedRepeat, Reason: "again"}},
	}
	for name, c := range map[string]struct {
		claim    string
		did      func(context.Context, think.Tools) error
		believed bool
	}{
		"without a call":              {"there is no such thing", nothing, false},
		"a call that shows nothing":   {"there is no such thing", runs("read x"), false},
		"a call that failed":          {"there is no such thing", runs("read gone"), true},
		"a call that was refused":     {"it may not be fetched", runs("curl it"), true},
		"a quote of an output":        {"the spec says: the service was shut down", runs("read spec"), true},
		"an output, and no quote":     {"it is not there any more", runs("read spec"), false},
		"calls an agent says it made": {"there is no such thing here", observes, false},
	} {
		for attempts := 1; attempts <= 2; attempts++ {
			w, _ := world(t)
			w.Box.Results = results
			w.Verdicts["check"] = check.Verdict{Class: check.Logical, Evidence: "exit 1"}
			if attempts == 2 {
				w.Work.Act = said("", nothing)
				if err := w.Next(message.Executor, Run); err != nil {
					t.Fatal(err)
				}
				if err := w.Next(message.AgentValidator, agentvalidator.Run); err != nil {
					t.Fatal(err)
				}
			}
			w.Work.Act = said(c.claim, c.did)
			if err := w.Next(message.Executor, Run); err != nil {
				t.Fatal(err)
			}
			if r := result(t, w); r.Status != message.Failed || (r.Infeasible != "") != c.believed {
				t.Errorf("%s, attempt %d: %+v", name, attempts, r)
			}
		}
	}
}

// What code ran in earlier attempts is on record: it need not run it again to
// say that nothing is left.
func TestAnExhaustedApproachIsBelievedAfterItRan(t *testing.T) {
	for n, want := range []bool{false, true} {
		a := attempt{task: blackboard.Task{Attempt: n}}
		if got := a.shown(think.Execution{Infeasible: "no further variant", Exhausted: true}, nil); got != want {
			t.Errorf("after %d attempts: %t", n, got)
		}
	}
}

// What an agent says went wrong is its word: its run alone, by its exit code,
// says whether the world was in the way.
func TestTheWordsOfAnAgentDoNotSayWhyItFailed(t *testing.T) {
	w, id := world(t)
	w.Work.Act = said("", observes)
	if err := w.Next(message.Executor, Run); err != nil {
		t.Fatal(err)
	}
	calls := w.Tasks(id)[0].FailedCalls
	if len(calls) != 1 || calls[0].Class != message.Logical || calls[0].Kind != "" {
		t.Errorf("failed calls %+v", calls)
	}
}
