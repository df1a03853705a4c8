package memory

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"orch/blackboard/message"
)

// BenchmarkMemory measures the bars of the memory: `make bench-memory`. Each
// size is a store of its own, filled once; run it with -benchtime 1x.
func BenchmarkMemory(b *testing.B) {
	for _, size := range []int{10_000, 100_000, 1_000_000} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			for b.Loop() {
				benchMemory(b, size)
			}
		})
	}
}

const (
	benchPerPair = 20
	benchQueries = 2000
	benchPace    = 5 * time.Millisecond // between queries while a pass runs
)

func benchMemory(b *testing.B, size int) {
	now := noon
	s, err := Open(filepath.Join(b.TempDir(), "memory"), Options{Now: func() time.Time { return now }})
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}()
	before := cpuSeconds(b)
	b.ReportMetric(float64(size)/fill(b, s, size).Seconds(), "ingest/s")
	b.ReportMetric((cpuSeconds(b)-before)/float64(size)*1e6, "ingest-cpu-µs")
	reportLatencies(b, "query", ask(b, s, size, func(n int) bool { return n == benchQueries }))

	debug.FreeOSMemory() // of making and indexing the memories
	forgetPeak()
	before = cpuSeconds(b)
	var did Dreamt
	var took time.Duration
	done := make(chan error)
	go func() {
		begin := time.Now()
		var err error
		did, err = s.Dream(context.Background(), Pass{Say: func(ctx context.Context, body message.Body) error {
			return s.Apply(ctx, []message.Message{{Seq: s.At().Seq + 1, TS: now, ID: "d", From: message.Memory, Body: body}})
		}})
		took = time.Since(begin)
		done <- err
	}()
	var failed error
	next := time.NewTicker(benchPace)
	defer next.Stop()
	during := ask(b, s, size, func(int) bool {
		select {
		case failed = <-done:
			return true
		case <-next.C:
			return false
		}
	})
	if failed != nil {
		b.Fatal(failed)
	}
	b.ReportMetric(took.Seconds(), "pass-s")
	b.ReportMetric(cpuSeconds(b)-before, "pass-cpu-s")
	b.ReportMetric(peakMiB(b), "peak-MiB")
	reportLatencies(b, "query-in-pass", during)
	b.Logf("%d memories: the pass did %+v, %d queries meanwhile", size, did, len(during))
}

func benchPair(i int) Pair {
	return Pair{fmt.Sprint("tool:shell:", i%97), fmt.Sprint("path:src/file-", i)}
}

// fill indexes memories of 120 days about size/20 pairs, and a thousand about
// one of them; it returns how long the store took.
func fill(b *testing.B, s *Store, size int) time.Duration {
	random := rand.New(rand.NewPCG(1, uint64(size)))
	var took time.Duration
	var step []message.Message
	for i := range size {
		p := benchPair(random.IntN(size / benchPerPair))
		if i < 1000 {
			p = benchPair(0)
		}
		row := matrix[random.IntN(len(matrix))]
		m := message.Megram{
			ID: fmt.Sprintf("%08x-%04x-4000-8000-%012x", random.Uint32(), i&0xffff, i), Level: LevelM,
			CreatedAt: noon.Add(-time.Duration(random.Int64N(int64(120 * day)))), Space: p.Space, Entity: p.Entity,
			Content: message.MegramContent{Lesson: "the tests of this file fail when it is edited without its generated twin", Category: categoryConstraint,
				Tags: []string{fmt.Sprint("goal_", i/50), fmt.Sprint("word", random.IntN(500))}},
			State: message.ChangeApproach, F: row.f, Sigma: row.sigma, K: row.k, Ordinal: 1,
		}
		step = append(step, message.Message{Seq: uint64(i + 1), TS: noon, From: message.GGS, Body: m})
		if len(step) == catchUpStep || i == size-1 {
			begin := time.Now()
			if err := s.Apply(context.Background(), step); err != nil {
				b.Fatal(err)
			}
			took += time.Since(begin)
			step = step[:0]
		}
	}
	return took
}

// ask puts queries as a planner does: an intent, five candidates, two tags.
func ask(b *testing.B, s *Store, size int, enough func(int) bool) []time.Duration {
	random := rand.New(rand.NewPCG(2, uint64(size)))
	var took []time.Duration
	for n := 0; !enough(n); n++ {
		q := message.MemoryQuery{Space: intent.Space, Entity: intent.Entity, Tags: []string{fmt.Sprint("word", random.IntN(500)), fmt.Sprint("goal_", random.IntN(size/50))}}
		for range 5 {
			q.Candidates = append(q.Candidates, benchPair(random.IntN(size/benchPerPair)).message())
		}
		begin := time.Now()
		if _, err := s.Answer(q); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(begin))
	}
	return took
}

func reportLatencies(b *testing.B, what string, took []time.Duration) {
	slices.Sort(took)
	at := func(part float64) float64 {
		return float64(took[min(int(part*float64(len(took))), len(took)-1)].Microseconds()) / 1000
	}
	b.ReportMetric(at(0.5), what+"-p50-ms")
	b.ReportMetric(at(0.99), what+"-p99-ms")
	b.ReportMetric(at(1), what+"-max-ms")
}

// forgetPeak makes the system forget how much memory was in use at most. Where
// it cannot, the peak is that of the whole benchmark.
func forgetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }

// cpuSeconds is the CPU time of this process, in hundredths, with making the
// memories; 0 where the system does not tell.
func cpuSeconds(b *testing.B) float64 {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	ticks := 0
	for _, field := range fields[11:13] { // utime, stime
		n, err := strconv.Atoi(field)
		if err != nil {
			b.Fatal(err)
		}
		ticks += n
	}
	return float64(ticks) / 100
}

// peakMiB is the most memory that was resident; 0 where the system does not tell.
func peakMiB(b *testing.B) float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if kib, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, err := strconv.Atoi(strings.Fields(kib)[0])
			if err != nil {
				b.Fatal(err)
			}
			return float64(n) / 1024
		}
	}
	return 0
}
