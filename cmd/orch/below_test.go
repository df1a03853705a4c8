package main

import (
	"testing"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/act/process"
)

// TestOnlyTheCommandsOfABoardAreRefused has who may write to a board that a
// process is registered on, by what lies above it.
func TestOnlyTheCommandsOfABoardAreRefused(t *testing.T) {
	t.Parallel()
	here := process.Identity{PID: 7, StartTicks: 70, BootID: "b"}
	for name, c := range map[string]struct {
		role    message.Role
		above   process.Identity
		guarded bool
		want    bool
	}{
		"a command of a step":               {message.Executor, here, true, true},
		"one where guards are not seen":     {message.Coder, here, false, true},
		"a command of a supervisor":         {message.Supervisor, here, true, true},
		"a step or a hook of a supervisor":  {message.Supervisor, here, false, false},
		"below another process":             {message.Executor, process.Identity{PID: 8, StartTicks: 70, BootID: "b"}, true, false},
		"below one that has its id now":     {message.Executor, process.Identity{PID: 7, StartTicks: 71, BootID: "b"}, true, false},
		"below one of a boot before":        {message.Executor, process.Identity{PID: 7, StartTicks: 70, BootID: "a"}, true, false},
		"of another board, that made tests": {message.Supervisor, process.Identity{PID: 9, StartTicks: 90, BootID: "b"}, true, false},
	} {
		a := blackboard.Agent{ID: "x-1", Role: c.role, Process: message.Process{PID: 7, Start: 70, Boot: "b"}}
		if got := isCommandOf(a, process.Ancestor{Identity: c.above, Guarded: c.guarded}); got != c.want {
			t.Errorf("%s: refused: %v", name, got)
		}
	}
}
