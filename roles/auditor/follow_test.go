package auditor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"orch/blackboard/journal"
	"orch/blackboard/message"
	"orch/roles/run/config"
)

// meteredFS counts what is read of the board's log.
type meteredFS struct {
	journal.OSFS
	readBytes *atomic.Int64
}

type meteredFile struct {
	journal.File
	readBytes *atomic.Int64
}

func (m meteredFS) OpenFile(name string, flag int, perm fs.FileMode) (journal.File, error) {
	f, err := m.OSFS.OpenFile(name, flag, perm)
	if err != nil || filepath.Base(name) != "log.jsonl" {
		return f, err
	}
	return meteredFile{f, m.readBytes}, nil
}

func (m meteredFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := m.File.ReadAt(p, off)
	m.readBytes.Add(int64(n))
	return n, err
}

func (m meteredFile) Read(p []byte) (int, error) {
	n, err := m.File.Read(p)
	m.readBytes.Add(int64(n))
	return n, err
}

// Who follows is told of what was there and of what lands, reads the log once,
// and leaves the resident's offset alone.
func TestWhoFollowsReadsTheLogOnce(t *testing.T) {
	s := newSite(t)
	log := faulty(t)
	for range 40 { // so that reading it all again would show
		log.say(message.Anomaly{Kind: "others", Details: map[string]string{"what": strings.Repeat("x", 50_000)}}, said{from: message.Executor})
	}
	s.write(log)
	info, err := os.Stat(filepath.Join(s.dir, "log.jsonl"))
	if err != nil || info.Size() < 2_000_000 {
		t.Fatalf("a log of %d bytes: %v", info.Size(), err)
	}
	var readBytes atomic.Int64
	told := make(chan int)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := Resident{BoardDir: s.dir, AuditDir: s.audit(), Params: config.Default().Audit, Journal: journal.Options{FS: meteredFS{journal.OSFS{}, &readBytes}},
		Now: func() time.Time { return time.Date(2026, 1, 2, 3, 2, 0, 0, time.UTC) }, Warn: func(err error) { t.Log(err) }, Anew: true,
		Found: func(all []Finding) {
			select {
			case told <- len(all):
			case <-ctx.Done():
			}
		}}
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	await := func(want int) {
		for {
			select {
			case n := <-told:
				if n == want {
					return
				}
			case err := <-ended:
				t.Fatalf("ended before %d were found: %v", want, err)
			}
		}
	}
	await(3)
	once := readBytes.Load()
	if once < info.Size() {
		t.Fatalf("read %d bytes of %d", once, info.Size())
	}
	for n := range 3 {
		log.draft("t1", "p")
		s.write(log)
		await(4 + n)
	}
	if more := readBytes.Load() - once; more > info.Size()/4 {
		t.Errorf("read %d bytes more for three messages", more)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(s.audit(), "run", offsetFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an offset was noted: %v", err)
	}
}
