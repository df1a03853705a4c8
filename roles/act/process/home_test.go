//go:build unix

package process

import (
	"os"
	"os/user"
	"strconv"
	"testing"
)

func TestNameHome(t *testing.T) {
	t.Setenv("HOME", "/somewhere")
	if NameHome(); os.Getenv("HOME") != "/somewhere" {
		t.Errorf("%q", os.Getenv("HOME"))
	}
	want, err := user.LookupId(strconv.Itoa(os.Getuid()))
	if err != nil {
		t.Fatal(err)
	}
	for _, unset := range []func() error{func() error { return os.Unsetenv("HOME") }, func() error { return os.Setenv("HOME", "") }} {
		if err := unset(); err != nil {
			t.Fatal(err)
		}
		if NameHome(); os.Getenv("HOME") != want.HomeDir {
			t.Errorf("without HOME: %q, want %q", os.Getenv("HOME"), want.HomeDir)
		}
	}
}
