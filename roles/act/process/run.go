package process

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"orch/blackboard/crash"
	"orch/roles/act/confine"
)

// Bounds of the wait for the last output after everything is dead.
const (
	drainWait  = 2 * time.Second  // for the end of a pipe that something may still hold
	drainLimit = 30 * time.Second // for who takes what it held
)

// reason is why Run ends a command.
type reason int

const (
	finished reason = iota
	wall
	idle
	flood
	canceled
)

// Run runs the command to its end and leaves nothing of it behind. It returns
// when the command and all it started are gone, or could not be ended.
func Run(ctx context.Context, s Spec) Result {
	s = s.withDefaults()
	if len(s.Argv) == 0 {
		return Result{Exit: -1, Err: &StartError{Err: errors.New("no program given")}}
	}
	if err := ctx.Err(); err != nil {
		return Result{Exit: -1, Canceled: true, Err: &StartError{Program: s.Argv[0], Err: err}}
	}
	began, oomBefore := time.Now(), oomKills()
	r := &running{spec: s, marker: uniqueMarker(s.Marker), ended: make(chan struct{}), flood: make(chan struct{}, 1)}
	if err := r.start(); err != nil {
		r.discard()
		return Result{Exit: -1, DurationMS: time.Since(began).Milliseconds(), Err: &StartError{Program: s.Argv[0], Err: err}}
	}
	why := r.watch(ctx, began)
	res := r.finish(why)
	if res.Killed() { // unless it was for want of memory
		res.OutOfMem = oomKills() != oomBefore
	}
	res.DurationMS = time.Since(began).Milliseconds()
	return res
}

func (s Spec) withDefaults() Spec {
	s.GraceMS = orDefault(s.GraceMS, DefaultGraceMS)
	s.MaxOutputBytes = orDefault(s.MaxOutputBytes, DefaultMaxOutputBytes)
	s.FullBytes = orDefault(s.FullBytes, DefaultFullBytes)
	s.drainLimit = orDefault(s.drainLimit, drainLimit)
	s.KeepBytes = orDefault(s.KeepBytes, DefaultKeepBytes)
	return s
}

func orDefault[T int | int64 | time.Duration](v, def T) T {
	if v <= 0 {
		return def
	}
	return v
}

// uniqueMarker sets one command apart from others of the same step.
func uniqueMarker(m Marker) Marker {
	var b [8]byte
	rand.Read(b[:]) // never fails: the runtime aborts instead
	part := Marker(hex.EncodeToString(b[:]))
	if m == "" {
		return part
	}
	return m + "/" + part
}

// running is one command from start to finish.
type running struct {
	spec    Spec
	marker  Marker
	cmd     *exec.Cmd
	self    Identity // of the command, or of its guard
	cgroup  *cgroup
	guard   *guardLink
	out     *capture
	input   input
	readers []*reader
	ended   chan struct{} // closed when cmd.Wait has returned
	waitErr error
	flood   chan struct{}
	seen    map[int]Proc // descendants met while the command lived
	doubts  doubts
}

func (r *running) start() error {
	if err := r.connectOutput(); err != nil {
		return err
	}
	if err := r.input.open(r.spec.Stdin); err != nil {
		return err
	}
	if r.spec.Confine != nil && (len(r.spec.Guard) == 0 || !guardSupported) {
		return &confine.UnavailableError{Why: "nothing is confined without a guard"}
	}
	if len(r.spec.Guard) > 0 && guardSupported {
		link, err := newGuardLink(r.spec)
		if err != nil {
			return err
		}
		r.guard = link
	}
	if !r.spec.NoCgroup {
		r.cgroup = makeCgroup(r.marker)
	}
	if err := r.launch(); err != nil {
		return err
	}
	r.self, _ = identify(r.cmd.Process.Pid)
	if r.guard != nil {
		r.guard.started()
	}
	r.input.start()
	for _, rd := range r.readers {
		rd.start()
	}
	if r.spec.OnStart != nil {
		r.spec.OnStart(r.self)
	}
	crash.Go(func() {
		r.waitErr = r.cmd.Wait()
		close(r.ended)
	})
	return nil
}

