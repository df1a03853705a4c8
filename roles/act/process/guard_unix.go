//go:build unix

package process

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"orch/blackboard/crash"
	"orch/roles/act/confine"
)

const guardSupported = true

// GuardMain is the whole of `orch guard -- command…`; args begin after the
// dashes (a leading "--" is dropped). It runs the command as its only child,
// ends everything below itself when the command is done or the lifeline
// breaks, reports, and returns the exit code to use.
//
// It is meant to be the first thing a process does: it collects every child
// of the process.
func GuardMain(args []string) int {
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	unix.CloseOnExec(lifelineFD)
	unix.CloseOnExec(reportFD)
	lifeline := bufio.NewReader(os.NewFile(lifelineFD, "lifeline"))
	var set guardSettings
	line, err := lifeline.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &set)
	}
	if err != nil || len(args) == 0 {
		fmt.Fprintln(os.Stderr, "error: a guard is started by orch itself, with its lifeline")
		return 2
	}
	g := &guard{
		args: args, ask: askSignal(set.Interrupt), grace: time.Duration(set.GraceMS) * time.Millisecond, confine: set.Confine,
		subreaper: BecomeSubreaper() == nil, // without it the marker has to find what was orphaned
		cut:       make(chan struct{}), done: make(chan syscall.WaitStatus, 1), childless: make(chan struct{}),
	}
	rep := g.run(lifeline)
	if f := os.NewFile(reportFD, "report"); f != nil {
		_ = json.NewEncoder(f).Encode(rep) // nobody listens when the parent is dead
		f.Close()
	}
	if rep.Signal != "" {
		return 128 + int(unix.SignalNum(rep.Signal))
	}
	return rep.Exit
}

type guard struct {
	args  []string
	ask   syscall.Signal // to end politely
	grace time.Duration
	cut   chan struct{}           // closed when the lifeline broke
	done  chan syscall.WaitStatus // gets the command's status
	child int

	confine   *confine.Sandbox // nil: the command is not confined
	subreaper bool
	childless chan struct{} // closed when no child is left, living or dead
	doubts    doubts
}

func (g *guard) run(lifeline io.Reader) guardReport {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	if err := g.start(); err != nil {
		rep := guardReport{Exit: 127, Start: err.Error()}
		var no syscall.Errno
		var un *confine.UnavailableError
		if errors.As(err, &un) {
			rep.Start, rep.Confine = "", un.Why
		} else if errors.As(err, &no) {
			rep.Errno = int(no)
		} else if errors.Is(err, exec.ErrNotFound) {
			rep.Errno = int(syscall.ENOENT)
		}
		return rep
	}
	crash.Go(func() {
		_, _ = io.Copy(io.Discard, lifeline)
		close(g.cut)
	})
	crash.Go(g.collectAll)
	var status syscall.WaitStatus
	select {
	case status = <-g.done:
		return g.after(status, map[int]Proc{})
	case <-g.cut:
	case <-signals:
	}
	_ = syscall.Kill(-g.child, g.ask) // not yet collected, so the number is still its own
	grace := time.NewTimer(g.grace)
	killed := map[int]Proc{}
	select {
	case status = <-g.done:
	case <-grace.C:
		_, _ = hunt(g.remains, killed, nil)
		select {
		case status = <-g.done:
		case <-time.After(killLimit): // in the kernel, beyond signals
			return guardReport{Exit: -1, Signal: "SIGKILL", Leftovers: sorted(killed)}
		}
	}
	delete(killed, g.child) // the command itself is not what it left
	return g.after(status, killed)
}

// start starts the command from a thread of its own, which ends then: what the
// command is confined to binds that thread as well, and must not bind the guard.
func (g *guard) start() error {
	if g.confine == nil {
		return g.launch()
	}
	started := make(chan error, 1)
	crash.Go(func() {
		runtime.LockOSThread() // never given back
		if err := g.confine.Enter(); err != nil {
			started <- err
			return
		}
		started <- g.launch()
	})
	return <-started
}

func (g *guard) launch() error {
	path, err := exec.LookPath(g.args[0])
	if err != nil {
		return err
	}
	g.child, err = syscall.ForkExec(path, g.args, &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	return err
}

// collectAll takes the status of every child until none is left; what is
// orphaned below becomes a child.
func (g *guard) collectAll() {
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, 0, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil { // ECHILD
			close(g.childless)
			return
		}
		if pid == g.child && (ws.Exited() || ws.Signaled()) {
			g.done <- ws
		}
	}
}

// remains are all descendants, or what the marker shows where the system has
// no subreaper. With one there are none only when there is no child left to
// wait for: a list of processes alone can miss one that is being born.
func (g *guard) remains() (found []Proc, again bool, err error) {
	if g.subreaper {
		soon := time.NewTimer(5 * time.Millisecond)
		defer soon.Stop()
		select {
		case <-g.childless:
			return nil, false, nil
		case <-soon.C:
		}
	}
	s, err := snapshot(0)
	if err != nil {
		return nil, false, err
	}
	isBelow := map[int]bool{}
	for _, p := range below(s.procs, os.Getpid()) {
		isBelow[p.PID] = true
	}
	own := Marker(os.Getenv(MarkerEnv))
	spared := lineage(s.procs, os.Getpid())
	for _, p := range s.procs {
		if p.Defunct || spared[p.PID] {
			continue
		}
		mine := isBelow[p.PID]
		if !g.subreaper && !mine && own != "" {
			m, known := markerOf(p.PID)
			g.doubts.ask(p.PID, known)
			mine = m == own
		}
		if mine {
			found = append(found, p)
		}
	}
	return found, g.doubts.settle(s) || g.subreaper, nil
}

// after ends what the command left and makes the report.
func (g *guard) after(ws syscall.WaitStatus, killed map[int]Proc) guardReport {
	left, _ := hunt(g.remains, killed, nil)
	rep := guardReport{Exit: ws.ExitStatus(), Leftovers: sorted(killed), Survivors: left}
	if g.subreaper {
		select {
		case <-g.childless:
			rep.Clean = true
		default:
		}
	}
	if ws.Signaled() {
		rep.Exit, rep.Signal = -1, unix.SignalName(ws.Signal())
	}
	return rep
}
