package socket

import (
	"fmt"
	"os"
	"path/filepath"
)

// shortened gives use a path that names the same place and fits a socket's
// address: by way of the open directory where the whole path is too long.
func shortened(path string, use func(short string) error) error {
	if len(path) <= pathBytes {
		return use(path)
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	return use(fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(path)))
}

// place is the directory in that of temporary files, however long its path is.
func place(name string) string { return filepath.Join(os.TempDir(), name) }
