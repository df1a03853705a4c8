package supervisor

import (
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

// Self identifies the running process.
func Self() message.Process {
	id := process.Self()
	return message.Process{PID: id.PID, Boot: id.BootID, Start: int64(id.StartTicks)}
}
