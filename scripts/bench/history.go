package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"strconv"
	"time"

	"orch/blackboard"
	"orch/blackboard/journal"
	"orch/blackboard/message"
)

// history is a board with a long past: tasks that were claimed, extended and
// given back again and again. It grows as the bars need it.
type history struct {
	root     string
	messages int
}

// historyTasks is how many tasks the long board has.
const historyTasks = 2000

// history returns the long board with at least so many messages.
func (b *bench) history(ctx context.Context, messages int) (*history, error) {
	if b.grown == nil {
		root, err := b.boardOfTasks(ctx, historyTasks)
		if err != nil {
			return nil, err
		}
		b.grown = &history{root: root}
	}
	h := b.grown
	if h.messages >= messages {
		return h, nil
	}
	began := time.Now()
	n, err := b.result(ctx, "grow", h.root, strconv.Itoa(messages))
	if err != nil {
		return nil, err
	}
	h.messages = int(n[0])
	b.say("  %d messages after %s", h.messages, time.Since(began).Round(time.Millisecond))
	return h, nil
}

// endless is an argument of the grow child: until it is killed.
const endless = "endless"

// usualTail is how many of the last messages are appended with the usual
// options, so that what is left behind is what any run leaves.
const usualTail = 3000

// childGrow appends until the log has so many messages, and prints how many. It
// does not wait for the disk, and mostly leaves the cache alone: only what it
// leaves behind is measured.
func childGrow(ctx context.Context, root, until string) error {
	if err := awaitStart(); err != nil {
		return err
	}
	if until == endless {
		fmt.Println("growing")
		_, err := grow(ctx, root, math.MaxUint64, 0)
		return err
	}
	last, err := strconv.ParseUint(until, 10, 64)
	if err != nil {
		return err
	}
	if last > usualTail {
		if _, err := grow(ctx, root, last-usualTail, 50_000); err != nil {
			return err
		}
	}
	seq, err := grow(ctx, root, last, 0)
	fmt.Println(seq)
	return err
}

// grow appends until the log has last messages; checkpointMessages 0 is the
// usual number.
func grow(ctx context.Context, root string, last uint64, checkpointMessages int) (seq uint64, err error) {
	o, err := options(unsynced{})
	if err != nil {
		return 0, err
	}
	o.CheckpointMessages = checkpointMessages
	b, err := blackboard.Open(root, o)
	if err != nil {
		return 0, err
	}
	defer b.Close()
	if err := b.View(ctx, func(s *blackboard.State) error { seq, _ = s.Head(); return nil }); err != nil {
		return 0, err
	}
	for n := 0; seq < last; n++ {
		if seq, err = cycle(ctx, b, taskID(n%historyTasks)); err != nil {
			return 0, err
		}
	}
	return seq, nil
}

// cycle takes a task, keeps it for a while, and gives it back.
func cycle(ctx context.Context, b *blackboard.Board, id message.TaskID) (seq uint64, err error) {
	const extensions = 3
	for n := range extensions + 2 {
		m, err := b.AppendFunc(ctx, func(s *blackboard.State) (message.Message, error) {
			t, ok := s.Task(id)
			if !ok {
				return message.Message{}, fmt.Errorf("there is no task %s", id)
			}
			m := message.Message{From: message.Human, To: message.All, Subject: string(id), Fence: t.Fence}
			switch n {
			case 0:
				m.Fence++
				m.Body = message.Claimed{Task: id, Agent: "human-1", Fence: m.Fence, Lease: lease()}
			case extensions + 1:
				m.Body = message.Released{Task: id, Agent: "human-1", Fence: m.Fence, Reason: "somebody else knows better"}
			default:
				m.From = message.Executor
				m.Body = message.LeaseExtended{Task: id, Agent: "human-1", Fence: m.Fence, Lease: lease(), Progress: "the tests of the package pass"}
			}
			return m, nil
		})
		if err != nil {
			return 0, err
		}
		seq = m.Seq
	}
	return seq, nil
}

func lease() message.Lease {
	const lengthMS = 60_000
	return message.Lease{Boot: "a boot", AwakeMS: lengthMS, ExpiresAt: time.Now().UTC().Add(lengthMS * time.Millisecond)}
}

// unsynced is the real file system without the waiting, to make long logs.
type unsynced struct{ journal.OSFS }

type unsyncedFile struct{ journal.File }

func (unsyncedFile) Sync() error { return nil }

func (unsynced) SyncDir(string) error { return nil }

func (f unsynced) OpenFile(name string, flag int, perm os.FileMode) (journal.File, error) {
	file, err := f.OSFS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return unsyncedFile{file}, nil
}

// measureStatus runs orch status on a log of 300,000 messages.
func measureStatus(ctx context.Context, b *bench) ([]result, error) {
	h, err := b.history(ctx, b.pick(300_000, 20_000))
	if err != nil {
		return nil, err
	}
	var status, floor usage
	err = turns(ctx, b.pick(31, 7), b.turn(ctx, &status, h.root, "status"), b.turn(ctx, &floor, h.root, "version"))
	if err != nil {
		return nil, err
	}
	wall := median(status.wall)
	return []result{{
		what: fmt.Sprintf("orch status, %d messages", h.messages), bar: "≤ 50 ms", measured: status.String(),
		floor: floor.String() + " exec, " + times(median(ratios(status.wall, floor.wall))), verdict: meets(wall <= 50*time.Millisecond),
	}}, nil
}

// measureReplay folds the long log from its first message on.
func measureReplay(ctx context.Context, b *bench) ([]result, error) {
	h, err := b.history(ctx, b.pick(300_000, 20_000))
	if err != nil {
		return nil, err
	}
	var rates []float64
	var messages int64
	err = turns(ctx, b.pick(3, 1), func(counts bool) error {
		n, err := b.result(ctx, "replay", h.root)
		if err == nil && counts {
			messages = n[0]
			rates = append(rates, float64(n[0])/time.Duration(n[1]).Seconds())
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	rate := median(rates)
	return []result{{
		what: fmt.Sprintf("full replay of %d messages", messages), bar: "300000 messages/s (reported)", measured: fmt.Sprintf("%.0f messages/s", rate),
		floor: times(rate / 300_000), verdict: reported,
	}}, nil
}

// childReplay prints how many messages a full replay folded, and the
// nanoseconds it took.
func childReplay(ctx context.Context, root string) error {
	b, err := blackboard.Open(root, blackboard.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer b.Close()
	if err := awaitStart(); err != nil {
		return err
	}
	report, err := b.Replay(ctx)
	if err != nil {
		return err
	}
	if len(report.Differences) > 0 {
		return fmt.Errorf("the replay differs: %v", report.Differences)
	}
	fmt.Println(report.Messages, report.Took.Nanoseconds())
	return nil
}
