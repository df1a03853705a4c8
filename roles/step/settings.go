package step

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// settingPaths are a person's, under .orch. A tool has no business in them.
var settingPaths = []string{"config.yaml", "values.md", "hooks", "playbooks"}

// SettingsOf returns a function that fingerprints orch's own configuration
// under dir: names, modes and contents; and, of the repository's git directories,
// what decides which programs git runs.
func SettingsOf(dir string, gitDirs ...string) func() (string, error) {
	return func() (string, error) {
		sum := sha256.New()
		for _, name := range settingPaths {
			if err := addTree(sum, filepath.Join(dir, name)); err != nil {
				return "", fmt.Errorf("fingerprint .orch/%s: %w", name, err)
			}
		}
		for _, d := range gitDirs {
			if err := addGit(sum, d); err != nil {
				return "", fmt.Errorf("fingerprint %s: %w", d, err)
			}
		}
		return hex.EncodeToString(sum.Sum(nil)), nil
	}
}

func addTree(sum io.Writer, root string) error {
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(sum, "%q %v\n", path, info.Mode())
		switch {
		case info.Mode().IsRegular():
			return addFile(sum, path)
		case info.Mode()&fs.ModeSymlink != 0:
			to, err := os.Readlink(path)
			fmt.Fprintf(sum, "%q\n", to)
			return err
		}
		return nil
	})
}

func addFile(sum io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(sum, f)
	return err
}
