package confine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// coverFlags are those of what lies over hidden directories.
const coverFlags = unix.MS_RDONLY | unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC

// mount builds the file system of the sandbox in the mount namespace of this
// process, which must be its own.
func (s Sandbox) mount() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("part from the mounts of others: %w", err)
	}
	dev, err := takeDevices()
	if err != nil {
		return err
	}
	defer dev.close()
	for _, o := range s.Over { // while what they are made of can still be written
		if err := o.mount(); err != nil {
			return err
		}
	}
	if err := s.places(); err != nil {
		return err
	}
	if err := dev.mount(); err != nil {
		return err
	}
	for _, path := range s.Hide {
		if err := cover(path); err != nil {
			return err
		}
	}
	for _, path := range s.Alone {
		if err := leaveAlone(path); err != nil {
			return err
		}
	}
	return nil
}

// mount puts a directory in its place. What a mount of it knows of its own (the
// overlay's attributes) is kept where an ordinary user may write it.
func (o Over) mount() error {
	if o.Lower == "" {
		t, err := clone(o.Upper)
		if err != nil {
			return err
		}
		defer t.close()
		return t.attach(o.At)
	}
	quote := strings.NewReplacer(`\`, `\\`, ":", `\:`, ",", `\,`).Replace
	options := "userxattr,lowerdir=" + quote(o.Lower) + ",upperdir=" + quote(o.Upper) + ",workdir=" + quote(o.Work)
	if err := unix.Mount("overlay", o.At, "overlay", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return fmt.Errorf("lay %s over %s: %w", o.Upper, o.Lower, err)
	}
	return nil
}

// places makes all mounts read-only but what may be written, and that in turn
// but what is not.
func (s Sandbox) places() error {
	trees := make([]tree, 0, len(s.Write)) // taken while they can still be written
	defer func() {
		for _, t := range trees {
			t.close()
		}
	}()
	for _, path := range s.Write {
		t, err := clone(path)
		if err != nil {
			return err
		}
		trees = append(trees, t)
	}
	if !s.Everything() {
		if err := readOnly(unix.AT_FDCWD, "/", unix.AT_RECURSIVE); err != nil {
			return fmt.Errorf("make all mounts read-only: %w", err)
		}
	}
	attach := func(inner bool) error {
		for i, t := range trees {
			if path := s.Write[i]; path != "/" && anyAbove(s.ReadOnly, path) == inner {
				if err := t.attach(path); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err := attach(false); err != nil {
		return err
	}
	for _, dir := range s.pins() {
		if err := bind(dir, false); err != nil {
			return err
		}
	}
	for _, path := range s.ReadOnly {
		if err := bind(path, true); err != nil {
			return err
		}
	}
	return attach(true)
}

// bind mounts a path onto itself; one that is not there is nobody's.
func bind(path string, asReadOnly bool) error {
	t, err := clone(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer t.close()
	if asReadOnly {
		if err := readOnly(t.fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE); err != nil {
			return fmt.Errorf("make %s read-only: %w", path, err)
		}
	}
	return t.attach(path)
}

// cover hides a directory under an empty one, and a file or socket under the
// null device.
func cover(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil // below another cover, or nobody's
	}
	if err != nil {
		return err
	}
	if info.IsDir() {
		if err := unix.Mount("tmpfs", path, "tmpfs", coverFlags, "size=4k,nr_inodes=2,mode=0755"); err != nil {
			return fmt.Errorf("hide %s: %w", path, err)
		}
		return nil
	}
	null, err := clone("/dev/null")
	if err != nil {
		return err
	}
	defer null.close()
	return null.attach(path)
}

// leaveAlone covers the directory that a directory lies in with an empty one
// that has nothing but this directory.
func leaveAlone(path string) error {
	own, err := clone(path)
	if err != nil {
		return err
	}
	defer own.close()
	parent := filepath.Dir(path)
	if err := unix.Mount("tmpfs", parent, "tmpfs", coverFlags&^unix.MS_RDONLY, "size=4k,nr_inodes=4,mode=0755"); err != nil {
		return fmt.Errorf("hide what lies beside %s: %w", path, err)
	}
	if err := place(path, true); err != nil {
		return err
	}
	if err := own.attach(path); err != nil {
		return err
	}
	return readOnly(unix.AT_FDCWD, parent, 0)
}

func readOnly(dirFD int, path string, flags uint) error {
	return unix.MountSetattr(dirFD, path, flags, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
}

// tree is a copy of a mount, or of a part of one, that is not attached yet.
type tree struct{ fd int }

func clone(path string) (tree, error) {
	fd, err := unix.OpenTree(unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	if err != nil {
		return tree{}, &fs.PathError{Op: "copy the mount of", Path: path, Err: err}
	}
	return tree{fd}, nil
}

func (t tree) attach(path string) error {
	if err := unix.MoveMount(t.fd, "", unix.AT_FDCWD, path, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return &fs.PathError{Op: "mount", Path: path, Err: err}
	}
	return nil
}

func (t tree) close() { unix.Close(t.fd) }

// harmless are the devices that are kept, as far as they are there: those every
// program expects, and those to compute and to draw with.
var harmless = []string{"null", "zero", "full", "random", "urandom", "tty", "dri", "kfd", "nvidia*", "dxg", "kvm"}

// devices are copies of the devices that go into the new /dev.
type devices struct {
	names []string
	dirs  []bool
	trees []tree
}

func takeDevices() (*devices, error) {
	d := &devices{}
	for _, pattern := range harmless {
		paths, err := filepath.Glob("/dev/" + pattern)
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			info, err := os.Lstat(path)
			if err != nil || info.Mode()&fs.ModeSymlink != 0 {
				continue
			}
			t, err := clone(path)
			if err != nil {
				d.close()
				return nil, err
			}
			d.names, d.dirs, d.trees = append(d.names, filepath.Base(path)), append(d.dirs, info.IsDir()), append(d.trees, t)
		}
	}
	return d, nil
}

func (d *devices) close() {
	for _, t := range d.trees {
		t.close()
	}
}

// mount puts a new /dev over the old one, with terminals and shared memory of
// its own.
func (d *devices) mount() error {
	if err := unix.Mount("tmpfs", "/dev", "tmpfs", unix.MS_NOSUID|unix.MS_NOEXEC, "size=64k,mode=0755"); err != nil {
		return fmt.Errorf("make a new /dev: %w", err)
	}
	for i, name := range d.names {
		path := filepath.Join("/dev", name)
		if err := place(path, d.dirs[i]); err != nil {
			return err
		}
		if err := d.trees[i].attach(path); err != nil {
			return err
		}
	}
	for _, m := range []struct{ name, kind, data string }{
		{"pts", "devpts", "newinstance,ptmxmode=0666,mode=0620"}, {"shm", "tmpfs", "mode=1777"},
	} {
		path := filepath.Join("/dev", m.name)
		if err := place(path, true); err != nil {
			return err
		}
		if err := unix.Mount(m.kind, path, m.kind, unix.MS_NOSUID|unix.MS_NOEXEC, m.data); err != nil {
			return fmt.Errorf("make a new %s: %w", path, err)
		}
	}
	for name, to := range map[string]string{"ptmx": "pts/ptmx", "fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"} {
		if err := os.Symlink(to, filepath.Join("/dev", name)); err != nil {
			return err
		}
	}
	return readOnly(unix.AT_FDCWD, "/dev", 0)
}

// place makes what something can be mounted on.
func place(path string, isDir bool) error {
	if isDir {
		return os.Mkdir(path, 0o755)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return f.Close()
}
