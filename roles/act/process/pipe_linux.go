package process

import (
	"os"

	"golang.org/x/sys/unix"
)

// widen makes a pipe hold more. A system that refuses leaves it as it was.
func widen(w *os.File, sizeBytes int) {
	if sizeBytes <= 0 {
		return
	}
	c, err := w.SyscallConn()
	if err != nil {
		return
	}
	_ = c.Control(func(fd uintptr) {
		_, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, sizeBytes)
	})
}
