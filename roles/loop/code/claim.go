package code

import (
	"fmt"

	"orch/blackboard/message"
)

// minBackoffMS is the shortest wait after a lost claim.
const minBackoffMS = 1_000

// ClaimLost says what to do after a claim was lost to somebody else for the
// nth time in a row: wait and try again, or give up and let a person look.
// random returns a number in [0, n).
func ClaimLost(n, tries int, maxMS int64, random func(n int64) int64) (waitMS int64, again bool) {
	if n >= tries {
		return 0, false
	}
	return minBackoffMS + random(max(maxMS-minBackoffMS, 0)+1), true
}

// ClaimFailed is the record of a lost claim.
func ClaimFailed(task message.TaskID, agent message.AgentID, n int, why string) message.Anomaly {
	return message.Anomaly{Task: task, Kind: message.ClaimFailed, Details: map[string]string{
		"what": fmt.Sprintf("%s lost the claim for the %d. time: %s", agent, n, why),
	}}
}

// SpecChangedAnomaly is what code logs about a task whose spec is no longer
// what it was claimed with.
func SpecChangedAnomaly(task message.TaskID, spec, fromHash, toHash string) message.Anomaly {
	return message.Anomaly{Task: task, Kind: message.SpecHasChanged, Details: map[string]string{
		"what": fmt.Sprintf("%s changed since the task was claimed, from %.12s to %.12s", spec, fromHash, toHash),
	}}
}
