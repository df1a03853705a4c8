package socket

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// peerOf is the process at the other end of a connection, as the kernel noted
// it when it connected. still tells whether that very process is there yet:
// with a descriptor of it (Linux 6.5), no other process can be taken for it.
func peerOf(conn *net.UnixConn) (pid int, still func() bool, done func(), err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, nil, nil, err
	}
	pidfd := -1
	var cred *unix.Ucred
	var failed error
	err = raw.Control(func(fd uintptr) {
		if n, err := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_PEERPIDFD); err == nil {
			pidfd = n
		}
		cred, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err = errors.Join(err, failed); err != nil {
		return 0, nil, nil, err
	}
	if pidfd < 0 {
		return int(cred.Pid), func() bool { return true }, func() {}, nil
	}
	return int(cred.Pid), func() bool { return pidOf(pidfd) == int(cred.Pid) }, func() { unix.Close(pidfd) }, nil
}

// pidOf is the process of a descriptor; 0 when it is gone or not known.
func pidOf(pidfd int) int {
	info, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", pidfd))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(info)) {
		if value, ok := strings.CutPrefix(line, "Pid:"); ok {
			pid, err := strconv.Atoi(strings.TrimSpace(value))
			if err != nil {
				return 0
			}
			return pid
		}
	}
	return 0
}
