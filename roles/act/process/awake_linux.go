package process

import "golang.org/x/sys/unix"

// AwakeMS is how long the machine has been awake since it booted, in
// milliseconds. Time asleep does not count, and no clock setting changes it.
func AwakeMS() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return 0 // cannot fail for this clock; 0 makes every lease look fresh, so nothing is stolen
	}
	return ts.Nano() / 1e6
}
