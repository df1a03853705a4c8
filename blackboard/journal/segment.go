package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sort"
	"strconv"
	"strings"
)

// segment is the open live file. Its counter lets a sync go on while another
// goroutine moves to a newer file; Journal.mu guards it.
type segment struct {
	file  File
	info  fs.FileInfo
	first Head   // of its first record
	prev  string // the hash its first record names
	named bool   // its name is known durable
	why   error  // why it is open for reading only; nil if it can be written
	users int
}

func (s *segment) release() {
	s.users--
	if s.users == 0 {
		_ = s.file.Close() // nothing is buffered, and syncs were checked
	}
}

// openLive opens the log for appending, or just for reading if that is all the
// system allows.
func (j *Journal) openLive() (*segment, error) {
	name := j.livePath
	file, why := j.fsys.OpenFile(name, os.O_RDWR|os.O_APPEND, filePerm)
	if why != nil {
		var err error
		if file, err = j.fsys.OpenFile(name, os.O_RDONLY, 0); err != nil {
			return nil, j.missingLog(err)
		}
	}
	seg := &segment{file: file, why: why, users: 1}
	err := func() (err error) {
		if seg.info, err = file.Stat(); err != nil {
			return storageError("open the log", name, err)
		}
		first, err := j.firstRecord(file)
		if err != nil {
			return err
		}
		seg.first, seg.prev = first.Head(), first.Prev
		return nil
	}()
	if err != nil {
		seg.release()
		return nil, err
	}
	return seg, nil
}

// firstRecord reads the first line of a live file. It was durable before the file
// got its name.
func (j *Journal) firstRecord(file File) (Record, error) {
	line, _, err := newLineReader(file, 0).next()
	var failed *readError
	if errors.As(err, &failed) {
		return Record{}, storageError("read the log", j.livePath, err)
	}
	var r Record
	if err == nil {
		r, err = Decode(line)
	}
	if err == io.EOF {
		err = errors.New("the file is empty")
	}
	if err != nil {
		return Record{}, &CorruptError{Path: j.livePath, Line: 1, Why: err.Error()}
	}
	return r, nil
}

// archived is a closed segment, as its name tells.
type archived struct {
	name        string
	first, last uint64
}

func archivedName(first, last uint64) string {
	return fmt.Sprintf("log-%012d-%012d.jsonl", first, last)
}

func parseArchived(name string) (archived, bool) {
	rest, ok := strings.CutPrefix(name, "log-")
	if !ok {
		return archived{}, false
	}
	if rest, ok = strings.CutSuffix(rest, ".jsonl"); !ok {
		return archived{}, false
	}
	from, to, ok := strings.Cut(rest, "-")
	if !ok {
		return archived{}, false
	}
	first, err1 := strconv.ParseUint(from, 10, 64)
	last, err2 := strconv.ParseUint(to, 10, 64)
	if err1 != nil || err2 != nil || first == 0 || last < first {
		return archived{}, false
	}
	return archived{name: name, first: first, last: last}, true
}

// listArchived returns the closed segments, oldest first.
func (j *Journal) listArchived() ([]archived, error) {
	names, err := j.fsys.ReadDir(j.path(archiveName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, storageError("list closed segments", j.path(archiveName), err)
	}
	var list []archived
	for _, name := range names {
		if a, ok := parseArchived(name); ok {
			list = append(list, a)
		}
	}
	sort.Slice(list, func(i, k int) bool { return list[i].first < list[k].first })
	return list, nil
}

// dropStaleLinks removes names that an interrupted rotation gave the live file.
func (j *Journal) dropStaleLinks(live *segment) error {
	list, err := j.listArchived()
	if err != nil {
		return err
	}
	for _, a := range list {
		if a.first != live.first.Seq {
			continue
		}
		name := j.path(archiveName, a.name)
		info, err := j.fsys.Stat(name)
		if err != nil || !j.fsys.SameFile(info, live.info) {
			continue
		}
		if err := j.fsys.Remove(name); err != nil {
			return storageError("remove the name of an interrupted rotation", name, err)
		}
	}
	return nil
}

// starts remembers where the latest lines of the live file begin.
type starts struct {
	first   uint64 // Seq of offsets[0]
	offsets []int64
}

// keepStarts bounds starts: 128 KiB of memory, and more lines than are usually
// added between two looks of one process.
const keepStarts = 1 << 14

func (s *starts) add(seq uint64, offset int64) {
	if seq != s.first+uint64(len(s.offsets)) {
		s.first, s.offsets = seq, s.offsets[:0]
	}
	if len(s.offsets) == keepStarts {
		half := len(s.offsets) / 2
		s.offsets = append(s.offsets[:0], s.offsets[half:]...)
		s.first += uint64(half)
	}
	s.offsets = append(s.offsets, offset)
}

func (s *starts) find(seq uint64) (int64, bool) {
	if seq < s.first || seq-s.first >= uint64(len(s.offsets)) {
		return 0, false
	}
	return s.offsets[seq-s.first], true
}
