//go:build unix

package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"orch/roles/act/confine"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "guard" {
		os.Exit(GuardMain(os.Args[2:]))
	}
	if len(os.Args) > 2 && os.Args[1] == "try" {
		os.Exit(confine.TryMain(os.Args[2:]))
	}
	if len(os.Args) > 2 && os.Args[1] == "helper" {
		helper(os.Args[2])
		return
	}
	if signal.Ignored(syscall.SIGINT) {
		// As in the background of a script. What is started inherits what is ignored,
		// but not what is caught.
		signal.Notify(make(chan os.Signal, 1), syscall.SIGINT)
	}
	goleak.VerifyTestMain(m)
}

// helper is the test binary playing a badly behaved command.
func helper(mode string) {
	switch mode {
	case "mktemp":
		dir, err := MakeTemp()
		must(err)
		fmt.Print(dir)
	case "orphan", "orphan-noenv": // leaves a grandchild in its own session that holds our output
		cmd := exec.Command(os.Args[0], "helper", "child", strings.TrimPrefix(mode, "orphan"))
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if mode == "orphan-noenv" {
			cmd.Env = []string{"PATH=/bin"}
		}
		must(cmd.Start())
		fmt.Printf("orphan %d\n", cmd.Process.Pid)
	case "child": // forks once more, so that its parent is gone
		cmd := exec.Command("sleep", "600")
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		cmd.Env = os.Environ()
		must(cmd.Start())
		fmt.Printf("orphan %d\n", cmd.Process.Pid)
	case "owner": // runs a guarded command and is then killed by the test
		Run(context.Background(), Spec{Argv: []string{"sh", "-c", "trap '' TERM; sleep 600 & echo inner $! $$; wait; sleep 600"},
			Env: os.Environ(), Guard: []string{os.Args[0], "guard", "--"}, GraceMS: 50, NoCgroup: true, Stdout: os.Stdout})
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// patience only stops a test that would hang: no test depends on its length.
const patience = 2 * time.Minute

func spec(argv ...string) Spec {
	return Spec{Argv: argv, Env: []string{"PATH=" + os.Getenv("PATH")}, WallMS: patience.Milliseconds(), GraceMS: 100}
}

// ways are the combinations of machinery every bad command is tried under.
var ways = map[string]func(*Spec){
	"group":   func(s *Spec) { s.NoCgroup = true },
	"session": func(s *Spec) { s.NoCgroup, s.Session = true, true },
	"guard":   func(s *Spec) { s.NoCgroup, s.Guard = true, []string{os.Args[0], "guard", "--"} },
	"cgroup":  func(s *Spec) {},
	"all":     func(s *Spec) { s.Guard = []string{os.Args[0], "guard", "--"} },
}

func eachWay(t *testing.T, f func(t *testing.T, set func(*Spec))) {
	for name, set := range ways {
		t.Run(name, func(t *testing.T) { f(t, set) })
	}
}

func gone(t *testing.T, pid int) {
	t.Helper()
	if p, ok := lookup(pid); ok && !p.Defunct {
		t.Errorf("process %d (%s) survived", pid, p.Name)
	}
}

func TestRunReportsExitAndOutput(t *testing.T) {
	eachWay(t, func(t *testing.T, set func(*Spec)) {
		s := spec("sh", "-c", "cat; echo err >&2; exit 3")
		s.Stdin = strings.NewReader("in\n")
		var stdout, stderr bytes.Buffer
		s.Stdout, s.Stderr = &stdout, &stderr
		set(&s)
		r := Run(context.Background(), s)
		if r.Exit != 3 || r.Err != nil || r.Ended() || r.OK() {
			t.Fatalf("result %+v", r)
		}
		if stdout.String() != "in\n" || stderr.String() != "err\n" {
			t.Errorf("stdout %q, stderr %q", stdout.String(), stderr.String())
		}
		if !strings.Contains(string(r.Output()), "in\n") || !strings.Contains(string(r.Output()), "err\n") {
			t.Errorf("output %q", r.Output())
		}
		if len(r.Leftovers)+len(r.Survivors) != 0 {
			t.Errorf("leftovers %v, survivors %v", r.Leftovers, r.Survivors)
		}
	})
}

func TestStartErrorNamesTheProgram(t *testing.T) {
	eachWay(t, func(t *testing.T, set func(*Spec)) {
		s := spec("no-such-program-at-all")
		set(&s)
		r := Run(context.Background(), s)
		var start *StartError
		if !errors.As(r.Err, &start) || start.Program != "no-such-program-at-all" || r.Exit != -1 {
			t.Fatalf("err %v, exit %d", r.Err, r.Exit)
		}
		if !errors.Is(r.Err, fs.ErrNotExist) && !errors.Is(r.Err, exec.ErrNotFound) {
			t.Errorf("err %v is not a missing program", r.Err)
		}
	})
}

func TestSigtermIsIgnored(t *testing.T) {
	eachWay(t, func(t *testing.T, set func(*Spec)) {
		ctx, cancel := context.WithCancel(context.Background())
		s := spec("sh", "-c", "trap '' TERM; echo $$; while :; do sleep 0.05; done")
		s.OnOutput = func([]byte) { cancel() } // the trap is set
		set(&s)
		r := Run(ctx, s)
		if !r.Canceled || r.Signal != "SIGKILL" || r.Exit != -1 {
			t.Fatalf("result %+v", r)
		}
		gone(t, firstInt(t, r.Head))
	})
}

func TestSigtermIsHeard(t *testing.T) {
	eachWay(t, func(t *testing.T, set func(*Spec)) {
		ctx, cancel := context.WithCancel(context.Background())
		s := spec("sh", "-c", "trap 'echo bye; exit 9' TERM; echo ready; while :; do sleep 0.02; done")
		s.GraceMS, s.OnOutput = patience.Milliseconds(), func([]byte) { cancel() }
		set(&s)
		r := Run(ctx, s)
		if !r.Canceled || r.Exit != 9 || !strings.Contains(string(r.Output()), "bye") {
			t.Fatalf("result %+v, output %q", r, r.Output())
		}
	})
}

func TestWallLimit(t *testing.T) {
	eachWay(t, func(t *testing.T, set func(*Spec)) {
		s := spec("sleep", "600")
		s.WallMS = 100
		set(&s)
		if r := Run(context.Background(), s); !r.TimedOut || r.Ended() != true || r.Why() == "" || r.OK() {
			t.Fatalf("result %+v", r)
		}
	})
}

func TestOrphanInItsOwnSessionHoldingThePipe(t *testing.T) {
	eachWay(t, func(t *testing.T, set func(*Spec)) {
		s := spec(os.Args[0], "helper", "orphan")
		set(&s)
		r := Run(context.Background(), s)
		if r.Exit != 0 || r.Ended() {
			t.Fatalf("result %+v", r)
		}
		if len(r.Leftovers) == 0 {
			t.Error("no leftover was reported")
		}
		for pid := range orphans(r.Head) {
			gone(t, pid)
		}
	})
}

func TestOrphanThatClearedItsEnvironment(t *testing.T) {
	for _, way := range []string{"guard", "all"} {
		t.Run(way, func(t *testing.T) {
			if BecomeSubreaper() != nil {
				return // this system has no subreapers; doc.go says what that means
			}
			s := spec(os.Args[0], "helper", "orphan-noenv")
			ways[way](&s)
			r := Run(context.Background(), s)
			if len(orphans(r.Head)) == 0 {
				t.Fatalf("the helper started nothing: %+v %q", r, r.Output())
			}
			for pid := range orphans(r.Head) {
				gone(t, pid)
			}
		})
	}
}

func TestFloodIsBounded(t *testing.T) {
	eachWay(t, func(t *testing.T, set func(*Spec)) {
		s := spec("yes", "abcdefghijklmnopqrstuvwxyz")
		s.MaxOutputBytes, s.KeepBytes, s.FullBytes = 1<<20, 1000, 5000
		var full bytes.Buffer
		s.Full = &full
		set(&s)
		r := Run(context.Background(), s)
		if !r.Flooded || r.TimedOut || !r.Truncated {
			t.Fatalf("flooded %v timed out %v truncated %v err %v", r.Flooded, r.TimedOut, r.Truncated, r.Err)
		}
		if r.OutputBytes > 1<<20 || len(r.Head) != 500 || len(r.Tail) != 500 || full.Len() != 5000 {
			t.Errorf("bytes %d, head %d, tail %d, full %d", r.OutputBytes, len(r.Head), len(r.Tail), full.Len())
		}
	})
}

// The silence is counted from the last output, not from the start. When that came
// is known only to be after the output before it was handed out.
func TestSilenceEndsTheCommand(t *testing.T) {
	s := spec("sh", "-c", "for i in 1 2 3 4 5 6; do echo $i; sleep 0.1; done; sleep 600")
	s.IdleMS = 350
	before := time.Now()
	last := before
	s.OnOutput = func([]byte) { before, last = last, time.Now() }
	r := Run(context.Background(), s)
	if quiet := time.Since(before); !r.Idle || r.OutputBytes == 0 || quiet < 350*time.Millisecond {
		t.Fatalf("ended %s after the output before the last: %+v, output %q", quiet, r, r.Output())
	}
}

func TestCancel(t *testing.T) {
	eachWay(t, func(t *testing.T, set func(*Spec)) {
		ctx, cancel := context.WithCancel(context.Background())
		s := spec("sh", "-c", "echo go; sleep 600")
		s.GraceMS, s.OnOutput = patience.Milliseconds(), func([]byte) { cancel() }
		set(&s)
		r := Run(ctx, s)
		if !r.Canceled || r.Signal != "SIGTERM" {
			t.Fatalf("result %+v", r)
		}
	})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if r := Run(ctx, spec("true")); !r.Canceled || r.Err == nil {
		t.Errorf("a cancelled context started something: %+v", r)
	}
}

func TestInterruptAsksWithSIGINT(t *testing.T) {
	eachWay(t, func(t *testing.T, set func(*Spec)) {
		ctx, cancel := context.WithCancel(context.Background())
		s := spec("sh", "-c", "echo go; exec sleep 600")
		s.Interrupt, s.GraceMS = true, patience.Milliseconds()
		s.OnOutput = func([]byte) { cancel() }
		set(&s)
		if r := Run(ctx, s); !r.Canceled || r.Signal != "SIGINT" {
			t.Fatalf("result %+v", r)
		}
	})
}

func TestUnreadStdinIsNoError(t *testing.T) {
	s := spec("true")
	s.Stdin = strings.NewReader(strings.Repeat("x", 1<<20))
	if r := Run(context.Background(), s); !r.OK() {
		t.Fatalf("result %+v", r)
	}
}

// A pipe nobody writes to tells a command whether its parent lives. It must
// not keep Run from returning.
func TestLifelineAsStdinIsNotWaitedFor(t *testing.T) {
	eachWay(t, func(t *testing.T, set func(*Spec)) {
		lifeline, hold := io.Pipe()
		defer hold.Close()
		s := spec("true")
		s.Stdin = lifeline
		set(&s)
		done := make(chan Result)
		go func() { done <- Run(context.Background(), s) }()
		select {
		case r := <-done:
			if !r.OK() {
				t.Errorf("result %+v", r)
			}
		case <-time.After(patience):
			t.Error("Run waits for its input")
		}
	})
}

func TestGuardEndsAllWhenItsParentIsKilled(t *testing.T) {
	cmd := exec.Command(os.Args[0], "helper", "owner")
	out, err := cmd.StdoutPipe()
	must(err)
	must(cmd.Start())
	var a, b int
	if _, err := fmt.Fscanf(out, "inner %d %d\n", &a, &b); err != nil {
		t.Fatal(err)
	}
	must(cmd.Process.Kill())
	_ = cmd.Wait()
	eventually(t, func() bool { return dead(a) && dead(b) })
}

func TestSweepFindsByMarkerAndSparesOthers(t *testing.T) {
	marker := Marker("sweep-test-" + strconv.Itoa(os.Getpid()))
	start := func(m Marker) *exec.Cmd {
		cmd := exec.Command("sleep", "600")
		cmd.Env = []string{MarkerEnv + "=" + string(m)}
		must(cmd.Start())
		return cmd
	}
	mine, below, other := start(marker), start(marker+"/1"), start(marker+"x")
	// a process is named by its marker only once exec has happened
	eventually(t, func() bool { f, err := Find(marker); return err == nil && len(f) == 2 })
	killed, err := Sweep(marker)
	if err != nil || len(killed) != 2 {
		t.Fatalf("killed %v, err %v", killed, err)
	}
	if id, _ := identify(other.Process.Pid); Look(id) != Living {
		t.Error("a process with another marker was killed")
	}
	if id, _ := identify(mine.Process.Pid); Look(id) != Dead {
		t.Error("a killed process counts as alive")
	}
	must(other.Process.Kill())
	for _, c := range []*exec.Cmd{mine, below, other} {
		_ = c.Wait()
	}
	if _, err := Sweep(""); err == nil {
		t.Error("a sweep without a marker was accepted")
	}
}

func TestIdentity(t *testing.T) {
	me := Self()
	if Look(me) != Living {
		t.Fatal("we are dead")
	}
	for name, id := range map[string]Identity{
		"other start": {me.PID, me.StartTicks + 1, me.BootID},
		"other boot":  {me.PID, me.StartTicks, "x"},
		"zero":        {},
	} {
		if Look(id) != Dead {
			t.Errorf("%s is %s", name, Look(id))
		}
	}
	if err := killProc(Identity{me.PID, me.StartTicks + 1, me.BootID}); err == nil {
		t.Error("killed a process with another start time")
	}
}

func dead(pid int) bool { p, ok := lookup(pid); return !ok || p.Defunct }

func eventually(t *testing.T, f func() bool) {
	t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !f() {
		select {
		case <-deadline.C:
			t.Fatal("did not happen in time")
		case <-tick.C:
		}
	}
}

func firstInt(t *testing.T, b []byte) int {
	t.Helper()
	n, err := strconv.Atoi(strings.Fields(string(b))[0])
	if err != nil {
		t.Fatalf("no pid in %q", b)
	}
	return n
}

func orphans(out []byte) map[int]bool {
	pids := map[int]bool{}
	for line := range strings.Lines(string(out)) {
		var pid int
		if _, err := fmt.Sscanf(line, "orphan %d", &pid); err == nil {
			pids[pid] = true
		}
	}
	return pids
}

func TestAWidePipeTakesMoreAtOnce(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // the size can not be chosen elsewhere
	}
	r, w, err := os.Pipe()
	must(err)
	defer r.Close()
	defer w.Close()
	widen(w, 1<<20)
	must(w.SetWriteDeadline(time.Now().Add(patience)))
	if n, err := w.Write(make([]byte, 200_000)); n != 200_000 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
}
