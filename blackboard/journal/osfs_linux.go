package journal

import "golang.org/x/sys/unix"

// NetworkKind looks at the magic number of the file system that holds name. FUSE
// counts as a network: what is behind it cannot be known.
func (OSFS) NetworkKind(name string) (string, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(name, &stat); err != nil {
		return "", err
	}
	return networkKindOf(uint32(stat.Type)), nil
}

// networkKindOf knows the numbers of statfs(2). Only the low 32 bits count:
// the field is signed on some machines and wider on others.
func networkKindOf(magic uint32) string {
	switch magic {
	case unix.NFS_SUPER_MAGIC:
		return "NFS"
	case unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC:
		return "SMB"
	case unix.FUSE_SUPER_MAGIC:
		return "FUSE"
	case unix.V9FS_MAGIC:
		return "9P"
	case unix.AFS_SUPER_MAGIC, unix.AFS_FS_MAGIC:
		return "AFS"
	case unix.CEPH_SUPER_MAGIC:
		return "Ceph"
	case unix.CODA_SUPER_MAGIC:
		return "Coda"
	case unix.NCP_SUPER_MAGIC:
		return "NCP"
	case unix.OCFS2_SUPER_MAGIC:
		return "OCFS2"
	case 0x0bd00bd0: // not in the headers
		return "Lustre"
	}
	return ""
}
