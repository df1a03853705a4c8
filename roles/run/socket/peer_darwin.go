package socket

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"
)

// peerOf is the process at the other end of a connection, as the kernel noted
// it when it connected.
func peerOf(conn *net.UnixConn) (pid int, still func() bool, done func(), err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, nil, nil, err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		pid, failed = unix.GetsockoptInt(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERPID)
	})
	return pid, func() bool { return true }, func() {}, errors.Join(err, failed)
}
