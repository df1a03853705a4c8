package step

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/act/tool"
	"orch/roles/act/tool/gate"
)

// doubts are the calls of a goal of which nobody knows whether they took
// effect, with what a person said of them.
type doubts struct {
	all      []blackboard.Doubt
	answered map[message.CallID]bool // whether a person lets it be made again; of those that were answered
}

// HeldBackError ends an attempt at a call that may have been made before. What
// comes behind it waits as well, until a person has said what becomes of it.
type HeldBackError struct{ Why string }

func (e *HeldBackError) Error() string { return e.Why }

// leftAlone is the output of a call in doubt that is not to be made again.
const leftAlone = "[nobody knows whether this call took effect; a person said that it is not to be made again]"

// readDoubts reads the calls in doubt of the goal, and the answers.
func (d *doubts) read(s *blackboard.State, goal message.GoalID) {
	g, _ := s.Goal(goal)
	d.all, d.answered = g.Doubts, map[message.CallID]bool{}
	asked := map[string]blackboard.Approval{}
	for _, a := range s.Approvals() {
		if a.Goal == goal && a.Given.Seq != 0 {
			asked[a.Request] = a
		}
	}
	for i, one := range d.all {
		id := again(d.all[:i+1]).ID
		for request, a := range asked {
			if request == id || strings.HasPrefix(request, id+"-") {
				d.answered[one.Call] = a.Allowed
			}
		}
	}
}

// leftAlone tells whether a person said of a call that it is not to be made again.
func (d *doubts) leftAlone(tool string, input json.RawMessage) bool {
	for _, one := range slices.Backward(d.all) {
		if actOf(one.Tool, one.In) == actOf(tool, input) {
			allowed, answered := d.answered[one.Call]
			return answered && !allowed
		}
	}
	return false
}

// again is the rule that lets the last of some calls in doubt be made again.
// Each doubt needs a yes of its own: one about a payment is none about the next.
func again(all []blackboard.Doubt) gate.Rule {
	last := all[len(all)-1]
	return gate.ExactRule(gate.Again, nameOf(last, timesIn(all, last.Tool, last.In)))
}

func timesIn(all []blackboard.Doubt, tool string, input json.RawMessage) (n int) {
	for _, d := range all {
		if actOf(d.Tool, d.In) == actOf(tool, input) {
			n++
		}
	}
	return n
}

// actOf is what a call does, whatever else its input says: of a command its words
// and where it runs. Two calls that may do the same have one: a person is rather
// asked once too often.
func actOf(tool string, input json.RawMessage) string {
	var in struct{ Command, Dir string }
	if json.Unmarshal(input, &in) == nil && in.Command != "" {
		return fmt.Sprintf("%q", []string{tool, strings.Join(strings.Fields(in.Command), " "), filepath.Clean(in.Dir)})
	}
	return fmt.Sprintf("%q", []string{tool, string(canonical(input))})
}

// nameOf is the n-th doubt about a call, as a person reads it and answers it. A
// plain command in the project's directory is its own name. Any other name ends
// with a hash of what it stands for, so that a yes to one call is none to another.
func nameOf(d blackboard.Doubt, n int) string {
	act, name := actOf(d.Tool, d.In), strings.Trim(message.CallName(d.Tool, d.In), "`")
	plain := fmt.Sprintf("%q", []string{string(tool.Shell), name, "."})
	if n == 1 && act == plain && !strings.HasSuffix(name, ")") {
		return shortName(name)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", act, n))
	return fmt.Sprintf("%s (time %d, call %x)", shortName(name), n, sum[:8])
}

// madeMaybe refuses a call that was started before in this goal and whose end
// nobody knows, unless a person lets it be made again.
func (j *Journalled) madeMaybe(s message.ToolStarted) *tool.Denial {
	if s.Idempotent {
		return nil
	}
	input := j.clean(s.Input)
	n := timesIn(j.doubts.all, s.Tool, input)
	if n == 0 {
		return nil
	}
	name := nameOf(blackboard.Doubt{Tool: s.Tool, In: input}, n)
	d := j.env.Box.Permit(gate.Again, name, fmt.Sprintf("whether %s took effect is unknown: a try died while it ran. allow: it is made again; deny: it is left as it is, and the work goes on behind it", name))
	switch {
	case d == nil || d.Kind != tool.DeniedGate:
		return d
	case j.doubts.leftAlone(s.Tool, input):
		return &tool.Denial{Kind: tool.DeniedRule, Reason: fmt.Sprintf("whether %s took effect is unknown, and a person said that it is not to be made again", name), Hint: "go on behind it"}
	}
	d.Hint = fmt.Sprintf("a person looks whether it took effect, then: orch allow %s, or: orch deny %[1]s", d.Needs.ID)
	return d
}

// clean is an input as the log has it.
func (j *Journalled) clean(input json.RawMessage) json.RawMessage {
	if j.env.Redact == nil {
		return input
	}
	return blackboard.RedactJSON(input, j.env.Redact)
}
