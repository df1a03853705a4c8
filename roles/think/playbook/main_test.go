package playbook

import (
	"os"
	"testing"

	"orch/roles/think/playbook/chore"
)

// TestMain lets the test binary stand in for orch: ${orch} chore … runs it again.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "chore" {
		os.Exit(chore.Main(os.Args[2:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}
