package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// Unlock removes the locks that a git which was killed left in a workspace, so
// that work can go on in it. Nobody may be at work there.
func Unlock(path string) error {
	own, err := openOwn(path)
	if err != nil {
		return err
	}
	defer own.Close()
	err = fs.WalkDir(own.root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // somebody else was faster
		case err != nil:
			return err
		case d.IsDir() && name == "objects":
			return fs.SkipDir
		case d.Type().IsRegular() && strings.HasSuffix(name, ".lock"):
			return own.root.Remove(name)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("remove what a killed git left in %s: %w", path, err)
	}
	return nil
}
