package process

import (
	"bytes"
	"os"
	"strconv"
)

// oomKills counts the processes that the kernel has ended for want of memory
// since it booted, for all limits of memory; 0 where it does not say.
func oomKills() int64 {
	stat, err := os.ReadFile("/proc/vmstat")
	if err != nil {
		return 0
	}
	return oomKillsIn(stat)
}

// oomKillsIn reads the counter from the text of /proc/vmstat.
func oomKillsIn(stat []byte) int64 {
	for line := range bytes.Lines(stat) {
		if n, ok := bytes.CutPrefix(line, []byte("oom_kill ")); ok {
			kills, _ := strconv.ParseInt(string(bytes.TrimSpace(n)), 10, 64) // 0 for what is none
			return kills
		}
	}
	return 0
}
