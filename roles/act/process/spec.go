package process

import (
	"fmt"
	"io"
	"time"

	"orch/roles/act/confine"
)

// Marker is the value of ORCH_MARKER by which everything a command started can
// be found again. Sweep(m) also finds markers that begin with m and a slash.
type Marker string

// MarkerEnv is the variable that carries the marker.
const MarkerEnv = "ORCH_MARKER"

// Defaults for zero fields of a Spec.
const (
	DefaultGraceMS        = 2_000
	DefaultMaxOutputBytes = 64 << 20
	DefaultKeepBytes      = 1 << 20
	DefaultFullBytes      = 64 << 20
)

// Spec says what to run and within which bounds.
type Spec struct {
	Argv  []string  // program and arguments; no shell is involved
	Dir   string    // working directory; empty: the caller's
	Env   []string  // the whole environment, as from ScrubEnv; nil means empty
	Stdin io.Reader // nil: the null device. A reader that never ends is abandoned, not waited for.

	WallMS  int64 // longest run; 0: no limit but the context's
	IdleMS  int64 // longest silence on both outputs; 0: no limit
	GraceMS int64 // between SIGTERM (or SIGINT) and SIGKILL; 0: DefaultGraceMS

	MaxOutputBytes int64 // more than this and the command is ended as flooding; 0: DefaultMaxOutputBytes
	KeepBytes      int   // of the output that Result keeps, half head and half tail; 0: DefaultKeepBytes
	PipeBytes      int   // of the pipes between, where the system lets it be chosen; 0: the system's. For programs that
	// write without waiting and lose what does not fit.
	Full      io.Writer // gets the interleaved output, up to FullBytes; its errors end the copying only
	FullBytes int64     // 0: DefaultFullBytes
	Stdout    io.Writer // gets standard output alone, up to FullBytes. Setting it or Stderr makes the order
	Stderr    io.Writer // between the two streams approximate, since each then has its own pipe.

	Marker    Marker // whose work this is; Run adds a part of its own. Empty: only Run's part.
	Interrupt bool   // ask it to end with SIGINT instead of SIGTERM

	Session bool     // start a session, not only a process group
	Guard   []string // argv prefix of a guard, such as {"/path/orch", "guard", "--"}; empty: none

	// Confine keeps the command and all it starts to a few places. Its guard
	// puts it in force; without a guard, or where it can not be, the command is
	// not started. Nil: not confined.
	Confine *confine.Sandbox

	NoCgroup bool           // do not try to make a cgroup
	OnStart  func(Identity) // called once the process exists
	OnOutput func([]byte)   // called with each chunk, from one goroutine a stream; must not keep it

	drainLimit time.Duration // 0: the constant of this name; less in tests
}

// Result is what became of a command. A command that could not be started has
// Err set and Exit -1.
type Result struct {
	Exit       int    // exit code; -1 when ended by a signal or not started
	Signal     string // name of the signal that ended it, or its guard, such as SIGKILL
	TimedOut   bool   // ended for WallMS
	Idle       bool   // ended for IdleMS
	Flooded    bool   // ended for MaxOutputBytes
	Canceled   bool   // ended because the context was done
	OutOfMem   bool   // it was ended by a signal, and the kernel ended something for want of memory meanwhile
	DurationMS int64

	Head        []byte // first half of KeepBytes of the interleaved output
	Tail        []byte // what came after Head, or its last half of KeepBytes
	OutputBytes int64  // all that was read
	Truncated   bool   // something between Head and Tail was dropped

	Leftovers []Proc // what outlived the command and was ended
	Survivors []Proc // what could not be ended; empty unless the system refused
	Err       error  // *StartError, or a failure of the machinery, such as output that was not taken
}

// Output is the kept output in one piece, with a line that says what is missing.
func (r Result) Output() []byte {
	if !r.Truncated {
		return append(append([]byte{}, r.Head...), r.Tail...)
	}
	gap := fmt.Sprintf("\n[… %d bytes left out …]\n", r.OutputBytes-int64(len(r.Head)+len(r.Tail)))
	return append(append(append([]byte{}, r.Head...), gap...), r.Tail...)
}

// OK tells whether the command ran to its end by itself and returned 0.
func (r Result) OK() bool {
	return r.Err == nil && r.Exit == 0 && !r.Ended()
}

// Ended tells whether Run ended the command, and not the command itself.
func (r Result) Ended() bool { return r.TimedOut || r.Idle || r.Flooded || r.Canceled }

// Killed tells whether somebody else ended the command: a person, or a system
// that shuts down. A kernel without memory may have meant the command itself,
// which then is no stranger's doing. A shell that lost its command to a signal
// tells so by its exit code.
func (r Result) Killed() bool {
	if r.Ended() || r.OutOfMem {
		return false
	}
	switch r.Signal {
	case "":
		return r.Exit == 128+9 || r.Exit == 128+15
	case "SIGKILL", "SIGTERM", "SIGINT", "SIGHUP":
		return true
	}
	return false // of its own making, such as SIGSEGV
}

// Why says in a few words why Run ended the command; empty when it did not.
func (r Result) Why() string {
	switch {
	case r.TimedOut:
		return "time limit reached"
	case r.Idle:
		return "no output for too long"
	case r.Flooded:
		return "too much output"
	case r.Canceled:
		return "stopped by the caller"
	}
	return ""
}

// StartError says that a command could not be started.
type StartError struct {
	Program string
	Err     error
}

func (e *StartError) Error() string { return fmt.Sprintf("start %s: %v", e.Program, e.Err) }
func (e *StartError) Unwrap() error { return e.Err }

// Proc is a process as the sweep saw it.
type Proc struct {
	Identity
	PPID    int    `json:"ppid"`
	PGID    int    `json:"pgid"`
	SID     int    `json:"sid"`
	Name    string `json:"name"`
	Defunct bool   `json:"-"` // a zombie: dead, but not collected by its parent
}

// Identity names one process for all time: a pid alone is used again.
type Identity struct {
	PID        int    `json:"pid"`
	StartTicks uint64 `json:"start_ticks"` // system-specific unit; only equality counts
	BootID     string `json:"boot_id"`
}

// IsZero tells whether there is no identity.
func (id Identity) IsZero() bool { return id.PID == 0 }
