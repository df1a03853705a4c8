package journal

import (
	"context"
	"errors"
	"io/fs"
	"time"
)

// RepairReport says what Repair found and did.
type RepairReport struct {
	Head     Head
	Poisoned bool  // appends were refused before
	Torn     *Torn // what was set aside, or nil
}

// Repair opens the log to writers again after a failed sync. It checks every line
// of the live file and copies the good ones into a new file, whose pages are the
// ones that get synced; what follows them is set aside. It refuses, and changes
// nothing, if a line is damaged that was durable once.
func (j *Journal) Repair(ctx context.Context) (RepairReport, error) {
	leave, err := j.appending.enter(ctx)
	if err != nil {
		return RepairReport{}, err
	}
	defer leave()
	if err := j.makeRunDir(); err != nil {
		return RepairReport{}, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return RepairReport{}, ErrClosed
	}
	return j.repair()
}

func (j *Journal) repair() (RepairReport, error) {
	var report RepairReport
	report.Poisoned = j.checkPoisonFile() != nil || j.poison != ""
	seg, err := j.openLive()
	if err != nil {
		return report, err
	}
	defer seg.release()
	noted := j.readHead()
	lines := newLineReader(seg.file, 0)
	end := int64(0)
	bad, err := j.walk(lines, Head{}, func(f frame, _ time.Time, _ int64) {
		report.Head, end = f.head(), lines.off
	})
	if err == nil && bad != nil {
		err = j.judge(seg.file, bad, noted)
	}
	if err == nil && noted.Seq > report.Head.Seq {
		err = &WentBackwardsError{Source: j.headPath, Noted: noted, Found: report.Head}
	}
	if err != nil {
		return report, err
	}
	if bad != nil {
		torn, err := j.copyTorn(seg.file, bad)
		if err != nil {
			return report, err
		}
		report.Torn = &torn
	}
	if err := j.dropStaleLinks(seg); err != nil {
		return report, err
	}
	// Should we die before the new file's name is durable, nobody may append to
	// it: whoever comes next has to repair again.
	if !report.Poisoned {
		if err := j.closeToWriters("a repair was not finished"); err != nil {
			return report, storageError("repair the log", j.poisonPath, err)
		}
	}
	if err := j.reinstall(end); err != nil {
		return report, storageError("repair the log", j.livePath, err)
	}
	return report, j.reopen(&report)
}

// reinstall makes a copy of the first size bytes the live file.
func (j *Journal) reinstall(size int64) error {
	content, err := j.readAll(size)
	if err != nil {
		return err
	}
	return j.install(content)
}

// reopen lets writers in again, and reports what was set aside.
func (j *Journal) reopen(report *RepairReport) error {
	name := j.poisonPath
	if err := j.fsys.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return storageError("open the log to writers", name, err)
	}
	if err := j.fsys.SyncDir(j.path(runName)); err != nil {
		return storageError("open the log to writers", name, err)
	}
	if _, err := j.refresh(); err != nil {
		return err
	}
	if err := j.writeHead(report.Head); err != nil {
		return storageError("note the durable head", j.headPath, err)
	}
	j.durable = max(j.durable, report.Head.Seq)
	if report.Torn == nil {
		return nil
	}
	return j.report(*report.Torn)
}
