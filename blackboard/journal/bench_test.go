package journal_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orch/blackboard/journal"
)

func newBoard(tb testing.TB, opts journal.Options) (*journal.Journal, string) {
	tb.Helper()
	dir := filepath.Join(tb.TempDir(), ".orch")
	j, err := journal.Create(context.Background(), dir, opts, numbered(0))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = j.Close() })
	return j, dir
}

// BenchmarkAppend compares a durable append with a bare write and fsync of as
// many bytes, turn by turn in one run. Bar: ratio at most 1.5.
func BenchmarkAppend(b *testing.B) {
	j, dir := newBoard(b, journal.Options{})
	bare, err := os.OpenFile(filepath.Join(dir, "bare"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	defer bare.Close()
	line := []byte(strings.Repeat("x", usualLineBytes-1) + "\n")
	var ours, theirs time.Duration
	b.ResetTimer()
	for n := 0; b.Loop(); n++ {
		start := time.Now()
		if _, err := j.Append(context.Background(), childDraft("p0", n), nil); err != nil {
			b.Fatal(err)
		}
		middle := time.Now()
		if _, err := bare.Write(line); err != nil {
			b.Fatal(err)
		}
		if err := bare.Sync(); err != nil {
			b.Fatal(err)
		}
		ours += middle.Sub(start)
		theirs += time.Since(middle)
	}
	b.ReportMetric(float64(ours.Nanoseconds())/float64(b.N), "ns/append")
	b.ReportMetric(float64(theirs.Nanoseconds())/float64(b.N), "ns/bare")
	b.ReportMetric(float64(ours)/float64(theirs), "ratio")
}

// BenchmarkSixteenWriters compares 16 processes that append with 16 processes
// that write and fsync one file. Bar: at least 0.7 of their throughput.
func BenchmarkSixteenWriters(b *testing.B) {
	const processes, count = 16, 500
	var ours, theirs time.Duration
	for b.Loop() {
		_, dir := newBoard(b, journal.Options{})
		_, took := children(b, "append", dir, processes, count)
		ours += took
		_, took = children(b, "bare", dir, processes, count)
		theirs += took
	}
	b.ReportMetric(float64(b.N*processes*count)/ours.Seconds(), "appends/s")
	b.ReportMetric(float64(b.N*processes*count)/theirs.Seconds(), "bare/s")
	b.ReportMetric(float64(theirs)/float64(ours), "ratio")
}

// noSync is the real file system without the waiting, to make long logs.
type noSync struct{ journal.OSFS }

type noSyncFile struct{ journal.File }

func (noSyncFile) Sync() error { return nil }

func (f noSync) OpenFile(name string, flag int, perm os.FileMode) (journal.File, error) {
	file, err := f.OSFS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return noSyncFile{file}, nil
}

// fill appends count records and rotates whenever the log is large enough.
func fill(tb testing.TB, count int, opts journal.Options) string {
	tb.Helper()
	opts.FS = noSync{}
	j, dir := newBoard(tb, opts)
	for n := range count {
		if _, err := j.Append(context.Background(), childDraft("p0", n), nil); err != nil {
			tb.Fatal(err)
		}
		if n%1000 == 0 {
			if _, _, err := j.Rotate(context.Background(), 0, checkpoint); err != nil {
				tb.Fatal(err)
			}
		}
	}
	return dir
}

// BenchmarkVerify is the rate of a full verification.
func BenchmarkVerify(b *testing.B) {
	const count = 100_000
	dir := fill(b, count, journal.Options{})
	b.ResetTimer()
	for b.Loop() {
		j, err := journal.Open(dir, journal.Options{})
		if err != nil {
			b.Fatal(err)
		}
		report, err := j.Verify(context.Background(), journal.Head{})
		if err != nil || report.Messages < count {
			b.Fatalf("%+v %v", report, err)
		}
		_ = j.Close()
	}
	b.ReportMetric(float64(b.N*count)/b.Elapsed().Seconds(), "messages/s")
}

// BenchmarkOpen is a first append, with all that precedes it, and the reading of
// the last ten records, on logs of very different lengths.
func BenchmarkOpen(b *testing.B) {
	for _, count := range []int{1000, 300_000} {
		b.Run(fmt.Sprint(count, " messages"), func(b *testing.B) {
			dir := fill(b, count, journal.Options{})
			for n := 0; b.Loop(); n++ {
				j, err := journal.Open(dir, journal.Options{FS: noSync{}})
				if err != nil {
					b.Fatal(err)
				}
				r, err := j.Append(context.Background(), numbered(n), nil)
				if err != nil {
					b.Fatal(err)
				}
				for r, err := range j.Read(r.Seq - 10) {
					if err != nil {
						b.Fatal(r, err)
					}
				}
				_ = j.Close()
			}
		})
	}
}
