package journal

import (
	"time"

	"golang.org/x/sys/unix"
)

const (
	pauseYields = 3
	pauseTime   = 50 * time.Microsecond
)

// pause lets others run, first of all the one we wait for: a few times by giving
// up the processor, then by sleeping. The system's sleep and not Go's, which
// would wake further threads of ours for nothing.
func pause(n int) {
	if n < pauseYields {
		_, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
		return
	}
	nap := unix.NsecToTimespec(pauseTime.Nanoseconds())
	_ = unix.Nanosleep(&nap, nil) // a signal may end it early, which does no harm
}
