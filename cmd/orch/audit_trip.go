package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"orch/roles/auditor"
	"orch/roles/run/supervisor"
)

// trips reads the findings that call for a stop from audit.jsonl. The file is
// read again only when it changed.
func (a *app) trips(root string) func() ([]supervisor.Trip, error) {
	path := filepath.Join(auditDir(root), auditor.LedgerName)
	var known []supervisor.Trip
	var seen time.Time
	var size int64 = -1
	return func() ([]supervisor.Trip, error) {
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil // the auditor has not begun yet
		}
		if err != nil {
			return nil, err
		}
		if info.Size() == size && info.ModTime().Equal(seen) {
			return known, nil
		}
		entries, err := auditor.ReadLedger(auditDir(root), a.auditOptions())
		if err != nil {
			return nil, err
		}
		known, seen, size = nil, info.ModTime(), info.Size()
		for _, e := range entries {
			if f := e.Finding; f.Trips {
				known = append(known, supervisor.Trip{Finding: f.ID, Goal: f.Goal, Severity: string(f.Severity), Evidence: f.Seqs,
					Report: fmt.Sprintf("%s (%s); orch audit --query 'id = %s'", f.Message, f.Severity, f.ID)})
			}
		}
		return known, nil
	}
}
