package ggs

import (
	"slices"
	"sync"

	"orch/blackboard/message"
	"orch/roles/think/agent/cli"
	"orch/roles/think/choose"
)

// suspect is a task a round has to change, with the criteria that accuse it.
type suspect struct {
	message.SubTaskOutcome
	criteria []criterion
	byGoal   bool // it matched, but a criterion of the goal failed
}

// suspects are the tasks of a round that failed, in plan order. When every task
// matched and a criterion of the goal failed, nothing tells which of them is to
// blame: all are, and the goal's criteria stand in for their own.
func (s sensed) suspects() []suspect {
	var out []suspect
	for _, o := range s.outcomes {
		if o.Status == message.Failed {
			out = append(out, suspect{SubTaskOutcome: o, criteria: criteriaOf(o)})
		}
	}
	goal := goalCriteria(s.ofGoal())
	if s.gated() || share(goal) == 0 {
		return out
	}
	for _, o := range s.outcomes {
		if o.Status == message.Matched {
			out = append(out, suspect{SubTaskOutcome: o, criteria: goal, byGoal: true})
		}
	}
	return out
}

// slot follows a task over replans. A task without one can't be followed.
func slotOf(o message.SubTaskOutcome) string {
	if o.Slot != "" {
		return o.Slot
	}
	return "task/" + string(o.SubtaskID)
}

func pairOf(o message.SubTaskOutcome) message.Pair {
	return message.Pair{Tool: o.Approach, Target: o.Target}
}

// wholeBackends are labels that name everything a backend can do: its kind, or
// an agent program that is known. Blocking one would leave nothing to work with,
// so they are never blocked.
var wholeBackends = sync.OnceValue(func() []string {
	kinds := []string{"", "shell", "agent", choose.Playbook, choose.OpenAI, choose.Anthropic, choose.Exec, choose.ACP}
	return append(kinds, cli.Names()...)
})

func blockable(approach string) bool { return !slices.Contains(wholeBackends(), approach) }

// failedPairs are the inputs that failed: those of the failed calls, or what the
// task as a whole acted on when no call did.
func (s suspect) failedPairs() []message.Pair {
	var out []message.Pair
	for _, c := range s.FailedCalls {
		if c.Pair.Target == "" {
			continue
		}
		if c.Pair.Tool == "" {
			c.Pair.Tool = s.Approach
		}
		out = addNew(out, c.Pair)
	}
	if len(out) == 0 && s.Target != "" {
		out = append(out, pairOf(s.SubTaskOutcome))
	}
	return out
}

// logical tells whether any of its failures is a wrong approach.
func (s suspect) logical() bool {
	n, _ := implausible(s.criteria)
	return n > 0
}

func addNew[T comparable](list []T, more ...T) []T {
	for _, v := range more {
		if !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	return list
}

func without[T comparable](list []T, gone ...T) []T {
	out := make([]T, 0, len(list))
	for _, v := range list {
		if !slices.Contains(gone, v) {
			out = append(out, v)
		}
	}
	return out
}

func targetsOf(pairs []message.Pair) []string {
	var out []string
	for _, p := range pairs {
		out = addNew(out, p.Target)
	}
	return out
}