// discard undoes what start made before it failed.
func (r *running) discard() {
	r.input.close()
	for _, rd := range r.readers {
		rd.close()
	}
	if r.guard != nil {
		r.guard.close()
	}
	if r.cgroup != nil {
		r.cgroup.remove()
	}
}

// watch waits until the command ends or a limit is reached.
func (r *running) watch(ctx context.Context, began time.Time) reason {
	var wallC, idleC <-chan time.Time
	if r.spec.WallMS > 0 {
		t := time.NewTimer(time.Duration(r.spec.WallMS) * time.Millisecond)
		defer t.Stop()
		wallC = t.C
	}
	idleLimit := time.Duration(r.spec.IdleMS) * time.Millisecond
	var idleT *time.Timer
	if idleLimit > 0 {
		idleT = time.NewTimer(idleLimit)
		defer idleT.Stop()
		idleC = idleT.C
	}
	for {
		select {
		case <-r.ended:
			return finished
		case <-ctx.Done():
			return canceled
		case <-wallC:
			return wall
		case <-r.flood:
			return flood
		case <-idleC:
			quiet := time.Since(r.out.lastAt(began))
			if quiet >= idleLimit {
				return idle
			}
			idleT.Reset(idleLimit - quiet)
		}
	}
}

// finish ends the command if it has not ended, then everything it left.
func (r *running) finish(why reason) Result {
	if why != finished {
		r.terminate()
	}
	res := Result{TimedOut: why == wall, Idle: why == idle, Flooded: why == flood, Canceled: why == canceled}
	var rep guardReport
	var reported bool
	if r.guard != nil {
		rep, reported = r.guard.read()
	}
	if !rep.Clean {
		res.Leftovers, res.Survivors = r.sweep()
	}
	if !r.endedWithin(killLimit) { // in the kernel, beyond signals
		r.input.close()
		for _, rd := range r.readers {
			rd.r.Close()
		}
		res.Exit, res.Err = -1, fmt.Errorf("%s could not be ended", r.spec.Argv[0])
		r.out.fill(&res)
		return res
	}
	r.input.close()
	cut := drain(r.readers, drainWait, r.spec.drainLimit)
	if r.out.flooded() && why == finished {
		res.Flooded = true
	}
	res.Exit, res.Signal, res.Err = exitOf(r.cmd, r.waitErr)
	if r.guard != nil {
		rep.into(&res, reported, r.spec.Argv[0])
	}
	if cut && res.Err == nil && !res.Ended() {
		res.Err = fmt.Errorf("the last output of %s was not taken within %s", r.spec.Argv[0], r.spec.drainLimit)
	}
	if r.cgroup != nil {
		r.cgroup.remove()
	}
	r.out.fill(&res)
	return res
}

func (r *running) endedWithin(limit time.Duration) bool {
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-r.ended:
		return true
	case <-t.C:
		return false
	}
}

// terminate asks the command to end, waits for the grace, and then insists.
func (r *running) terminate() {
	r.remember()
	grace := time.NewTimer(time.Duration(r.spec.GraceMS) * time.Millisecond)
	defer grace.Stop()
	if r.guard != nil {
		r.guard.release() // the guard ends what is below it, with the same grace
		extra := time.NewTimer(time.Duration(r.spec.GraceMS)*time.Millisecond + killLimit + time.Second)
		defer extra.Stop()
		select {
		case <-r.ended:
		case <-extra.C:
		}
	} else {
		askGroup(r.self, r.spec.Interrupt)
		select {
		case <-r.ended:
		case <-grace.C:
		}
	}
	r.remember()
	killGroup(r.self, r.cmd.Process)
}

func exitOf(cmd *exec.Cmd, waitErr error) (code int, signal string, err error) {
	if cmd.ProcessState == nil {
		return -1, "", waitErr
	}
	code, signal = cmd.ProcessState.ExitCode(), signalOf(cmd.ProcessState)
	var exit *exec.ExitError
	if waitErr != nil && !errors.As(waitErr, &exit) {
		err = waitErr
	}
	return code, signal, err
}
