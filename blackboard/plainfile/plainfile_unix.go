//go:build !windows

package plainfile

import "syscall"

// nonblock lets the open of a fifo return before somebody writes to it.
const nonblock = syscall.O_NONBLOCK
