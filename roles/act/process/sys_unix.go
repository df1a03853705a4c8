//go:build unix

package process

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

func sysProcAttr(session bool) *syscall.SysProcAttr {
	if session {
		return &syscall.SysProcAttr{Setsid: true}
	}
	return &syscall.SysProcAttr{Setpgid: true}
}

// askGroup asks the group the command leads to end.
func askGroup(id Identity, interrupt bool) { signalGroup(id, askSignal(interrupt)) }

// askSignal is SIGTERM, or SIGINT for a command that ends cleanly on that only.
func askSignal(interrupt bool) syscall.Signal {
	if interrupt {
		return syscall.SIGINT
	}
	return syscall.SIGTERM
}

// killGroup sends SIGKILL to the group the command leads.
func killGroup(id Identity, _ *os.Process) { signalGroup(id, syscall.SIGKILL) }

// signalGroup signals only while the leader still has its pid: then the number
// can not have become another group's.
func signalGroup(id Identity, sig syscall.Signal) {
	if now, ok := identify(id.PID); ok && now == id && id.PID > 1 {
		_ = syscall.Kill(-id.PID, sig) // gone in the meantime is as good
	}
}

func signalOf(state *os.ProcessState) string {
	ws, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !ws.Signaled() {
		return ""
	}
	return unix.SignalName(ws.Signal())
}

// collect takes the exit status of a dead child that was orphaned to us.
func collect(pid int) {
	var ws syscall.WaitStatus
	_, _ = syscall.Wait4(pid, &ws, syscall.WNOHANG, nil)
}

// absent tells whether there surely is no process with the pid. It needs no
// descriptor and no right to look at the process.
func absent(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// Descriptors is how many files the calling process may have open at once.
func Descriptors() (n uint64, known bool) {
	var limit unix.Rlimit
	err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit)
	return uint64(limit.Cur), err == nil
}

func exists(p *os.Process) bool { return p.Signal(syscall.Signal(0)) == nil }

// lookPath finds a bare program name by the PATH the command itself will have.
func lookPath(name string, env []string) string {
	if strings.ContainsRune(name, '/') {
		return name
	}
	for _, kv := range slices.Backward(env) {
		list, ok := strings.CutPrefix(kv, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(list) {
			full := filepath.Join(dir, name)
			if info, err := os.Stat(full); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 && filepath.IsAbs(full) {
				return full
			}
		}
		break
	}
	return name
}

// readNow reads what a pipe holds, without waiting; 0 or less if that is nothing.
func readNow(r *os.File, buf []byte) (n int) {
	c, err := r.SyscallConn()
	if err != nil {
		return 0
	}
	_ = c.Read(func(fd uintptr) bool {
		n, _ = unix.Read(int(fd), buf)
		return true
	})
	return n
}
