package main

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"time"

	"orch/blackboard"
	"orch/blackboard/journal"
	"orch/roles/auditor"
	"orch/roles/run/config"
)

// measureAudit reads a long log as the auditor does, and a longer one: how fast,
// and with how much memory.
func measureAudit(ctx context.Context, b *bench) ([]result, error) {
	var rates []float64
	var cpu []time.Duration // per message
	var sysBytes []int64
	var messages int64
	for _, size := range []int{b.pick(300_000, 20_000), b.pick(1_000_000, 60_000)} {
		h, err := b.history(ctx, size)
		if err != nil {
			return nil, err
		}
		rates, cpu = nil, nil
		var most int64
		err = turns(ctx, b.pick(3, 1), func(counts bool) error {
			n, used, err := b.resultAndCPU(ctx, "audit", h.root)
			if err == nil && counts {
				messages, most = n[0], max(most, n[2])
				rates = append(rates, float64(n[0])/time.Duration(n[1]).Seconds())
				cpu = append(cpu, used/time.Duration(n[0]))
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		sysBytes = append(sysBytes, most)
	}
	rate := median(rates)
	grown := float64(sysBytes[1]) / float64(sysBytes[0])
	return []result{
		{what: fmt.Sprintf("audit of %d messages", messages), bar: "≥ 200000 messages/s", measured: fmt.Sprintf("%.0f messages/s", rate), verdict: meets(rate >= 200_000),
			notes: []string{fmt.Sprintf("CPU time per message, start of the process included: %s over two threads", median(cpu))}},
		{what: "memory of the audit of the longer log", bar: "≤ 1.1 × that of the shorter", measured: fmt.Sprintf("%.1f MB", float64(sysBytes[1])/1e6),
			floor: fmt.Sprintf("%.1f MB, %s", float64(sysBytes[0])/1e6, times(grown)), verdict: meets(grown <= 1.1)},
	}, nil
}

// childAudit prints how many messages the auditor read, the nanoseconds it took,
// and the bytes the process got from the system.
func childAudit(ctx context.Context, root string) error {
	if err := awaitStart(); err != nil {
		return err
	}
	began := time.Now()
	a, err := auditor.Survey(ctx, filepath.Join(root, blackboard.DirName), journal.Options{}, config.Default().Audit, auditor.Window{}, began, nil)
	if err != nil {
		return err
	}
	took := time.Since(began)
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fmt.Println(a.Figures().Messages, took.Nanoseconds(), m.Sys)
	return nil
}
