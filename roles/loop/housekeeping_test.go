package loop

import (
	"fmt"
	"strings"
	"testing"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/act/process"
)

var (
	deadHolder = message.Process{PID: 10, Boot: "boot"}
	deadStep   = message.Process{PID: 11, Boot: "boot"}
	living     = message.Process{PID: 12, Boot: "boot"}
)

func alive(p message.Process) bool { return p == living }

// looking always can tell.
func looking(alive func(message.Process) bool) Look {
	return func(p message.Process) process.Liveness {
		if alive(p) {
			return process.Living
		}
		return process.Dead
	}
}

// chores renders what is to be appended at a moment.
func chores(t *testing.T, b *board, p Policy, atMS, awakeMS int64) string {
	t.Helper()
	var out []string
	for _, m := range Housekeeping(b, p, looking(alive), after(atMS), awakeMS) {
		if err := message.Route(m.Type(), message.DoorProcess, m.From, m.To); err != nil {
			t.Errorf("nobody may say that: %v", err)
		}
		out = append(out, fmt.Sprintf("%s/%s", m.Type(), m.Subject))
	}
	return strings.Join(out, " ")
}

func running(role message.Role, subject string, holder message.Process) blackboard.Activation {
	return blackboard.Activation{
		ActivationKey: blackboard.ActivationKey{Role: role, Subject: subject, Cause: "c"}, Goal: "g",
		Agent: message.AgentID(role) + "-1", Holder: holder, Started: ref("started", 20),
	}
}

