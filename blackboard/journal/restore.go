package journal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"orch/blackboard/plainfile"
)

// RestoreOptions say what a log is put together from.
type RestoreOptions struct {
	Known  []Known  // heads that the log is known to have had
	Copies []string // files of other copies of the log
	// Fits returns how many of the records, from the first on, the owner of the log
	// takes. Nil: all.
	Fits func(iter.Seq2[Record, error]) (int, error)
	// Accept gives up what is known to have been there and is nowhere now.
	Accept bool
}

// Restored says what Restore did.
type Restored struct {
	Head     Head // the zero Head: no record was whole, and there is no log now
	Changed  bool // the log is another one than before
	Copied   int  // records that only a copy had
	LostFrom uint64
	LostTo   uint64 // records known to have been there that were given up; 0 for none
	Foreign  int    // records that were in the log and do not belong to it
	Kept     string // where the files that were replaced are now; empty if none was
	Bytes    int64  // in them
}

// LossError: records that were durable once are in none of the files.
type LossError struct {
	From, To uint64 // From 0: every one
	Source   string // what remembers the last one
	Copies   bool   // copies were looked at
}

func (e *LossError) Error() string {
	where := "in no file of the log"
	if e.Copies {
		where = "neither in the log nor in the copy"
	}
	if e.From >= e.To {
		return fmt.Sprintf("message %d, which %s remembers, is %s", e.To, e.Source, where)
	}
	return fmt.Sprintf("messages %d to %d are %s; %s remembers the last", e.From, e.To, where, e.Source)
}

// Restore puts the log together again: from every whole line in its own files,
// in whatever order and whatever stands between them, and from copies. What it
// takes is one chain of records that prove each other. The files it replaces are
// kept under archive/; nothing is removed. If something is known to have been
// there and is nowhere, it returns a LossError and changes nothing, unless that is
// accepted. Afterwards run/head remembers the new log; notes elsewhere are for
// the caller to replace.
func Restore(ctx context.Context, dir string, opts Options, o RestoreOptions) (Restored, error) {
	j := newJournal(dir, opts)
	defer j.Close()
	leave, err := j.appending.enter(ctx)
	if err != nil {
		return Restored{}, err
	}
	defer leave()
	p, err := j.gather(o.Copies)
	if err != nil {
		return Restored{}, err
	}
	defer p.close()
	chain := p.best(o.Known)
	if len(chain) > 0 && o.Fits != nil {
		n, err := o.Fits(p.records(chain))
		if err != nil {
			return Restored{}, err
		}
		chain = chain[:n]
	}
	report, loss := p.judge(chain, o)
	if loss != nil && !o.Accept {
		return report, loss
	}
	if ctx.Err() != nil {
		return Restored{}, ctx.Err()
	}
	return report, j.replaceBy(p, chain, &report)
}

