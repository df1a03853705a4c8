package journal_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"orch/blackboard/journal"
)

// Eight processes append to one log at once: every line that was acknowledged is
// there, and they are one chain without a gap.
func TestManyProcessesAppend(t *testing.T) {
	const processes, count = 8, 2000
	j, dir := newBoard(t, journal.Options{})
	printed, took := children(t, "append", dir, processes, count)
	if len(printed) != processes*count {
		t.Fatalf("%d of %d appends were acknowledged", len(printed), processes*count)
	}
	found := map[string]bool{}
	writers := map[string]int{}
	next := uint64(1)
	for r, err := range j.Read(0) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Seq != next {
			t.Fatalf("message %d where %d should be", r.Seq, next)
		}
		next++
		found[fmt.Sprint(r.Seq, " ", r.ID)] = true
		writers[r.From]++
	}
	for _, line := range printed {
		if !found[line] {
			t.Errorf("acknowledged and not there: %s", line)
		}
	}
	for who, n := range writers {
		if strings.HasPrefix(who, "p") && n != count {
			t.Errorf("%s wrote %d of %d", who, n, count)
		}
	}
	report, err := j.Verify(context.Background(), journal.Head{})
	if err != nil || report.Messages != uint64(processes*count)+1 {
		t.Fatalf("verify: %+v %v", report, err)
	}
	t.Logf("%d processes × %d appends in %v: %.0f/s", processes, count, took, float64(processes*count)/took.Seconds())
}
