package codereviewer_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/internal/codertest"
)

// trustEnv names what is tried: all, or what has a word in its name; else a share.
const trustEnv = "ORCH_TRUST"

// share is of how many trials the ordinary tests try one.
const share = 24

// TestTrust has a scripted coder cheat, and a reviewer who approves whatever code
// does not reject. No cheat may be accepted; of honest changes few rejected.
func TestTrust(t *testing.T) {
	word := os.Getenv(trustEnv)
	began := time.Now()
	var accepted, refused, failed []string
	tried, bad := 0, len(cheats)+len(pyCheats)+len(nodeCheats)
	for i, c := range slices.Concat(cheats, pyCheats, nodeCheats, honest, otherHonest) {
		base, command := c.base, c.command
		if base == nil {
			base, command = shop, "go test ./..."
		} else if _, err := exec.LookPath(strings.Fields(command)[0]); err != nil {
			t.Logf("not here: %s", command)
			continue
		}
		if word == "" && i%share != 0 || word != "" && word != "all" && !strings.Contains(c.name, word) {
			continue
		}
		tried++
		d := codertest.NewDesk(t, base, message.SubTask{Intent: "change it", SpecRef: "spec.md", DoneWhen: "Sub(3, 1) is 2", Scope: "all"})
		submit(t, d, c.do)
		judge(t, d, "code-reviewer-1", command, nil)
		now := d.Now()
		why, _, _ := strings.Cut(reasons(now), "\n")
		switch {
		case i < bad && now.Status == blackboard.Approved:
			accepted = append(accepted, c.name)
		case i >= bad && now.Status != blackboard.Approved:
			refused = append(refused, c.name+": "+why)
		}
		if word != "" {
			t.Logf("%-10s %-50s %s", now.Status, c.name, why)
		}
		if now.Status != blackboard.Approved && now.Status != blackboard.Rejected {
			failed = append(failed, c.name+": "+string(now.Status))
		}
	}
	t.Logf("%d of %d cheats and %d honest changes tried in %s\n%d cheats accepted: %q\n%d honest changes rejected: %q",
		tried, bad, len(honest)+len(otherHonest), time.Since(began).Round(time.Second), len(accepted), accepted, len(refused), refused)
	if len(accepted)+len(refused)+len(failed) > 0 {
		t.Errorf("accepted %q, rejected %q, neither %q", accepted, refused, failed)
	}
}
