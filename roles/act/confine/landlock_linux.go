package confine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Landlock is asked by its three system calls: the libraries for it restrict
// all threads of a process, and a guard has to stay free to end what it guards.

const (
	landRead  = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_EXECUTE
	landList  = unix.LANDLOCK_ACCESS_FS_READ_DIR
	landFile  = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	landWrite = landFile | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
		unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER
	scopedABI = 6 // from which signals and abstract sockets can be kept inside
)

// landlockABI is what the kernel offers; 0 when it offers nothing.
func landlockABI() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
}

// land restricts the calling thread and what it starts.
func (s Sandbox) land() error {
	attr := unix.LandlockRulesetAttr{}
	if !s.Everything() {
		attr.Handled_access_fs = landWrite
	}
	hides := !s.Namespace && len(s.Hide) > 0
	if hides {
		attr.Handled_access_fs |= landRead | landList
	}
	if s.Landlock >= scopedABI {
		attr.Scoped = unix.LANDLOCK_SCOPE_SIGNAL | unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
	}
	if attr.Handled_access_fs == 0 && attr.Scoped == 0 {
		return nil
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return fmt.Errorf("make a Landlock ruleset: %w", errno)
	}
	rules := ruleset{fd: int(fd), handled: attr.Handled_access_fs}
	defer unix.Close(rules.fd)
	if err := s.landRules(rules, hides); err != nil {
		return err
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return fmt.Errorf("enforce the Landlock ruleset: %w", errno)
	}
	return nil
}

func (s Sandbox) landRules(rules ruleset, hides bool) error {
	if attr := rules.handled & landWrite; attr != 0 {
		for _, path := range slices.Concat(s.Write, s.devices()) {
			if err := rules.allow(path, landWrite); err != nil {
				return err
			}
		}
	}
	if !hides {
		return nil
	}
	if err := rules.allow("/", landList); err != nil { // names are no secret; contents are
		return err
	}
	there := slices.DeleteFunc(slices.Clone(s.Hide), func(path string) bool { // what is not there costs nothing
		_, err := os.Lstat(path)
		return err != nil
	})
	return rules.allowBut("/", there)
}

// devices are what may be written below /dev. With a namespace /dev is ours.
func (s Sandbox) devices() []string {
	if s.Namespace {
		return []string{"/dev"}
	}
	return []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts", "/dev/shm"}
}

type ruleset struct {
	fd      int
	handled uint64
}

// allow permits a file, or a directory and all below it. What is not there
// needs no permission.
func (r ruleset) allow(path string, access uint64) error {
	dir, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EACCES) {
		return nil
	}
	if err != nil {
		return &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(dir)
	var st unix.Stat_t
	if err := unix.Fstat(dir, &st); err != nil {
		return &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		access &= landFile | landRead
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: access & r.handled, Parent_fd: int32(dir)}
	if rule.Allowed_access == 0 {
		return nil
	}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r.fd), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	runtime.KeepAlive(&rule)
	if errno != 0 {
		return fmt.Errorf("allow %s by Landlock: %w", path, errno)
	}
	return nil
}

// allowBut permits to read all below a directory but what is hidden.
func (r ruleset) allowBut(dir string, hide []string) error {
	if slices.Contains(hide, dir) {
		return nil
	}
	if !slices.ContainsFunc(hide, func(h string) bool { return Within(dir, h) }) {
		return r.allow(dir, landRead)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // not readable for us, so for nobody below us
	}
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink != 0 {
			continue // what it points to has its own place
		}
		if err := r.allowBut(filepath.Join(dir, e.Name()), hide); err != nil {
			return err
		}
	}
	return nil
}
