//go:build unix

package supervisor

import (
	"os/exec"
	"syscall"
)

// killGroup makes cancelling a command end its whole process group.
func killGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
