//go:build !linux

package socket

import (
	"os"
	"path/filepath"
)

func shortened(path string, use func(short string) error) error { return use(path) }

// place is not below a folder of temporary files whose own path is too long for
// a socket.
func place(name string) string {
	dir := filepath.Join(os.TempDir(), name)
	if short := filepath.Join("/tmp", name); len(filepath.Join(dir, fileName)) > pathBytes && len(short) < len(dir) {
		return short
	}
	return dir
}
