package code

import (
	"fmt"
	"slices"
	"strings"

	"orch/blackboard"
	"orch/blackboard/message"
)

// minReasonWords keep a reason from being a shrug.
const minReasonWords = 3

// BlockProblem says why nobody could resolve a coder's block; empty if
// somebody might. What was attempted is recommended, not demanded.
func BlockProblem(b message.Blocked) string {
	if err := b.Validate(); err != nil {
		return err.Error()
	}
	if b.Kind != message.BlockedSpec && b.Kind != message.BlockedEnvironment {
		return fmt.Sprintf("kind %q is for code to say; a coder says %s or %s", b.Kind, message.BlockedSpec, message.BlockedEnvironment)
	}
	if why := shrug(b.BlockedReason); why != "" {
		return "blocked_reason " + why
	}
	var seen []string
	for _, q := range b.BlockedQuestions {
		key := strings.Join(words(q), " ")
		switch {
		case !strings.HasSuffix(strings.TrimSpace(q), "?"):
			return fmt.Sprintf("%q is no question: it does not end in a question mark", q)
		case len(words(q)) < minReasonWords || nothing(q):
			return fmt.Sprintf("%q is not specific: ask what would unblock you if it were answered", q)
		case slices.Contains(seen, key):
			return fmt.Sprintf("%q is asked twice", q)
		}
		seen = append(seen, key)
	}
	return ""
}

// shrugs are reasons that name no cause.
var shrugs = []string{"i am stuck", "it does not work", "it doesn t work", "not possible", "can not do it", "cannot do it", "can t do it", "too hard", "too difficult", "i do not know", "i don t know"}

// ReasonProblem says why a reason is none that a person could act on; empty if
// it is one.
func ReasonProblem(reason string) string { return shrug(reason) }

func shrug(reason string) string {
	w := words(reason)
	switch {
	case len(w) < minReasonWords || nothing(reason):
		return fmt.Sprintf("%q is not specific: name what is in the way", reason)
	case slices.Contains(shrugs, strings.Join(w, " ")):
		return fmt.Sprintf("%q names no cause", reason)
	}
	return ""
}

// RescopeProblem says why a rescope of a task leaves no trail that a person
// could follow; empty if it does. The reason has to name the root cause: it
// can not be a shrug, nor just say again that the task was blocked or failed.
func RescopeProblem(r message.Rescoped, t blackboard.Task) string {
	if err := r.Validate(); err != nil {
		return err.Error()
	}
	if why := shrug(r.RescopeReason); why != "" {
		return "rescope_reason " + why
	}
	if symptomOnly(r.RescopeReason) {
		return fmt.Sprintf("rescope_reason %q says that it failed, not why", r.RescopeReason)
	}
	if len(r.SupersededBy) == 0 {
		return "it names no replacement; a task that nothing replaces is abandoned"
	}
	if slices.Contains(r.SupersededBy, t.ID) {
		return "it replaces the task by itself"
	}
	return ""
}

// symptoms are the words that say that something went wrong, and not what.
var symptoms = strings.Fields("task was is has been blocked block failed failing fails failure twice two three times again coder coders could not by this the it reviewer rejected rejection rejections too many iterations limit reached stuck and on merge conflict conflicts integration")

func symptomOnly(reason string) bool {
	for _, w := range words(reason) {
		if !slices.Contains(symptoms, w) && !emptyWords()[w] {
			return false
		}
	}
	return true
}

// MustGiveUp tells whether a task was replaced so often that the controller is
// to decide and no further rescope: the planner abandons it.
func MustGiveUp(t blackboard.Task, maxRescopes int) bool { return t.Rescopes >= maxRescopes }
