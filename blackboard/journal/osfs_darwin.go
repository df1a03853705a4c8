package journal

import (
	"strings"

	"golang.org/x/sys/unix"
)

// NetworkKind looks at the type name of the file system that holds name. FUSE
// counts as a network: what is behind it cannot be known.
func (OSFS) NetworkKind(name string) (string, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(name, &stat); err != nil {
		return "", err
	}
	kind := unix.ByteSliceToString(stat.Fstypename[:])
	switch {
	case kind == "nfs", kind == "smbfs", kind == "afpfs", kind == "webdav", kind == "ftp", strings.Contains(kind, "fuse"):
		return kind, nil
	}
	return "", nil
}
