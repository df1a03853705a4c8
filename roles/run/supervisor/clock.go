package supervisor

import (
	"errors"
	"fmt"
	"time"

	"orch/blackboard/message"
	"orch/roles/act/process"
)

// SystemClock is the clock of this machine.
type SystemClock struct{}

// Now is the wall time.
func (SystemClock) Now() time.Time { return time.Now() }

// Awake is the id of this boot and the time the machine has been awake in it.
func (SystemClock) Awake() (string, int64) { return process.BootID(), process.AwakeMS() }

// minDescriptors is what a process that works on a board may need at once, with
// some tens of steps. Steps get what their supervisor has.
const minDescriptors = 128

// Self identifies the running process. A process that can not be told apart
// from others may hold nothing: everybody would take it for dead. One that will
// run out of descriptors may not either: it could not see through what it began.
func Self() (message.Process, error) {
	id := process.Self()
	if id.IsZero() {
		return message.Process{}, errNobody
	}
	if n, known := process.Descriptors(); known && n < minDescriptors {
		return message.Process{}, &UnfitError{
			What: fmt.Sprintf("this process may have only %d files open, and work on a goal needs up to %d", n, minDescriptors),
			Do:   "ulimit -n 1024",
		}
	}
	return message.Process{PID: id.PID, Boot: id.BootID, Start: int64(id.StartTicks)}, nil
}

var errNobody = errors.New("this process can not read its own start time from /proc: is /proc there, and are there enough file descriptors (ulimit -n)?")

// Look tells whether exactly this process still runs.
func Look(m message.Process) process.Liveness {
	return process.Look(process.Identity{PID: m.PID, StartTicks: uint64(m.Start), BootID: m.Boot})
}
