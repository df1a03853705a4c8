package blackboard

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"orch/blackboard/message"
)

// The test binary is also the processes that race for claims. The variable
// holds: the project's directory, the number of tasks, the process's own number.
const racerVariable = "BLACKBOARD_TEST_RACER"

// And the process that claims one task of the board in the directory that the
// variable holds, before a newline.
const claimerVariable = "BLACKBOARD_TEST_CLAIMER"

func TestMain(m *testing.M) {
	if args := os.Getenv(racerVariable); args != "" {
		if err := racer(strings.Split(args, "\n")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if root, ok := strings.CutSuffix(os.Getenv(claimerVariable), "\n"); ok {
		if root == "" {
			return
		}
		if err := claimFirst(root); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if raced {
		flag.Parse()
		if err := flag.Set("rapid.checks", "25"); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m)
}

func racer(args []string) error {
	tasks, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	b, err := Open(args[0], Options{Identity: Identity{Agent: message.AgentID("executor-" + args[2]), Speaks: []message.Role{message.Supervisor}}})
	if err != nil {
		return err
	}
	fmt.Println("ready")
	if _, err := os.Stdin.Read(make([]byte, 1)); err == nil {
		return errors.New("unexpected input")
	}
	won, err := race(b, tasks)
	fmt.Println(won)
	return errors.Join(err, b.Close())
}

// race tries to claim every task, and counts how many it got.
func race(b *Board, tasks int) (won int, err error) {
	for n := range tasks {
		if err := claim(b, message.TaskID(fmt.Sprintf("t-%06d", n))); err == nil {
			won++
		} else if !isTaken(err) {
			return won, err
		}
	}
	return won, nil
}

// racers runs processes that race for the tasks, and returns how many each got.
func racers(t testing.TB, root string, processes, tasks int) []int {
	t.Helper()
	type running struct {
		cmd   *exec.Cmd
		start func() error
		out   *strings.Builder
	}
	var all []running
	for n := range processes {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), racerVariable+"="+strings.Join([]string{root, strconv.Itoa(tasks), strconv.Itoa(n + 1)}, "\n"))
		out := &strings.Builder{}
		cmd.Stdout, cmd.Stderr = out, os.Stderr
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, running{cmd, in.Close, out})
	}
	for _, r := range all {
		if err := r.start(); err != nil {
			t.Fatal(err)
		}
	}
	var won []int
	for _, r := range all {
		if err := r.cmd.Wait(); err != nil {
			t.Fatalf("a racer failed: %v", err)
		}
		n, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(r.out.String(), "ready\n")))
		if err != nil {
			t.Fatalf("a racer said %q", r.out)
		}
		won = append(won, n)
	}
	return won
}

var quiet = context.Background()