func TestHousekeepingClosesOnlyWhatIsDead(t *testing.T) {
	held := task("a", blackboard.Claimed)
	held.Agent, held.Fence, held.Lease = "executor-1", 3, message.Lease{Boot: "boot", AwakeMS: 9_000}
	registered := func(p message.Process, seq uint64) []blackboard.Agent {
		return []blackboard.Agent{{ID: "executor-1", Process: p, Since: ref("r", seq)}}
	}
	stepped := held
	stepped.Step = deadStep
	draft := task("d", blackboard.Draft)
	byHand := task("h", blackboard.Draft)
	byHand.PlanID = ""
	for name, c := range map[string]struct {
		b    board
		want string
	}{
		"supervisor and step dead": {
			board{activations: []blackboard.Activation{running(message.Executor, "a", deadHolder)}, tasks: []blackboard.Task{held}},
			"LeaseLapsed/a StepEnded/a",
		},
		"supervisor alive": {
			board{activations: []blackboard.Activation{running(message.Executor, "a", living)}, tasks: []blackboard.Task{held}}, "",
		},
		"supervisor dead, step alive": {
			board{activations: []blackboard.Activation{running(message.Executor, "a", deadHolder)}, tasks: []blackboard.Task{held}, agents: registered(living, 21)}, "",
		},
		"an older process with the agent's name does not count": {
			board{activations: []blackboard.Activation{running(message.Executor, "a", deadHolder)}, tasks: []blackboard.Task{held}, agents: registered(living, 19)},
			"LeaseLapsed/a StepEnded/a",
		},
		"both registered and dead": {
			board{activations: []blackboard.Activation{running(message.Executor, "a", deadHolder)}, tasks: []blackboard.Task{stepped}, agents: registered(deadStep, 21)},
			"LeaseLapsed/a StepEnded/a Deregistered/executor-1",
		},
		"a claim whose step was closed before": {board{tasks: []blackboard.Task{stepped}}, "LeaseLapsed/a"},
		"a claim of a task that its agent's step is not about": {
			board{activations: []blackboard.Activation{running(message.Executor, "b", living)}, tasks: []blackboard.Task{stepped}}, "LeaseLapsed/a",
		},
		"a claim by hand":          {board{tasks: []blackboard.Task{held}}, ""},
		"drafts of a dead planner": {board{tasks: []blackboard.Task{draft, byHand}}, "DraftVoided/d"},
		"drafts of a planner found dead now": {
			board{activations: []blackboard.Activation{running(message.Planner, "g", deadHolder)}, tasks: []blackboard.Task{draft}},
			"StepEnded/g DraftVoided/d",
		},
		"drafts of a living planner": {
			board{activations: []blackboard.Activation{running(message.Planner, "g", living)}, tasks: []blackboard.Task{draft}}, "",
		},
		"a person's terminal has no process": {board{agents: []blackboard.Agent{{ID: "human-1"}}}, ""},
	} {
		if got := chores(t, &c.b, testPolicy, 5_000, 8_999); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A laptop asleep for an hour: the wall clock jumps, awake time does not.
func TestSleepTakesNothing(t *testing.T) {
	held := task("a", blackboard.Claimed)
	held.Agent, held.Lease = "coder-1", message.Lease{Boot: "boot", AwakeMS: 9_000, ExpiresAt: after(4_000)}
	b := &board{tasks: []blackboard.Task{held}}
	if got := chores(t, b, testPolicy, 3_600_000, 8_999); got != "" {
		t.Errorf("an hour of sleep took %q", got)
	}
	if got := chores(t, b, testPolicy, 5_000, 9_000); got != "LeaseLapsed/a" {
		t.Errorf("a spent lease: %q", got)
	}
	rebooted := testPolicy
	rebooted.Boot = "another"
	if got := chores(t, b, rebooted, 3_999, 99_000); got != "" {
		t.Errorf("after a reboot the wall clock decides: %q", got)
	}
	if got := chores(t, b, rebooted, 4_000, 0); got != "LeaseLapsed/a" {
		t.Errorf("after a reboot and the lease: %q", got)
	}
}

func TestALivingProcessKeepsItsTaskBeyondItsLease(t *testing.T) {
	held := task("a", blackboard.Claimed)
	held.Agent, held.Step, held.Lease = "executor-1", living, message.Lease{Boot: "boot", AwakeMS: 1}
	b := &board{tasks: []blackboard.Task{held}}
	if got := chores(t, b, testPolicy, 3_600_000, 3_600_000); got != "" {
		t.Errorf("taken from a living process: %q", got)
	}
}

func TestSilentMemoryIsTimedOut(t *testing.T) {
	g := perceived()
	g.Calibration = blackboard.Calibration{Cause: "spec", Query: &message.MemoryQuery{}, Asked: ref("asked", 3)}
	b := &board{goals: []blackboard.Goal{g}}
	if got := chores(t, b, testPolicy, 1_999, 0); got != "" {
		t.Errorf("too early: %q", got)
	}
	if got := chores(t, b, testPolicy, 2_000, 0); got != "MemoryTimeout/g" {
		t.Errorf("after 2 s: %q", got)
	}
	alone := testPolicy
	alone.MemoryResident = false
	msgs := Housekeeping(b, alone, looking(alive), t0, 0)
	if len(msgs) != 1 || !strings.Contains(msgs[0].Body.(message.MemoryTimeout).Reason, "no memory resident") {
		t.Errorf("without a memory the planner waits: %v", msgs)
	}
}

func TestUnattendedQuestionsAreAnsweredEmpty(t *testing.T) {
	g := blackboard.Goal{
		ID: "g", Status: blackboard.GoalSuspended, Suspended: &blackboard.Suspension{Why: blackboard.WhyClarification},
		Clarify: blackboard.Clarification{Round: 1, Questions: []string{"which?"}, Asked: ref("q", 2)},
	}
	b := &board{goals: []blackboard.Goal{g}}
	if got := chores(t, b, testPolicy, 0, 0); got != "" {
		t.Errorf("somebody is there, and is not asked: %q", got)
	}
	alone := testPolicy
	alone.Terminal = false
	if got := chores(t, b, alone, 0, 0); got != "ClarificationAnswer/g" {
		t.Errorf("nobody is there: %q", got)
	}
	b.goals[0].Suspended.Why = blackboard.WhyCheckpoint
	if got := chores(t, b, alone, 0, 0); got != "" {
		t.Errorf("another suspension was lifted: %q", got)
	}
}

func TestCapSuspendsOnceNothingRuns(t *testing.T) {
	g := perceived()
	g.Cost = 1
	p := testPolicy
	p.Caps.Goal = 1
	b := &board{goals: []blackboard.Goal{g}}
	if got := chores(t, b, p, 0, 0); got != "BudgetReached/g" {
		t.Errorf("at the cap: %q", got)
	}
	b.goals[0].Running = 1
	if got := chores(t, b, p, 0, 0); got != "" {
		t.Errorf("while a step runs: %q", got)
	}
	b.goals[0].Running, b.goals[0].PlanCause = 0, blackboard.Ref{}
	if got := chores(t, b, p, 0, 0); got != "" {
		t.Errorf("while only the controller, which is free, has to speak: %q", got)
	}
}

func TestAStepThatFailsTooOftenIsShown(t *testing.T) {
	key := blackboard.ActivationKey{Role: message.Planner, Subject: "g", Cause: "spec"}
	for name, c := range map[string]struct {
		last blackboard.Activation
		want string
	}{
		"twice":              {was(key, message.EndCrash, 2, 0), ""},
		"three times":        {was(key, message.EndCrash, 3, 0), "CheckpointReached/g"},
		"killed for ever":    {was(key, message.EndKilled, 0, 5), "CheckpointReached/g"},
		"done and no effect": {was(key, message.EndDone, 0, 0), "CheckpointReached/g"},
	} {
		c.last.Detail = "openai:m: unreachable"
		b := &board{goals: []blackboard.Goal{perceived()}, activations: []blackboard.Activation{c.last}}
		if got := chores(t, b, testPolicy, 0, 0); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		for _, m := range Housekeeping(b, testPolicy, looking(alive), t0, 0) {
			body := m.Body.(message.CheckpointReached)
			if !strings.Contains(body.Reason, "orch goals retry g") || !strings.Contains(body.Reason, c.last.Detail) || m.Goal != "g" {
				t.Errorf("%s: %+v does not say what to do", name, m)
			}
		}
	}
}

// Who can not be looked at keeps what it holds until its lease has run out:
// that of the claim for a task, that of the registration for a step, and for a
// step that has not registered yet the one it would have got.
func TestInvariant_UnknownIsNotDead(t *testing.T) {
	unknown := func(message.Process) process.Liveness { return process.Unknown }
	held := task("a", blackboard.Claimed)
	held.Agent, held.Fence, held.Step = "executor-1", 3, living
	held.Lease = message.Lease{Boot: "boot", AwakeMS: 9_000}
	agents := []blackboard.Agent{{ID: "executor-1", Process: living, Since: ref("r", 21), Lease: message.Lease{Boot: "boot", AwakeMS: 5_000}}}
	p := testPolicy
	p.LeaseMS = 60_000
	for name, c := range map[string]struct {
		b       board
		atMS    int64
		awakeMS int64
		want    string
	}{
		"a step within its registration":  {board{activations: []blackboard.Activation{running(message.Executor, "a", deadHolder)}, tasks: []blackboard.Task{held}, agents: agents}, 0, 4_999, ""},
		"a step past its registration":    {board{activations: []blackboard.Activation{running(message.Executor, "a", deadHolder)}, tasks: []blackboard.Task{held}, agents: agents}, 0, 5_000, "StepEnded Deregistered"},
		"and past its claim":              {board{activations: []blackboard.Activation{running(message.Executor, "a", deadHolder)}, tasks: []blackboard.Task{held}, agents: agents}, 0, 9_000, "LeaseLapsed StepEnded Deregistered"},
		"a step that has not registered":  {board{activations: []blackboard.Activation{running(message.Planner, "g", deadHolder)}}, 59_000, 0, ""},
		"and does not within a lease":     {board{activations: []blackboard.Activation{running(message.Planner, "g", deadHolder)}}, 61_000, 0, "StepEnded"},
		"a claim whose step is closed":    {board{tasks: []blackboard.Task{held}}, 0, 8_999, ""},
		"a claim whose lease has run out": {board{tasks: []blackboard.Task{held}}, 0, 9_000, "LeaseLapsed"},
	} {
		var said []string
		for _, m := range Housekeeping(&c.b, p, unknown, after(c.atMS), c.awakeMS) {
			said = append(said, string(m.Type()))
		}
		if got := strings.Join(said, " "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A claim by hand has no living holder, whatever runs under the same name.
func TestAClaimByHandEndsWithItsLease(t *testing.T) {
	held := task("a", blackboard.Claimed)
	held.Agent, held.Fence, held.ByHand = "executor-1", 3, true
	held.Lease = message.Lease{Boot: "boot", AwakeMS: 9_000}
	b := board{tasks: []blackboard.Task{held}, agents: []blackboard.Agent{{ID: "executor-1", Process: living}},
		activations: []blackboard.Activation{running(message.Executor, "a", living)}}
	for awakeMS, want := range map[int64]string{8_999: "", 9_000: "LeaseLapsed/a"} {
		if got := chores(t, &b, testPolicy, 0, awakeMS); got != want {
			t.Errorf("after %d ms: %q, want %q", awakeMS, got, want)
		}
	}
}
