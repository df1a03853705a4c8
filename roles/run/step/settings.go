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
// under dir: names, modes and contents, and whether it is the directory that was
// there first; and, of the repository's git directories, what decides which
// programs git runs.
func SettingsOf(dir string, gitDirs ...string) func() (string, error) {
	first, err := os.Open(dir) // while it is open no other directory is taken for it
	return func() (string, error) {
		if err != nil {
			return "", fmt.Errorf("fingerprint .orch: %w", err)
		}
		sum := sha256.New()
		fmt.Fprintln(sum, isAt(dir, first))
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

// isAt tells whether a path leads to an open directory.
func isAt(path string, open *os.File) bool {
	is, err := open.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(is, there)
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
