package agent

import (
	"strings"

	"orch/blackboard/message"
	"orch/roles/think"
)

// reportMark stands before the agent's last words in a transcript.
const reportMark = "\n--- report ---\n"

// ranBefore tells whether the agent's run in this attempt is on record as
// completed, and returns what is kept of it. A run that failed is no result:
// the agent is told of it and goes on.
func ranBefore(done []think.Done, name string) (completed bool, whole string) {
	if len(done) == 0 {
		return false, ""
	}
	last := done[len(done)-1]
	return last.Tool == name && last.Exit == 0 && !last.Idempotent && !last.Doubt, last.Whole
}

// goOn makes the attempt of a run that completed before its report was said.
func (x *execution) goOn(whole string) think.Execution {
	_, text, kept := strings.Cut(whole, reportMark)
	if !kept {
		return think.Execution{Status: message.Failed, Class: message.Environmental, Reason: "the run of " + x.agent.Model() +
			" was completed, but its report is lost, so it was not made again. Done before: " + think.Effects(x.in.Done)}
	}
	return attemptOf(strings.TrimSuffix(text, "\n"))
}
