package main

import (
	"fmt"

	"orch/blackboard"
	"orch/roles/run/supervisor"
)

// asks tells whether questions can be put to a person at this terminal.
func (a *app) asks() bool { return !a.asJSON && terminal(a.in) }

func hasQuestion(g blackboard.Goal) bool {
	return g.Suspended != nil && g.Suspended.Why == blackboard.WhyClarification
}

// waitsFor says what a goal waits for and which command answers it.
func waitsFor(g blackboard.Goal) (what, next string) {
	if g.Suspended == nil {
		return "the board is held by a checkpoint", "orch resume"
	}
	return g.Suspended.Why + ": " + g.Suspended.Detail, g.Suspended.Command
}

// stay lets a run wait, and says for what. Only a question that can be put here
// ends it, so that it is.
func (a *app) stay(s *screen) func(supervisor.Wait) bool {
	return func(w supervisor.Wait) bool {
		if a.asks() && hasQuestion(w.Goal) || w.Goal.Suspended != nil && w.Goal.Suspended.Why == blackboard.WhyOutage {
			return false // to wait longer for a provider than it did is for a new run
		}
		if err := a.sayWait(s, w); err != nil {
			a.warn(fmt.Errorf("say what the goal waits for: %w", err))
		}
		return true
	}
}

func (a *app) sayWait(s *screen, w supervisor.Wait) error {
	what, next := waitsFor(w.Goal)
	return s.after(w.Seq, map[string]any{"version": 1, "type": "RunWaiting", "goal": w.Goal.ID, "suspended": w.Goal.Suspended, "brakes": w.Brakes},
		"waiting     "+what, "            next: "+next, "            the run goes on by itself after that; Ctrl-C ends it")
}
