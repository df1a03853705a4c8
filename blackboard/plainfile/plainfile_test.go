//go:build !windows

package plainfile_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"orch/blackboard/plainfile"
)

// TestOnlyFilesAreOpened: none of these may be waited for.
func TestOnlyFilesAreOpened(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(syscall.Mkfifo(in("fifo"), 0o600))
	check(os.Mkdir(in("folder"), 0o700))
	check(os.Symlink("b", in("a")))
	check(os.Symlink("a", in("b")))
	socket, err := net.Listen("unix", in("socket"))
	check(err)
	defer socket.Close()
	check(os.WriteFile(in("file"), []byte("text"), 0o600))
	check(os.Symlink("file", in("link")))

	for name, kind := range map[string]string{in("fifo"): "a fifo", in("folder"): "a directory", in("socket"): "a socket", in("a"): "a circle", os.DevNull: "a device"} {
		for _, flag := range []int{os.O_RDONLY, os.O_WRONLY, os.O_RDWR | os.O_APPEND} {
			file, err := plainfile.Open(name, flag, 0)
			var not *plainfile.NotFileError
			if !errors.As(err, &not) || !strings.HasPrefix(not.Kind, kind) || file != nil {
				t.Errorf("%s opened with %d: %v, %v; want %s refused", name, flag, file, err, kind)
			}
		}
	}
	for _, name := range []string{"file", "link"} {
		if data, err := plainfile.Read(in(name)); err != nil || string(data) != "text" {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	if _, err := plainfile.Read(in("none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}
