//go:build unix

package tool

import (
	"io/fs"
	"syscall"
)

// names counts the hard links of a file.
func names(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}
