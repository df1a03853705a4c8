//go:build !linux

package journal

import "time"

// pause lets others run, first of all the one we wait for.
func pause(int) { time.Sleep(50 * time.Microsecond) }
