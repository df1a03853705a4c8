package process

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"orch/blackboard/crash"
	"orch/roles/act/confine"
)

// The guard's file descriptors beside the command's own three.
const (
	lifelineFD = 3 // read: one line of guardSettings, then silence until the parent is gone or lets go
	reportFD   = 4 // written: one guardReport
)

// guardSettings are what a guard has to know, as a line of JSON.
type guardSettings struct {
	GraceMS   int64            `json:"grace_ms"`
	Interrupt bool             `json:"interrupt"`
	Confine   *confine.Sandbox `json:"confine,omitempty"`
}

// guardReport is what a guard tells of its command.
type guardReport struct {
	Exit      int    `json:"exit"`
	Signal    string `json:"signal,omitempty"`
	Start     string `json:"start,omitempty"` // why it could not be started
	Errno     int    `json:"errno,omitempty"`
	Confine   string `json:"confine,omitempty"` // why it could not be confined, and was not started
	Clean     bool   `json:"clean,omitempty"`   // it was a subreaper and has no child left: nothing can have survived
	Leftovers []Proc `json:"leftovers,omitempty"`
	Survivors []Proc `json:"survivors,omitempty"`
}

// guardLink is the parent's end of a guard.
type guardLink struct {
	lifeR, lifeW *os.File
	repR, repW   *os.File
	settings     guardSettings
	report       chan guardReport // gets the report, or is closed without one
}

func newGuardLink(s Spec) (*guardLink, error) {
	g := &guardLink{settings: guardSettings{s.GraceMS, s.Interrupt, s.Confine}, report: make(chan guardReport, 1)}
	var err error
	if g.lifeR, g.lifeW, err = os.Pipe(); err != nil {
		return nil, err
	}
	if g.repR, g.repW, err = os.Pipe(); err != nil {
		g.lifeR.Close()
		g.lifeW.Close()
		return nil, err
	}
	return g, nil
}

func (g *guardLink) attach(cmd *exec.Cmd) { cmd.ExtraFiles = []*os.File{g.lifeR, g.repW} }

// started is called once the guard holds its ends.
func (g *guardLink) started() {
	g.lifeR.Close()
	g.repW.Close()
	_ = json.NewEncoder(g.lifeW).Encode(g.settings) // a guard already dead shows in its report
	crash.Go(func() {
		defer close(g.report)
		var rep guardReport
		if json.NewDecoder(io.LimitReader(g.repR, 1<<20)).Decode(&rep) == nil {
			g.report <- rep
		}
	})
}

// release lets go of the lifeline: the guard ends everything below it.
func (g *guardLink) release() { g.lifeW.Close() }

// read lets go of the guard and returns its report, if it made one.
func (g *guardLink) read() (guardReport, bool) {
	g.release()
	_ = g.repR.SetReadDeadline(time.Now().Add(time.Second)) // the guard is dead; nobody else holds the pipe
	rep, ok := <-g.report
	g.repR.Close()
	return rep, ok
}

// errNoReport is why a result is not the command's own.
var errNoReport = errors.New("the guard ended without a report")

// into puts the guard's report in place of the guard's own exit status.
func (rep guardReport) into(res *Result, made bool, program string) {
	if !made {
		if res.Err == nil && !res.Ended() {
			res.Err = errNoReport
		}
		return
	}
	res.Exit, res.Signal = rep.Exit, rep.Signal
	res.Leftovers = append(res.Leftovers, rep.Leftovers...)
	res.Survivors = append(res.Survivors, rep.Survivors...)
	if rep.Confine != "" {
		res.Exit, res.Err = -1, &StartError{Program: program, Err: &confine.UnavailableError{Why: rep.Confine}}
	}
	if rep.Start != "" {
		var err error = errors.New(rep.Start)
		if rep.Errno != 0 {
			err = syscall.Errno(rep.Errno)
		}
		res.Exit, res.Err = -1, &StartError{Program: program, Err: err}
	}
}

func (g *guardLink) close() {
	for _, f := range []*os.File{g.lifeR, g.lifeW, g.repR, g.repW} {
		f.Close()
	}
}
