package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Torn tells of bytes that followed the last good line and were set aside. Nobody
// was ever told that they were written.
type Torn struct {
	Path   string // where they are now
	Offset int64  // where they were in the log
	Bytes  int64
	Why    string // what was wrong with the first of their lines
	After  uint64 // the last good record before them
}

// Recover does what the first append would do: it looks at the end of the log
// and sets aside what a crash left there. It is not needed before an append.
func (j *Journal) Recover(ctx context.Context) error {
	leave, err := j.appending.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return j.prepare()
}

// setAside moves everything from bad on into the archive and reports it. Both
// orch.lock and mu must be held.
func (j *Journal) setAside(bad *flaw) error {
	torn, err := j.copyTorn(j.live.file, bad)
	if err != nil {
		return err
	}
	if err := j.live.file.Truncate(bad.offset); err != nil {
		return storageError("cut off a torn tail", j.livePath, err)
	}
	if err := j.live.file.Sync(); err != nil {
		return j.poisonBySync(err)
	}
	return j.report(torn)
}

func (j *Journal) report(torn Torn) error {
	if j.opts.Repaired == nil {
		return nil
	}
	_, err := j.writeLineLocked(j.opts.Repaired(torn))
	return err
}

// copyTorn copies the bytes from bad on into a file of their own, durably.
func (j *Journal) copyTorn(file File, bad *flaw) (Torn, error) {
	info, err := file.Stat()
	if err != nil {
		return Torn{}, storageError("set aside a torn tail", j.livePath, err)
	}
	torn := Torn{Offset: bad.offset, Bytes: info.Size() - bad.offset, Why: bad.why, After: bad.seq - 1}
	if err := j.makeArchive(); err != nil {
		return Torn{}, err
	}
	out, err := j.createTorn(&torn)
	if err != nil {
		return Torn{}, storageError("set aside a torn tail", j.path(archiveName), err)
	}
	_, err = io.Copy(out, io.NewSectionReader(file, torn.Offset, torn.Bytes))
	if err == nil {
		err = out.Sync()
	}
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = j.fsys.SyncDir(j.path(archiveName))
	}
	if err != nil {
		return Torn{}, storageError("set aside a torn tail", torn.Path, err)
	}
	return torn, nil
}

// createTorn creates a file under a name that is not taken.
func (j *Journal) createTorn(torn *Torn) (File, error) {
	stamp := j.opts.Clock.Now().UTC().Format("20060102T150405.000000000Z")
	for n := 1; ; n++ {
		name := "torn-" + stamp
		if n > 1 {
			name = fmt.Sprintf("%s-%d", name, n)
		}
		torn.Path = j.path(archiveName, name)
		file, err := j.fsys.OpenFile(torn.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, filePerm)
		if !errors.Is(err, fs.ErrExist) {
			return file, err
		}
	}
}

// makeArchive makes the archive directory if somebody removed it.
func (j *Journal) makeArchive() error {
	name := j.path(archiveName)
	if _, err := j.fsys.Stat(name); err == nil {
		return nil
	}
	if err := j.fsys.MkdirAll(name, dirPerm); err != nil {
		return storageError("make a directory", name, err)
	}
	return storageError("make a directory", name, j.fsys.SyncDir(j.dir))
}
