package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"orch/blackboard/journal"
)

func TestNetworkKinds(t *testing.T) {
	for magic, want := range map[uint32]string{
		unix.EXT4_SUPER_MAGIC: "", unix.TMPFS_MAGIC: "", unix.BTRFS_SUPER_MAGIC: "", unix.XFS_SUPER_MAGIC: "", unix.OVERLAYFS_SUPER_MAGIC: "",
		0x6969: "NFS", 0xff534d42: "SMB", 0xfe534d42: "SMB", 0x517b: "SMB", 0x65735546: "FUSE", 0x01021997: "9P", 0x00c36400: "Ceph",
	} {
		if got := journal.NetworkKindOf(magic); got != want {
			t.Errorf("%x: %q, want %q", magic, got, want)
		}
	}
	if _, err := (journal.OSFS{}).NetworkKind(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

// The real thing says so too: a file that may not be written.
func TestLogThatMayOnlyBeRead(t *testing.T) {
	j, dir := newBoard(t, journal.Options{})
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	fsys := readOnlyLog{}
	reader, err := journal.Open(dir, journal.Options{FS: fsys})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if head, err := reader.Head(); err != nil || head.Seq != 1 {
		t.Errorf("head: %v %v", head, err)
	}
	var storage *journal.StorageError
	if _, err := reader.Append(t.Context(), numbered(1), nil); !errors.As(err, &storage) || storage.Kind != journal.ReadOnly {
		t.Errorf("append: %v", err)
	}
	if got := len(collect(t, reader, 0)); got != 1 {
		t.Errorf("there are %d records", got)
	}
}

// readOnlyLog is the real file system, but logs cannot be opened for writing.
type readOnlyLog struct{ journal.OSFS }

func (f readOnlyLog) OpenFile(name string, flag int, perm os.FileMode) (journal.File, error) {
	if flag != os.O_RDONLY && filepath.Base(name) == "log.jsonl" {
		return nil, &os.PathError{Op: "open", Path: name, Err: unix.EROFS}
	}
	return f.OSFS.OpenFile(name, flag, perm)
}
