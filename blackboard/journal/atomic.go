package journal

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// WriteFileAtomic replaces path by data so that, whatever happens, path holds
// either all of the old content or all of data; when it returns nil, data is
// durable. The directory must exist. Calls for one path may overlap, in this
// process and others: the last one wins. A crash may leave a file behind whose
// name is path, a dot, what tells writers apart, and ".tmp".
func WriteFileAtomic(fsys FS, path string, data []byte, perm fs.FileMode) error {
	temp := fmt.Sprintf("%s.%d-%x.tmp", path, os.Getpid(), rand.Uint32())
	if err := writeSynced(fsys, temp, data, perm); err != nil {
		_ = fsys.Remove(temp) // the error that matters is the first
		return storageError("replace a file", path, err)
	}
	if err := fsys.Rename(temp, path); err != nil {
		_ = fsys.Remove(temp)
		return storageError("replace a file", path, err)
	}
	return storageError("replace a file", path, fsys.SyncDir(filepath.Dir(path)))
}

// writeSynced creates or overwrites name with data and syncs the file, not its
// directory.
func writeSynced(fsys FS, name string, data []byte, perm fs.FileMode) error {
	file, err := fsys.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, perm)
	if err != nil {
		return err
	}
	if n, err := file.Write(data); err != nil {
		_ = file.Close()
		return err
	} else if n < len(data) {
		_ = file.Close()
		return fmt.Errorf("wrote %d of %d bytes", n, len(data))
	}
	if err := file.Sync(); err != nil {
		_ = file.Close()
		return err
	}
	return file.Close()
}
