package emptied

import (
	"bytes"
	"go/build"
	"io"
	"path"
	"testing"
)

// TestBuiltHereIsWhatGoBuilds compares with the package that knows.
func TestBuiltHereIsWhatGoBuilds(t *testing.T) {
	here := build.Default
	here.CgoEnabled = true
	for _, name := range []string{"a.go", "a_test.go", "linux.go", "a_linux.go", "a_linux_test.go", "a_windows.go", "a_amd64.go", "a_arm64.go",
		"a_linux_amd64.go", "a_linux_arm64.go", "a_windows_amd64_test.go", "a_unix.go", "_a.go", ".a.go", "x/a_darwin.go", "amd64.go"} {
		for _, head := range []string{"", "//go:build linux\n\n", "//go:build !linux\n\n", "// words\n\n//go:build unix && !windows\n\n", "//go:build ignore\n\n",
			"//go:build go1.20 && (amd64 || arm64)\n\n", "//go:build cgo\n\n", "//go:build windows || plan9\n\n"} {
			text := []byte(head + "package x\n")
			here.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }
			want, err := here.MatchFile(".", path.Base(name))
			if got := builtHere(name, text); got != (want && err == nil) {
				t.Errorf("%s %q: %v, want %v", name, head, got, want)
			}
		}
	}
}