// records yields those of a chain.
func (p *pool) records(chain []digest) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for _, key := range chain {
			r, _, err := p.read(key)
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// judge says what a chain brings and what it lacks.
func (p *pool) judge(chain []digest, o RestoreOptions) (Restored, error) {
	var r Restored
	on := make(map[digest]bool, len(chain))
	for _, key := range chain {
		on[key] = true
		if !p.found[key].owned {
			r.Copied++
		}
	}
	if n := len(chain); n > 0 {
		r.Head = Head{Seq: p.found[chain[n-1]].seq, Hash: fmt.Sprintf("%x", chain[n-1])}
	}
	loss := LossError{Copies: len(o.Copies) > 0}
	lose := func(seq uint64, source string) {
		if seq > loss.To {
			loss.To, loss.Source = seq, source
		}
	}
	vouched, highest := false, uint64(0)
	for _, k := range o.Known {
		if k.Outside && k.Seq >= highest {
			vouched, highest = on[digestOf(k.Hash)], k.Seq
		}
	}
	for _, k := range o.Known {
		refuted := vouched && !k.Outside && k.Seq <= highest // another one is known to be there
		if !on[digestOf(k.Hash)] && !refuted {
			lose(k.Seq, k.Source)
		}
	}
	for key, at := range p.found {
		if on[key] || !at.owned {
			continue
		}
		r.Foreign++
		// What follows something that is gone may have been acknowledged. A branch
		// that forks off was not, if the chain is the one that is vouched for.
		if at.seq > r.Head.Seq && (!at.rooted || !vouched && !loss.Copies) {
			lose(at.seq, "a later line of the log")
		}
	}
	if loss.To == 0 {
		return r, nil
	}
	if loss.From = r.Head.Seq + 1; loss.From > loss.To {
		loss.From = loss.To // another one is in its place
	}
	r.LostFrom, r.LostTo = loss.From, loss.To
	return r, &loss
}

// replaceBy makes a chain the log. orch.lock must be held.
func (j *Journal) replaceBy(p *pool, chain []digest, report *Restored) error {
	whole, err := j.wholeFiles(p, chain)
	if err != nil {
		return err
	}
	if whole < 0 {
		return j.believe(report.Head)
	}
	report.Changed = true
	folder, err := j.makeFolder("replaced-")
	if err != nil {
		return err
	}
	report.Kept = folder
	if err := j.keepLive(filepath.Join(folder, j.liveName()), report); err != nil {
		return err
	}
	if len(chain) == 0 {
		if err := j.fsys.Remove(j.livePath); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return storageError("restore the log", j.livePath, err)
		}
	} else if err := j.writeChain(p, chain[whole:]); err != nil {
		return storageError("restore the log", j.livePath, err)
	}
	if err := j.keepStale(p, chain, whole, folder, report); err != nil {
		return err
	}
	return j.believe(report.Head)
}

// wholeFiles returns how many records of the chain are in closed segments that
// are as they should be; what is behind them has to be written. It returns -1 if
// the live file is as it should be as well.
func (j *Journal) wholeFiles(p *pool, chain []digest) (int, error) {
	list, err := j.listArchived()
	if err != nil {
		return 0, err
	}
	done := 0
	for _, a := range list {
		n, err := j.isPart(p, j.path(archiveName, a.name), chain[done:])
		if err != nil {
			return 0, err
		}
		if n == 0 || p.found[chain[done]].seq != a.first || p.found[chain[done+n-1]].seq != a.last {
			if j.sameAsLive(a) {
				continue // the name an interrupted rotation gave the live file
			}
			return done, nil
		}
		if done += n; done == len(chain) {
			return 0, nil // nothing is left for the live file: all in one then
		}
	}
	n, err := j.isPart(p, j.livePath, chain[done:])
	if err == nil && n > 0 && done+n == len(chain) {
		return -1, nil
	}
	return done, err
}

func (j *Journal) sameAsLive(a archived) bool {
	live, err := j.fsys.Stat(j.livePath)
	if err != nil {
		return false
	}
	info, err := j.fsys.Stat(j.path(archiveName, a.name))
	return err == nil && j.fsys.SameFile(info, live)
}

// isPart says how many records of the chain, from its first on, a file consists
// of; 0 if it holds anything else.
func (j *Journal) isPart(p *pool, name string, chain []digest) (int, error) {
	file, err := j.fsys.OpenFile(name, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) || isNotFile(err) {
		return 0, nil
	}
	if err != nil {
		return 0, storageError("read the log", name, err)
	}
	defer file.Close()
	lines := newLineReader(file, 0)
	for n := 0; ; n++ {
		line, _, err := lines.next()
		var failed *readError
		if errors.As(err, &failed) {
			return 0, storageError("read the log", name, err)
		}
		if err != nil {
			if info, serr := file.Stat(); serr == nil && lines.off == info.Size() {
				return n, nil
			}
			return 0, nil
		}
		f, err := parseFrame(line)
		if err != nil || n >= len(chain) || digestOf(f.hash) != chain[n] {
			return 0, nil
		}
	}
}

