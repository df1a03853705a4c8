package supervisor

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/act/caches"
	"orch/roles/act/process"
	"orch/roles/run/config"
	"orch/roles/run/socket"
)

// Environment variables by which a step knows who it is.
const (
	AgentEnv = "ORCH_AGENT_ID"
	FenceEnv = "ORCH_FENCE"
)

// Report is what a step prints on standard output as its last act.
type Report struct {
	Usage  message.Usage   `json:"usage"`
	Cost   float64         `json:"cost"`
	Spent  []message.Spent `json:"spent,omitempty"` // by model
	Needs  string          `json:"needs,omitempty"` // what a person must mend first
	Detail string          `json:"detail,omitempty"`
	Moved  bool            `json:"moved,omitempty"`  // the board no longer asks for it
	Killed bool            `json:"killed,omitempty"` // somebody else ended what it ran
	// Unjudged: nobody who was asked gave a verdict that binds.
	Unjudged bool `json:"unjudged,omitempty"`
	// Down says that no provider answered; nil if that is not why it ended.
	Down *Down `json:"down,omitempty"`
	// Short is the cap that left no room for a question; nil if that is not why it ended.
	Short *message.BudgetReached `json:"short,omitempty"`
}

// Down is why no provider answered a step.
type Down struct {
	Accounts []string `json:"accounts"`
	Reason   string   `json:"reason"`
}

// Processes spawns steps as processes of this program.
type Processes struct {
	Executable string
	Root       string
	Board      *blackboard.Board
	Limits     config.Limits
	Env        []string             // of the person; scrubbed before a step sees it
	Keeps      func(Claim) []string // variables a step needs although they are secret; nil for none
	Flags      []string             // global flags every step is given
	Tells      []string             // further variables every step is given
	Clock      Clock

	noCgroup bool // for tests: steps are told by their marker alone
}

// Step runs `orch step` for a claim. The step's standard input is a pipe that
// nobody writes to: its end tells the step that this process is gone.
func (p *Processes) Step(ctx context.Context, c Claim) End {
	k := c.Activation.Key
	log, err := p.log(c)
	if err != nil {
		return unstarted(End{Exit: -1}, err)
	}
	defer log.Close()
	lifeline, hold := io.Pipe()
	defer hold.Close()
	args := append([]string{p.Executable, "-C", p.Root}, p.Flags...)
	args = append(args, "step", string(k.Role), "--subject", k.Subject, "--cause", string(k.Cause), "--lifeline")
	var report bytes.Buffer
	r := process.Run(ctx, process.Spec{
		Argv: args, Dir: p.Root, Stdin: lifeline, Session: true,
		Env: append(append(process.ScrubEnv(p.Env, p.keeps(c)...), p.Tells...), AgentEnv+"="+string(c.Agent),
			FenceEnv+"="+strconv.FormatUint(uint64(c.Fence), 10), "ORCH_TRY="+strconv.Itoa(c.Try)),
		WallMS: p.Limits.StepWallMS, GraceMS: p.Limits.GraceMS, Marker: process.Marker(c.Marker),
		Stdout: &report, Stderr: log, FullBytes: 1 << 20, NoCgroup: p.noCgroup,
	})
	e := endOf(r, report.Bytes())
	if r.Signal != "" {
		// Its guards are about to end what it had started: until then that would
		// go on writing where is cleared up now.
		e.Survivors += p.Sweep(c.Marker)
		return e
	}
	p.clear(c.Marker)
	return e
}

func (p *Processes) keeps(c Claim) []string {
	if p.Keeps == nil {
		return nil
	}
	return p.Keeps(c)
}

// log is where the step's standard error goes, for people.
func (p *Processes) log(c Claim) (*os.File, error) {
	dir := filepath.Join(p.Board.GoalDir(c.Activation.Goal), "steps")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the step's folder: %w", err)
	}
	return os.Create(filepath.Join(dir, fmt.Sprintf("%s-%s.log", c.Agent, c.Marker)))
}

// endOf classifies how a step's process ended.
func endOf(r process.Result, report []byte) End {
	e := End{Exit: r.Exit, DurationMS: r.DurationMS, Survivors: len(r.Leftovers)}
	var said Report
	if json.Unmarshal(bytes.TrimSpace(report), &said) == nil {
		e.Usage, e.Cost, e.Detail = said.Usage, said.Cost, said.Detail
		e.Spent, e.Needs, e.Down, e.Short = said.Spent, said.Needs, said.Down, said.Short
	}
	switch {
	case r.Canceled:
		e.Class = message.EndInterrupted
	case r.TimedOut, r.Idle, r.Flooded:
		e.Class, e.Detail = message.EndTimeout, r.Why()
	case r.Err != nil:
		e = unstarted(e, r.Err)
	case r.Signal != "":
		e.Class, e.Detail = message.EndKilled, r.Signal
	case r.Exit == 0:
		e.Class = message.EndDone
	case r.Exit == 42 && said.Moved:
		e.Class = message.EndMoved
	case r.Exit == 42 && said.Killed:
		e.Class = message.EndKilled
	case r.Exit == 42 && said.Down != nil:
		e.Class = message.EndOutage
	case r.Exit == 42 && said.Unjudged:
		e.Class = message.EndUnjudged
	case r.Exit == 42:
		e.Class = message.EndAgain
	default:
		e.Class = message.EndCrash
		if e.Detail == "" {
			e.Detail = lastLine(r.Tail, r.Head)
		}
	}
	return e
}

// unstarted is the end of a step that could not be started or seen through. What
// this process lacks is no fault of the step: it does not count against it.
func unstarted(e End, err error) End {
	e.Class, e.Detail = message.EndCrash, err.Error()
	if lacking(err) {
		e.Class, e.Unable = message.EndInterrupted, err
	}
	return e
}

// lacking tells whether an error says that this process or its system has no
// descriptor left, which says nothing about anybody else.
func lacking(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

func lastLine(parts ...[]byte) string {
	for _, p := range parts {
		if p = bytes.TrimSpace(p); len(p) > 0 {
			line := p[bytes.LastIndexByte(p, '\n')+1:]
			return string(line[:min(len(line), 300)])
		}
	}
	return ""
}

// ScratchPrefix begins the name of every scratch directory.
const ScratchPrefix = "orch-t-"

// ScratchDir is the directory of its own that a step has while it runs, and its
// commands have as TMPDIR. Its path is short, because people's tests make Unix
// sockets there, whose paths are limited to about 100 bytes.
func ScratchDir(marker string) string {
	sum := sha256.Sum256([]byte(marker))
	return filepath.Join(os.TempDir(), ScratchPrefix+hex.EncodeToString(sum[:6]))
}

// clear removes the directories that a killed step left. What can not be
// removed is left to orch gc.
func (p *Processes) clear(marker string) {
	os.RemoveAll(socket.Dir(marker))
	os.RemoveAll(ScratchDir(marker))
	_, _ = process.ClearTemp(caches.Places()...) // what stays is the next one's, or orch board gc's
}

// Sweep ends every process that carries the marker and says how many there were.
func (p *Processes) Sweep(marker string) int {
	if marker == "" {
		return 0
	}
	killed, err := process.Sweep(process.Marker(marker))
	p.clear(marker)
	if err != nil {
		return len(killed) // what could not be ended is found again by the next pass
	}
	return len(killed)
}

// Look tells whether exactly this process still runs.
func (p *Processes) Look(m message.Process) process.Liveness { return Look(m) }
