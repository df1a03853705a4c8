package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"orch/blackboard"
	"orch/blackboard/journal"
	"orch/blackboard/message"
)

// childArg as the first argument makes this program one of the processes that
// a measurement needs; what it does follows.
const childArg = "child"

// A child says ready when it may begin, and begins when its input ends or has a
// line for it, so that the time it needs to start is not measured.
const ready = "ready"

func child(ctx context.Context, args []string) error {
	what, args := args[0], args[1:]
	switch what {
	case "append":
		return childAppend(ctx, args[0], args[1])
	case "append-journal":
		return childJournal(ctx, args[0], args[1])
	case "append-bare":
		return childBare(args[0], args[1], args[2])
	case "watch":
		return childWatch(ctx, args[0])
	case "wake":
		return childWake(ctx, args[0])
	case "grow":
		return childGrow(ctx, args[0], args[1])
	case "open":
		return childOpen(ctx, args[0])
	case "replay":
		return childReplay(ctx, args[0])
	case "audit":
		return childAudit(ctx, args[0])
	}
	return fmt.Errorf("no child does %q", what)
}

// awaitStart says that this child is ready and waits for the word.
func awaitStart() error {
	fmt.Println(ready)
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return fmt.Errorf("wait for the start: %w", err)
	}
	return nil
}

// person is who says everything in a bench.
func person() blackboard.Identity {
	return blackboard.Identity{Agent: "human-1", Speaks: []message.Role{message.Human, message.Board, message.Executor}}
}

func options(fsys journal.FS) (blackboard.Options, error) {
	state, err := blackboard.UserStateDir(os.Getenv)
	return blackboard.Options{FS: fsys, StateDir: state, Identity: person()}, err
}

// openBoard opens the board of a project as the person.
func openBoard(root string, fsys journal.FS) (*blackboard.Board, error) {
	o, err := options(fsys)
	if err != nil {
		return nil, fmt.Errorf("find the state directory: %w", err)
	}
	return blackboard.Open(root, o)
}

// helper is a running child.
type helper struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// start starts a child and waits until it is ready.
func (b *bench) start(ctx context.Context, args ...string) (*helper, error) {
	cmd := b.command(ctx, b.temp, b.self, append([]string{childArg}, args...)...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start a child: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start a child: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a child: %w", err)
	}
	h := &helper{cmd, in, bufio.NewReader(out)}
	line, err := h.out.ReadString('\n')
	if err != nil || strings.TrimSpace(line) != ready {
		h.kill()
		return nil, fmt.Errorf("child %s did not get ready: %q", strings.Join(args, " "), line)
	}
	return h, nil
}

// wait lets the child begin, if it has not, and waits for its end. It returns
// what the child said.
func (h *helper) wait() (string, error) {
	_ = h.in.Close() // it is closed already if the child has begun
	said, err := io.ReadAll(h.out)
	if werr := h.cmd.Wait(); werr != nil {
		err = fmt.Errorf("child %s: %w", strings.Join(h.cmd.Args[2:], " "), werr)
	}
	return strings.TrimSpace(string(said)), err
}

// kill ends the child at once.
func (h *helper) kill() {
	_ = h.cmd.Process.Kill() // an error means that it has ended
	_ = h.in.Close()
	_ = h.cmd.Wait() // it was killed
}

// result runs a child to its end and reads the numbers that it prints.
func (b *bench) result(ctx context.Context, args ...string) ([]int64, error) {
	numbers, _, err := b.resultAndCPU(ctx, args...)
	return numbers, err
}

// resultAndCPU is result, with the CPU time of the whole child.
func (b *bench) resultAndCPU(ctx context.Context, args ...string) (numbers []int64, cpu time.Duration, err error) {
	h, err := b.start(ctx, args...)
	if err != nil {
		return nil, 0, err
	}
	said, err := h.wait()
	if err != nil {
		return nil, 0, err
	}
	for _, word := range strings.Fields(said) {
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return nil, 0, fmt.Errorf("child %s said %q: %w", args[0], said, err)
		}
		numbers = append(numbers, n)
	}
	return numbers, h.cmd.ProcessState.UserTime() + h.cmd.ProcessState.SystemTime(), nil
}

// together starts the same work in several processes and returns how long it
// took from the word to begin until the last had ended.
func (b *bench) together(ctx context.Context, processes int, args ...string) (time.Duration, error) {
	all := make([]*helper, 0, processes)
	defer func() {
		for _, h := range all {
			h.kill()
		}
	}()
	for range processes {
		h, err := b.start(ctx, args...)
		if err != nil {
			return 0, err
		}
		all = append(all, h)
	}
	began := time.Now()
	for _, h := range all {
		if err := h.in.Close(); err != nil {
			return 0, fmt.Errorf("let a child begin: %w", err)
		}
	}
	for _, h := range all {
		if _, err := h.wait(); err != nil {
			return 0, err
		}
	}
	took := time.Since(began)
	all = nil
	return took, nil
}
