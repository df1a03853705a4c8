package journal_test

import (
	"context"
	"fmt"
	"testing"
	"time"
	"os/exec"
	"os"
	"bufio"
	"strings"

	"orch/blackboard/journal"
)

func BenchmarkZZ(b *testing.B) {
	j, _ := newBoard(b, journal.Options{FS: noSync{}})
	for n := 0; b.Loop(); n++ {
		if _, err := j.Append(context.Background(), childDraft("p0", n), nil); err != nil {
			b.Fatal(err)
		}
	}
}

func childNoSync(dir string, count int, who string) error {
	j, err := journal.Open(dir, journal.Options{FS: noSync{}})
	if err != nil {
		return err
	}
	defer j.Close()
	for n := range count {
		if _, err := j.Append(context.Background(), childDraft(who, n), nil); err != nil {
			return err
		}
	}
	return nil
}

var _ = exec.Command
var _ = os.Args
var _ = bufio.NewReader
var _ = strings.Join
var _ = fmt.Sprint

func BenchmarkYY(b *testing.B) {
	const processes, count = 16, 1000
	var ours time.Duration
	for b.Loop() {
		_, dir := newBoard(b, journal.Options{})
		_, took := children(b, "nosync", dir, processes, count)
		ours += took
	}
	b.ReportMetric(float64(b.N*processes*count)/ours.Seconds(), "appends/s")
}
