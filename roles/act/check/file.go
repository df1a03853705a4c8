package check

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// fileBytes bounds what is read of a file for matching.
const fileBytes = 32 << 20

// lookAtFile opens below the workspace only: os.Root follows no link out of it.
func lookAtFile(f *File, env Env) Verdict {
	root, err := os.OpenRoot(env.Workspace)
	if err != nil {
		return cannot(KindTool, "%v", err)
	}
	defer root.Close()
	path := filepath.FromSlash(f.Path)
	gone := f.Absent || f.Exists != nil && !*f.Exists
	info, err := root.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && gone:
		return passes("%s is absent", f.Path)
	case errors.Is(err, fs.ErrNotExist):
		return fails("%s does not exist", f.Path)
	case errors.Is(err, fs.ErrPermission):
		return cannot(KindPermission, "%v", err)
	case err != nil:
		return cannot(KindTool, "%v", err)
	case gone:
		return fails("%s exists", f.Path)
	case f.SHA256 == "" && f.Text.empty():
		return passes("%s exists, %d bytes", f.Path, info.Size())
	case info.IsDir():
		return fails("%s is a directory", f.Path)
	}
	text, sum, err := readBelow(root, path)
	if err != nil {
		return cannot(KindTool, "%v", err)
	}
	if f.SHA256 != "" && !strings.EqualFold(f.SHA256, sum) {
		return fails("%s has SHA-256 %s, want %s", f.Path, sum, f.SHA256)
	}
	if why := f.Text.unmet(text); why != "" {
		return fails("%s %s", f.Path, why)
	}
	return passes("%s is as it should be, SHA-256 %s", f.Path, sum)
}

// readBelow returns the first fileBytes of a file, and the hash of all of it.
func readBelow(root *os.Root, path string) (text, sum string, err error) {
	file, err := root.Open(path)
	if err != nil {
		return "", "", err
	}
	defer file.Close()
	hash := sha256.New()
	var head strings.Builder
	if _, err := io.Copy(io.MultiWriter(hash, &head), io.LimitReader(file, fileBytes)); err != nil {
		return "", "", err
	}
	if _, err := io.Copy(hash, file); err != nil {
		return "", "", err
	}
	return head.String(), hex.EncodeToString(hash.Sum(nil)), nil
}
