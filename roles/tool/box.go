package tool

import (
	"context"
	"net/http"

	"orch/roles/process"
	"orch/roles/tool/gate"
)

// MustNot is what the plan's constraints forbid.
type MustNot struct {
	Approaches []string // as Target returns them, such as shell:npm
	Targets    []string
}

// Search says how web_search is answered; empty means it is not configured.
type Search struct {
	Command  []string // argv; {query} in an argument is replaced
	Endpoint string   // URL; {query} is replaced by the escaped query
}

// Options is what a Box is made of. Only Workspace is required.
type Options struct {
	Workspace   string
	Scratch     string // temporary directory of the step, freely writable
	Home        string
	Rules       []gate.Rule            // from config and --allow
	Created     func(path string) bool // absolute path: made by this goal? nil: only what this Box wrote
	MustNot     MustNot
	Process     process.Spec        // defaults: Env, limits, Marker, Guard
	Redact      func([]byte) []byte // applied to every output
	Search      Search
	HTTP        *http.Client           // for fetch and web_search endpoints; nil: a client with limits
	KeepBytes   int                    // of an output; 0: 1 MiB
	RepeatMax   int                    // this many identical calls with identical results: the last is refused; 0: 3
	Fingerprint func() (string, error) // of the workspace; nil: names, sizes and times of its files
	NowMS       func() int64           // for durations; nil: the monotonic clock
}

// Box is the tools of one step. It may be used from several goroutines.
type Box struct {
	opt Options
}

// New checks the options.
func New(opt Options) (*Box, error) { return &Box{opt: opt}, nil }

// Do refuses a call or runs it. It never returns an error: what went wrong is in the Result.
func (b *Box) Do(ctx context.Context, c Call) Result { return Result{} }

// Idempotent tells whether a call can be run again without a second effect: a
// reading tool, or a shell command that provably changes nothing.
func (b *Box) Idempotent(c Call) bool { return false }

// Target names a call for memory and for MUST NOT: the approach is
// shell:<program> or the tool's name, the target its normalised input.
func (b *Box) Target(c Call) (approach, target string) { return "", "" }
