package blackboard

import (
	"fmt"
	"iter"
	"strings"

	"orch/blackboard/message"
)

// Agent returns a registered agent.
func (s *State) Agent(id message.AgentID) (Agent, bool) {
	if a := s.agents.get(string(id)); a != nil {
		return *a, true
	}
	return Agent{}, false
}

// Agents lists the registered agents by id.
func (s *State) Agents() []Agent {
	var out []Agent
	for _, key := range s.agents.scan("agent.all", "") {
		if a := s.agents.get(key); a != nil {
			out = append(out, *a)
		}
	}
	return out
}

// NextAgent is the lowest <role>-<n> that is not registered, has no step that
// lives, and holds no task.
func (s *State) NextAgent(role message.Role) message.AgentID {
	for n := 1; ; n++ {
		id := message.AgentID(fmt.Sprintf("%s-%d", role, n))
		if s.AgentFree(id) {
			return id
		}
	}
}

// AgentFree tells whether nobody goes by the id: it is not registered, has no
// step that lives, and holds no task.
func (s *State) AgentFree(id message.AgentID) bool {
	return s.agents.get(string(id)) == nil && s.liveOf(id) == nil && !any2(s.tasks.scan("task.holder", string(id)+sep))
}

// liveOf is the activation an agent is at work on, or nil.
func (s *State) liveOf(id message.AgentID) *Activation {
	for _, key := range s.activations.scan("activation.agent", string(id)+sep) {
		return s.activations.get(key)
	}
	return nil
}

func any2(seq iter.Seq2[string, string]) bool {
	for range seq {
		return true
	}
	return false
}

func (k ActivationKey) key() string {
	return strings.Join([]string{string(k.Role), k.Subject, string(k.Cause)}, sep)
}

// Activation returns what is known of an activation.
func (s *State) Activation(k ActivationKey) (Activation, bool) {
	if a := s.activations.get(k.key()); a != nil {
		return *a, true
	}
	return Activation{}, false
}

// LiveActivations lists the steps that were started and have not ended, oldest first.
func (s *State) LiveActivations() []Activation {
	return s.activationsIn("activation.live", "")
}

// ActivationsOf lists the activations of a goal, oldest first. Those of a goal
// that ended are forgotten.
func (s *State) ActivationsOf(goal message.GoalID) []Activation {
	return s.activationsIn("activation.goal", string(goal)+sep)
}

func (s *State) activationsIn(index, prefix string) []Activation {
	var out []Activation
	for _, key := range s.activations.scan(index, prefix) {
		if a := s.activations.get(key); a != nil {
			out = append(out, *a)
		}
	}
	return out
}

// Approvals lists the permissions that were asked for, in order; Given is zero
// in those that wait for an answer.
func (s *State) Approvals() []Approval {
	var out []Approval
	for _, key := range s.approvals.scan("approval.all", "") {
		if a := s.approvals.get(key); a != nil {
			out = append(out, *a)
		}
	}
	return out
}

// Anomalies lists what roles reported, oldest first.
func (s *State) Anomalies() []AnomalyRecord {
	var out []AnomalyRecord
	for _, key := range s.anomalies.scan("anomaly.all", "") {
		if a := s.anomalies.get(key); a != nil {
			out = append(out, *a)
		}
	}
	return out
}
