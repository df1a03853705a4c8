package blackboard

import (
	"testing"
	"time"

	"orch/blackboard/message"
)

// planners starts and ends steps of one goal, each with a cause of its own.
type planners struct{ *script }

func (p planners) start(agent message.AgentID, cause message.ID) {
	p.t.Helper()
	p.say(message.StepStarting{Role: message.Planner, Subject: "g", Cause: cause, Agent: agent, Try: 1}, inGoal("g"))
}

func (p planners) end(agent message.AgentID, cause message.ID, class string, awake time.Duration) {
	p.t.Helper()
	p.say(message.StepEnded{
		Role: message.Planner, Subject: "g", Cause: cause, Agent: agent, Class: class, DurationMS: awake.Milliseconds(),
	}, inGoal("g"))
}

func TestActiveTimeCountsTheWholeOfASilentStep(t *testing.T) {
	for _, c := range []struct {
		name  string
		gap   time.Duration // from the step's start to its end, on the clock
		awake time.Duration // how long its process says it ran
		class string
		want  time.Duration
	}{
		{"a test run of seven minutes that prints nothing", 7 * time.Minute, 7 * time.Minute, message.EndDone, 7 * time.Minute},
		{"asleep for most of an hour", time.Hour, 2 * time.Minute, message.EndDone, 2 * time.Minute},
		{"killed after ten minutes", 10 * time.Minute, 10 * time.Minute, message.EndKilled, 10 * time.Minute},
		{"found dead the next morning", 8 * time.Hour, 8 * time.Hour, message.EndLost, ActiveGapMS * time.Millisecond},
		{"it says it ran longer than the clock", time.Minute, time.Hour, message.EndDone, time.Minute},
		{"it says nonsense", time.Minute, -time.Hour, message.EndDone, ActiveGapMS * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := planners{newScript(t)}
			p.perceived("g")
			p.start("planner-1", "m1")
			p.after(c.gap)
			p.end("planner-1", "m1", c.class, c.awake)
			if got := time.Duration(p.goal("g").ActiveMS) * time.Millisecond; got != c.want {
				t.Errorf("%s count, want %s", got, c.want)
			}
		})
	}
}

// TestActiveTimeOfStepsSideBySideCountsOnce has two steps of ten minutes of
// which the second starts when the first has run for four, and a pause after.
func TestActiveTimeOfStepsSideBySideCountsOnce(t *testing.T) {
	p := planners{newScript(t)}
	p.perceived("g")
	p.start("planner-1", "m1")
	p.after(4 * time.Minute)
	p.start("planner-2", "m2")
	p.after(6 * time.Minute)
	p.end("planner-1", "m1", message.EndDone, 10*time.Minute)
	p.after(4 * time.Minute)
	p.end("planner-2", "m2", message.EndDone, 10*time.Minute)
	if got := p.goal("g").ActiveMS; got != (14 * time.Minute).Milliseconds() {
		t.Errorf("%d ms count, want 14 min", got)
	}
	p.after(time.Hour) // nothing runs
	p.start("planner-1", "m3")
	p.after(time.Minute)
	p.end("planner-1", "m3", message.EndDone, time.Minute)
	if got := p.goal("g").ActiveMS; got != (15 * time.Minute).Milliseconds() {
		t.Errorf("%d ms count, want 15 min", got)
	}
}

// What a step did before its provider failed was work, and what it waited for
// after that was none; so does a step count that starts when another one ends.
func TestWorkBeforeAnOutageCounts(t *testing.T) {
	p := planners{newScript(t)}
	p.perceived("g")
	p.start("planner-1", "m1")
	p.after(time.Minute)
	p.end("planner-1", "m1", message.EndDone, time.Minute)
	p.start("planner-1", "m2")
	p.after(25 * time.Minute)
	p.say(message.MemoryQuery{Space: "intent:x", Entity: "env:local"}, inGoal("g"), about("g"), as("planner-1"), because("m2"))
	p.after(5 * time.Minute) // nobody answers
	p.end("planner-1", "m2", message.EndOutage, 30*time.Minute)
	if got := p.goal("g").ActiveMS; got != (26 * time.Minute).Milliseconds() {
		t.Errorf("%d ms count, want 26 min", got)
	}
	p.say(message.StepStarting{Role: message.Planner, Subject: "g", Cause: "m2", Agent: "planner-1", Try: 2}, inGoal("g"))
	p.after(5 * time.Minute)
	p.end("planner-1", "m2", message.EndOutage, 5*time.Minute)
	if got := p.goal("g").ActiveMS; got != (26 * time.Minute).Milliseconds() {
		t.Errorf("after a try that only waited %d ms count, want 26 min", got)
	}
}