// writeChain makes records the live file. A crash leaves the old one or the new.
func (j *Journal) writeChain(p *pool, chain []digest) error {
	next := j.path(nextName)
	file, err := j.fsys.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, filePerm)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(file, biteBytes)
	for _, key := range chain {
		var line []byte
		if _, line, err = p.read(key); err == nil {
			_, err = out.Write(append(line, '\n'))
		}
		if err != nil {
			break
		}
	}
	if err == nil {
		err = out.Flush()
	}
	if err == nil {
		err = file.Sync()
	}
	if cerr := file.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = j.fsys.Rename(next, j.livePath)
	}
	if err != nil {
		_ = j.fsys.Remove(next) // the error that matters is the first
		return err
	}
	return j.fsys.SyncDir(j.dir)
}

// keepLive gives the live file, or what is in its place, a name in folder.
func (j *Journal) keepLive(to string, report *Restored) error {
	info, err := j.fsys.Stat(j.livePath)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && info.Mode().IsRegular() {
		report.Bytes += info.Size()
		err = j.fsys.Link(j.livePath, to)
		if err != nil { // no second names there
			err = j.fsys.Rename(j.livePath, to)
		}
	} else {
		err = j.fsys.Rename(j.livePath, to)
	}
	if err == nil {
		err = j.fsys.SyncDir(filepath.Dir(to))
	}
	return storageError("keep the log that is replaced", to, err)
}

// keepStale moves closed segments that the live file has the records of now.
func (j *Journal) keepStale(p *pool, chain []digest, whole int, folder string, report *Restored) error {
	list, err := j.listArchived()
	if err != nil {
		return err
	}
	kept := func(a archived) bool {
		return slices.ContainsFunc(chain[:whole], func(key digest) bool { return p.found[key].seq == a.first })
	}
	for _, a := range list {
		if kept(a) {
			continue
		}
		name := j.path(archiveName, a.name)
		if info, err := j.fsys.Stat(name); err == nil {
			report.Bytes += info.Size()
		}
		if err := j.fsys.Rename(name, filepath.Join(folder, a.name)); err != nil {
			return storageError("keep a segment that is replaced", name, err)
		}
	}
	for _, dir := range []string{folder, j.path(archiveName)} {
		if err := j.fsys.SyncDir(dir); err != nil {
			return storageError("keep the log that is replaced", dir, err)
		}
	}
	return nil
}

// believe makes run/head remember the log as it is now, and lets writers in.
func (j *Journal) believe(head Head) error {
	if err := j.makeRunDir(); err != nil {
		return err
	}
	for _, name := range []string{j.headPath, j.poisonPath} {
		if err := j.putAway(name); err != nil {
			return storageError("forget the old head", name, err)
		}
	}
	if head.Seq == 0 {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return storageError("note the durable head", j.headPath, j.writeHead(head))
}

// putAway removes a file, or moves what is none aside.
func (j *Journal) putAway(name string) error {
	err := j.fsys.Remove(name)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	folder, ferr := j.makeFolder("replaced-")
	if ferr != nil {
		return errors.Join(err, ferr)
	}
	return j.fsys.Rename(name, filepath.Join(folder, filepath.Base(name)))
}

// makeFolder makes a folder in the archive, named after the time.
func (j *Journal) makeFolder(prefix string) (string, error) {
	if err := j.makeArchive(); err != nil {
		return "", err
	}
	stamp := j.opts.Clock.Now().UTC().Format("20060102T150405.000000000Z")
	for n := 1; ; n++ {
		name := j.path(archiveName, fmt.Sprintf("%s%s-%d", prefix, stamp, n))
		if _, err := j.fsys.Stat(name); err == nil {
			continue
		}
		if err := j.fsys.MkdirAll(name, dirPerm); err != nil {
			return "", storageError("make a directory", name, err)
		}
		return name, storageError("make a directory", name, j.fsys.SyncDir(j.path(archiveName)))
	}
}

func isNotFile(err error) bool { return plainfile.NoFile(err) }
