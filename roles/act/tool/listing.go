package tool

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

const (
	maxListed  = 50_000   // files of a Listing
	hashBytes  = 64 << 10 // a larger file is told by its size and time alone
	hashedSize = 8 << 20  // of all files together
)

// Listing is what files a workspace held at one moment. It is JSON, so that it
// can be kept.
type Listing struct {
	Files    map[string]FileSign `json:"files"`
	Complete bool                `json:"complete"` // false: there were more
}

// FileSign tells whether a file is still the same.
type FileSign struct {
	Size  int64  `json:"size"`
	Mode  uint32 `json:"mode"`
	ModNS int64  `json:"mod_ns"`
	Sum   string `json:"sum,omitempty"` // of its content; empty: not taken
}

// gitSigns are the files of a repository that change when something is
// committed. The rest of .git changes when somebody only looks.
var gitSigns = []string{".git/HEAD", ".git/logs/HEAD"}

// TakeListing lists the files of a workspace, without the inside of .orch and
// of .git.
func TakeListing(root string) Listing {
	l := Listing{Files: map[string]FileSign{}}
	room := int64(hashedSize)
	err := walk(root, func(rel string, d fs.DirEntry) error {
		if d.IsDir() {
			return nil
		}
		if len(l.Files) == maxListed {
			return errTooMany
		}
		if sign, ok := signOf(root, rel, &room); ok {
			l.Files[rel] = sign
		}
		return nil
	})
	for _, rel := range gitSigns {
		if sign, ok := signOf(root, rel, &room); ok {
			l.Files[rel] = sign
		}
	}
	l.Complete = err == nil
	return l
}

func signOf(root, rel string, room *int64) (FileSign, bool) {
	path := filepath.Join(root, filepath.FromSlash(rel))
	info, err := os.Lstat(path)
	if err != nil || info.IsDir() {
		return FileSign{}, false // gone in the meantime
	}
	s := FileSign{Size: info.Size(), Mode: uint32(info.Mode()), ModNS: info.ModTime().UnixNano()}
	var content []byte
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := os.Readlink(path)
		if err != nil {
			return s, true
		}
		content = []byte(to)
	case !info.Mode().IsRegular() || info.Size() > hashBytes || info.Size() > *room:
		return s, true
	default:
		if content, err = os.ReadFile(path); err != nil {
			return s, true
		}
	}
	*room -= int64(len(content))
	sum := sha256.Sum256(content)
	s.Sum = hex.EncodeToString(sum[:])
	return s, true
}

// same tells whether a file is what it was. One whose content was not taken is
// told by its time, too.
func (s FileSign) same(now FileSign) bool {
	if s.Size != now.Size || s.Mode != now.Mode {
		return false
	}
	if s.Sum != "" && now.Sum != "" {
		return s.Sum == now.Sum
	}
	return s.ModNS == now.ModNS
}

// Changed lists the files that are new, gone, or different in a later listing,
// sorted. Where the earlier one is not complete, a file it does not have counts
// only if it was written after a time.
func (l Listing) Changed(now Listing, after time.Time) []string {
	var all []string
	for rel, is := range now.Files {
		was, ok := l.Files[rel]
		if ok && was.same(is) || !ok && !l.Complete && is.ModNS <= after.UnixNano() {
			continue
		}
		all = append(all, rel)
	}
	for rel := range l.Files {
		if _, ok := now.Files[rel]; !ok && now.Complete {
			all = append(all, rel)
		}
	}
	slices.Sort(all)
	return all
}
