package blackboard

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"orch/blackboard/journal"
	"orch/blackboard/message"
)

// unsynced makes preparing a large board bearable: nothing of it is measured.
type unsynced struct{ journal.OSFS }

type unsyncedFile struct{ journal.File }

func (unsyncedFile) Sync() error { return nil }

func (unsynced) SyncDir(string) error { return nil }

func (u unsynced) OpenFile(name string, flag int, perm os.FileMode) (journal.File, error) {
	f, err := u.OSFS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return unsyncedFile{f}, nil
}

// prepared makes a board with tasks, made in large batches, and notes on top.
func prepared(b *testing.B, tasks, notes int, o Options) string {
	b.Helper()
	root := b.TempDir()
	o.Identity, o.FS = personOptions.Identity, unsynced{}
	board, err := Init(root, o)
	if err != nil {
		b.Fatal(err)
	}
	addTasks(b, board, tasks)
	for n := range notes {
		mustAppend(b, board, message.HumanNote{For: "planner", Message: fmt.Sprint("note ", n)})
	}
	if err := board.Close(); err != nil {
		b.Fatal(err)
	}
	syncAll(b, root)
	return root
}

// syncAll has the disk done with the preparation before anything is measured.
func syncAll(b *testing.B, root string) {
	b.Helper()
	for name := range filesIn(b, root) {
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if err == nil {
			err = f.Sync()
		}
		if err == nil {
			err = f.Close()
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

// claimFirst is what `orch task claim` does.
func claimFirst(root string) error {
	b, err := Open(root, boardOptions("executor-1", message.Executor))
	if err != nil {
		return err
	}
	_, err = b.AppendFunc(quiet, func(s *State) (message.Message, error) {
		for t := range s.Claimable(message.Executor) {
			return message.Message{Subject: string(t.ID), Body: message.Claimed{Task: t.ID, Agent: "executor-1", Fence: t.Fence + 1}}, nil
		}
		return message.Message{}, fmt.Errorf("nothing to claim")
	})
	if closeErr := b.Close(); err == nil {
		err = closeErr
	}
	return err
}

// BenchmarkClaimProcess measures the whole process, and against the same binary
// that does nothing. Bars: 15 ms at 1,000 tasks, 1.5 times that at 100,000.
func BenchmarkClaimProcess(b *testing.B) {
	for _, tasks := range []int{0, 1000, 100_000} {
		b.Run(fmt.Sprint("tasks=", tasks), func(b *testing.B) {
			root := "" // just fork and exec
			if tasks > 0 {
				root = prepared(b, tasks, 0, Options{})
			}
			var cpu time.Duration
			for b.Loop() {
				cmd := exec.Command(os.Args[0])
				cmd.Env = append(os.Environ(), claimerVariable+"="+root+"\n")
				cmd.Stderr = os.Stderr
				if err := cmd.Run(); err != nil {
					b.Fatal(err)
				}
				cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
			}
			b.ReportMetric(float64(cpu.Microseconds())/1000/float64(b.N), "cpu-ms/process")
		})
	}
}

// BenchmarkClaim is the same within one process.
func BenchmarkClaim(b *testing.B) {
	for _, tasks := range []int{1000, 100_000} {
		b.Run(fmt.Sprint("tasks=", tasks), func(b *testing.B) {
			root := prepared(b, tasks, 0, Options{})
			for b.Loop() {
				if err := claimFirst(root); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkStatus opens a board of 300,000 messages and counts. Bar: 50 ms.
func BenchmarkStatus(b *testing.B) {
	root := prepared(b, 1000, 300_000, Options{})
	for b.Loop() {
		board, err := Open(root, Options{ReadOnly: true})
		if err != nil {
			b.Fatal(err)
		}
		if err := board.View(quiet, func(s *State) error { _ = s.Counts(""); _ = s.OpenGoals(); return s.Err() }); err != nil {
			b.Fatal(err)
		}
		if err := board.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReplay reports messages per second of a full fold.
func BenchmarkReplay(b *testing.B) {
	root := prepared(b, 1000, 50_000, Options{})
	board := mustOpen(b, root, Options{ReadOnly: true})
	var messages uint64
	for b.Loop() {
		report, err := board.Replay(quiet)
		if err != nil || len(report.Differences) > 0 {
			b.Fatal(report, err)
		}
		messages += report.Messages
	}
	b.ReportMetric(float64(messages)/b.Elapsed().Seconds(), "messages/s")
}

// BenchmarkOpenAfterCrash opens a board of many archived messages that a crash
// left with a torn tail. Bar: 100 ms at 1,000,000.
func BenchmarkOpenAfterCrash(b *testing.B) {
	notes := 50_000
	if os.Getenv("ORCH_TORTURE") != "" {
		notes = 1_000_000
	}
	root := prepared(b, 1000, notes, Options{})
	dir := root + "/" + DirName
	for b.Loop() {
		b.StopTimer()
		log, err := os.OpenFile(dir+"/log.jsonl", os.O_WRONLY|os.O_APPEND, 0)
		if err == nil {
			_, err = log.WriteString(`{"seq":12,"ts":"20`)
		}
		if err == nil {
			err = log.Close()
		}
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		board, err := Open(root, personOptions)
		if err != nil {
			b.Fatal(err)
		}
		mustAppend(b, board, message.HumanNote{For: "planner", Message: "again"})
		if err := board.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAppend measures a durable append next to a bare write and fsync.
func BenchmarkAppend(b *testing.B) {
	b.Run("bare", func(b *testing.B) {
		f, err := os.Create(b.TempDir() + "/bare")
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		line := make([]byte, 500)
		for b.Loop() {
			if _, err := f.Write(line); err != nil {
				b.Fatal(err)
			}
			if err := f.Sync(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("board", func(b *testing.B) {
		board := mustInit(b, b.TempDir(), personOptions)
		for b.Loop() {
			mustAppend(b, board, message.HumanNote{For: "planner", Message: "a note"})
		}
	})
}
