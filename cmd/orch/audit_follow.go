package main

import (
	"context"
	"path/filepath"
	"time"

	"orch/blackboard"
	"orch/roles/auditor"
)

// followAudit prints findings as they land in the log, until ctx is done. It looks
// for them itself, so that it needs no resident, and reads the log once.
func (a *app) followAudit(ctx context.Context, p auditPicker) error {
	root, err := a.root()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	printed, warned := map[string]bool{}, ""
	var failed error
	r := auditor.Resident{
		BoardDir: filepath.Join(root, blackboard.DirName), AuditDir: auditDir(root), Params: a.auditSettings(ctx, root),
		Journal: a.auditOptions(), Now: time.Now, Anew: true, Known: blackboard.Known(root, a.options(person())),
		Warn: func(err error) {
			if warned != err.Error() { // what is tried again each second is said once
				warned = err.Error()
				a.warn(err)
			}
		},
		Found: func(all []auditor.Finding) {
			for _, f := range p.pick(all) {
				if printed[f.ID] || failed != nil {
					continue
				}
				printed[f.ID] = true
				if failed = a.printFinding(f); failed != nil {
					cancel()
				}
			}
		},
	}
	if err := r.Run(ctx); err != nil {
		return err
	}
	if failed == nil && len(printed) > 0 {
		return &exitError{code: exitFindings}
	}
	return failed
}
