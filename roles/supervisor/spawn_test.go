package supervisor

import (
	"testing"
)

// A test of somebody's project may make a socket in its temporary directory,
// as t.TempDir() of Go does: <TMPDIR>/<test name><digits>/001/<name>.
func TestScratchLeavesRoomForASocket(t *testing.T) {
	const pathBytes, testBytes = 103, 70 // the limit on macOS, the smaller one
	t.Setenv("TMPDIR", "/tmp")
	if n := len(ScratchDir("0198c1d2-7a1b-7c3d-8e4f-0123456789ab")); n+testBytes > pathBytes {
		t.Errorf("the path takes %d bytes, and leaves less than %d for a test", n, testBytes)
	}
	if ScratchDir("a") == ScratchDir("b") {
		t.Error("two steps share a directory")
	}
}
