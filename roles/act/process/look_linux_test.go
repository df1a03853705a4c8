package process

import (
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
)

// A process that has no descriptor left to look at another one knows only that
// there is one with its number. It still knows who it is itself, and that a
// process which is gone is gone.
func TestWhatCanNotBeLookedAtIsNotDead(t *testing.T) {
	other := exec.Command("sleep", "60")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = other.Process.Kill() // it may have ended by itself
		_ = other.Wait()
	}()
	id, ok := identify(other.Process.Pid)
	if !ok || Look(id) != Living {
		t.Fatalf("%+v is %s", id, Look(id))
	}
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	self.Store(nil)
	me := Self()
	withoutDescriptors(t, func() {
		if got := Look(id); got != Unknown {
			t.Errorf("without descriptors a living process is %s", got)
		}
		if got := Look(Identity{PID: gone.Process.Pid, StartTicks: 1, BootID: BootID()}); got != Dead {
			t.Errorf("without descriptors a process that is gone is %s", got)
		}
		if got := Look(Identity{PID: id.PID, StartTicks: id.StartTicks, BootID: "another"}); got != Dead {
			t.Errorf("without descriptors a process of another boot is %s", got)
		}
		if Self() != me {
			t.Errorf("without descriptors this process is %+v, not %+v", Self(), me)
		}
		known := boot.Swap(nil)
		if got := Look(id); got != Unknown {
			t.Errorf("without descriptors and boot a living process is %s", got)
		}
		self.Store(nil)
		if got := Self(); !got.IsZero() {
			t.Errorf("a process that can not look at itself is %+v", got)
		}
		boot.Store(known)
	})
	if got := Look(id); got != Living {
		t.Errorf("afterwards it is %s", got)
	}
}

// withoutDescriptors runs f while this process can open no file.
func withoutDescriptors(t *testing.T, f func()) {
	t.Helper()
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	low := limit
	low.Cur = 1
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &low); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
			t.Fatal(err)
		}
	}()
	if f, err := os.Open("/proc/self/stat"); err == nil {
		f.Close()
		t.Fatal("a file could be opened")
	}
	f()
}
