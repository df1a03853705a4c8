package workspace

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Bounds of a copy: more is not copied for a look at how things stand.
const (
	copyFiles = 20_000
	copyBytes = 128 << 20
)

// CopyTooLargeError says that a directory holds more than Copy copies.
type CopyTooLargeError struct{ Dir string }

func (e *CopyTooLargeError) Error() string {
	return fmt.Sprintf("%s holds more than %d files or %d MiB, so it is not copied", e.Dir, copyFiles, copyBytes>>20)
}

// Copy makes a copy of a directory, without orch's own folder, to throw away.
// to must not exist. A link is copied as a link if it stays inside; what is
// neither file, directory nor link is left out.
func Copy(from, to string) error {
	files, bytes := 0, int64(0)
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("copy the workspace: %w", err)
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if rel == ".orch" {
			return fs.SkipDir
		}
		target := filepath.Join(to, rel)
		switch {
		case d.IsDir():
			return os.MkdirAll(target, 0o755)
		case d.Type()&fs.ModeSymlink != 0:
			return copyLink(from, path, target)
		case !d.Type().IsRegular():
			return nil
		}
		info, err := d.Info()
		if missing(err) {
			return nil
		} else if err != nil {
			return err
		}
		files, bytes = files+1, bytes+info.Size()
		if files > copyFiles || bytes > copyBytes {
			return &CopyTooLargeError{from}
		}
		return copyIfThere(path, target)
	})
}

func copyLink(root, path, target string) error {
	to, err := os.Readlink(path)
	if missing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if filepath.IsAbs(to) || !inside(root, filepath.Join(filepath.Dir(path), to)) {
		return nil
	}
	return os.Symlink(to, target)
}
