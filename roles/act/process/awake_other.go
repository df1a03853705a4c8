//go:build !linux

package process

import "time"

// AwakeMS is wall time in milliseconds: this system has no portable clock that
// stops while the machine sleeps, so a lease may run out during sleep here.
// The holder still lives then, and a living holder is never robbed.
func AwakeMS() int64 { return time.Now().UnixMilli() }
