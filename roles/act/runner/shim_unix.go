//go:build unix

package runner

import (
	"os"
	"syscall"
)

const supported = true

// asks are the signals that a runner is asked to end with.
var asks = []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT}

// replace makes this process the program. It returns only when it can not.
func replace(path string, argv, env []string) error { return syscall.Exec(path, argv, env) }

// exitCode is the code of a program as a shell tells it.
func exitCode(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}
