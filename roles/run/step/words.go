package step

import (
	"strings"

	"orch/blackboard"
	"orch/blackboard/message"
)

// Values are what a role is told of the person: what they said to it about the
// goal, word for word, and what they value.
func Values(values string, g blackboard.Goal, role message.Role) string {
	said := g.SaidTo(role)
	if len(said) == 0 {
		return values
	}
	return strings.TrimRight("The person said about this goal:\n\n"+strings.Join(said, "\n\n")+"\n\n"+values, "\n") + "\n"
}
