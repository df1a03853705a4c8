package process

import (
	"os"
	"testing"
)

func TestKillsForWantOfMemoryAreRead(t *testing.T) {
	if got := oomKillsIn([]byte("pgfault 7\noom_kill_all 9\noom_kill 3\nswap_ra 1\n")); got != 3 {
		t.Errorf("%d, want 3", got)
	}
	if got := oomKillsIn([]byte("pgfault 7\n")); got != 0 {
		t.Errorf("%d where the kernel does not say, want 0", got)
	}
	if stat, err := os.ReadFile("/proc/vmstat"); err == nil && oomKills() < oomKillsIn(stat) {
		t.Errorf("%d now, less than before", oomKills())
	}
}

func BenchmarkOOMKills(b *testing.B) {
	for b.Loop() {
		oomKills()
	}
}
