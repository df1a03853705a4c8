package journal

import (
	"errors"
	"syscall"

	"golang.org/x/sys/windows"
)

func isDiskFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) ||
		errors.Is(err, syscall.ENOSPC)
}

func isReadOnly(err error) bool {
	return errors.Is(err, windows.ERROR_WRITE_PROTECT) || errors.Is(err, syscall.EROFS)
}

func isIOFault(err error) bool {
	return errors.Is(err, windows.ERROR_IO_DEVICE) || errors.Is(err, windows.ERROR_CRC) || errors.Is(err, syscall.EIO)
}
