//go:build !windows

package journal

import (
	"io/fs"
	"os"

	"orch/blackboard/plainfile"
)

func openOSFile(name string, flag int, perm fs.FileMode) (File, error) {
	file, err := plainfile.Open(name, flag, perm)
	if err != nil {
		return nil, err // not a nil *os.File in a File
	}
	return file, nil
}

// SyncDir syncs the directory.
func (OSFS) SyncDir(name string) error {
	dir, err := os.Open(name)
	if err != nil {
		return err
	}
	if err := dir.Sync(); err != nil {
		_ = dir.Close()
		return err
	}
	return dir.Close()
}
