package journal

import (
	"io/fs"
	"os"

	"orch/blackboard/plainfile"
)

// osFile truncates by name: a handle opened for appending may not.
type osFile struct{ *os.File }

func (f osFile) Truncate(size int64) error { return os.Truncate(f.Name(), size) }

func openOSFile(name string, flag int, perm fs.FileMode) (File, error) {
	file, err := plainfile.Open(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return osFile{file}, nil
}

// SyncDir does nothing: Windows has no way to ask for it, NTFS journals names.
func (OSFS) SyncDir(string) error { return nil }

// NetworkKind cannot tell here; every path counts as local.
func (OSFS) NetworkKind(string) (string, error) { return "", nil }
