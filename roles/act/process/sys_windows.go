package process

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

func sysProcAttr(bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// askGroup does nothing: there is no polite signal here, so the grace passes unused.
func askGroup(Identity, bool) {}

// killGroup ends the process tree.
func killGroup(id Identity, p *os.Process) {
	if exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(p.Pid)).Run() != nil {
		_ = p.Kill() // taskkill missing or the tree already gone
	}
}

func signalOf(*os.ProcessState) string { return "" }

func collect(int) {}

// absent tells whether there surely is no process with the pid.
func absent(pid int) bool {
	p, err := os.FindProcess(pid)
	if err == nil {
		_ = p.Release() // a handle that was only tried
	}
	return err != nil && !errors.Is(err, syscall.ERROR_ACCESS_DENIED)
}

// Descriptors is not known: this system has no such limit.
func Descriptors() (n uint64, known bool) { return 0, false }

// exists is true: the pid could be opened, and this system tells no more.
func exists(*os.Process) bool { return true }

// lookPath leaves the search to the system.
func lookPath(name string, _ []string) string { return name }

// readNow reads nothing: a pipe has no deadline here after which to ask it.
func readNow(*os.File, []byte) int { return 0 }
