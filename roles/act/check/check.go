// Package check runs the executable check of a criterion.
//
// It owns the shapes of the five kinds of check (run, file, json, http, git),
// their strict decoding, their verdict with its evidence, and the
// classification of a failure as logical or environmental.
//
// It promises that a check which can not be run is a fail with class
// environmental, never a pass and never an error; that every check ends within
// its limits; and that the evidence says what was seen.
//
// It never changes the workspace by itself (a run check runs the command it is
// given), never asks a model, and never demotes environmental to logical.
package check

import "orch/roles/act/process"

// Check is one check. Exactly one field is set.
type Check struct {
	Run  *Command `json:"run,omitempty" yaml:"run,omitempty"`
	File *File    `json:"file,omitempty" yaml:"file,omitempty"`
	JSON *JSON    `json:"json,omitempty" yaml:"json,omitempty"`
	HTTP *HTTP    `json:"http,omitempty" yaml:"http,omitempty"`
	Git  *Git     `json:"git,omitempty" yaml:"git,omitempty"`
}

// Text is what a piece of text must be. All that is set must hold.
type Text struct {
	Contains    string `json:"contains,omitempty" yaml:"contains,omitempty"`
	NotContains string `json:"not_contains,omitempty" yaml:"not_contains,omitempty"`
	Matches     string `json:"matches,omitempty" yaml:"matches,omitempty"` // RE2, (?m) on
	NotMatches  string `json:"not_matches,omitempty" yaml:"not_matches,omitempty"`
}

// Command runs a command: a command line for sh, or argv.
type Command struct {
	Command string   `json:"command,omitempty" yaml:"command,omitempty"`
	Argv    []string `json:"argv,omitempty" yaml:"argv,omitempty"`
	Dir     string   `json:"dir,omitempty" yaml:"dir,omitempty"`   // inside the workspace
	Exit    *int     `json:"exit,omitempty" yaml:"exit,omitempty"` // wanted exit code, 0 if not set
	Stdout  *Text    `json:"stdout,omitempty" yaml:"stdout,omitempty"`
	Stderr  *Text    `json:"stderr,omitempty" yaml:"stderr,omitempty"`
	WallMS  int64    `json:"wall_ms,omitempty" yaml:"wall_ms,omitempty"` // can only shorten the step's limit
}

// File looks at one file of the workspace.
type File struct {
	Path   string `json:"path" yaml:"path"`
	Exists *bool  `json:"exists,omitempty" yaml:"exists,omitempty"` // default true
	Absent bool   `json:"absent,omitempty" yaml:"absent,omitempty"`
	SHA256 string `json:"sha256,omitempty" yaml:"sha256,omitempty"` // 64 hex digits
	Text   `yaml:",inline"`
}

// JSON compares one value of a JSON document, from a file or a command's output.
type JSON struct {
	File    string   `json:"file,omitempty" yaml:"file,omitempty"`
	Command string   `json:"command,omitempty" yaml:"command,omitempty"`
	Argv    []string `json:"argv,omitempty" yaml:"argv,omitempty"`
	Path    string   `json:"path" yaml:"path"` // such as a.b[0].c or a["odd key"]; "." is the whole document
	Op      string   `json:"op" yaml:"op"`     // == != < <= > >= contains exists length
	Value   any      `json:"value,omitempty" yaml:"value,omitempty"`
}

// HTTP gets a URL.
type HTTP struct {
	URL    string            `json:"url" yaml:"url"`
	Method string            `json:"method,omitempty" yaml:"method,omitempty"` // GET or HEAD
	Header map[string]string `json:"header,omitempty" yaml:"header,omitempty"`
	Status int               `json:"status,omitempty" yaml:"status,omitempty"` // default 200
	Body   *Text             `json:"body,omitempty" yaml:"body,omitempty"`
}

// Git looks at the repository of the workspace. All that is set must hold.
type Git struct {
	Clean       bool     `json:"clean,omitempty" yaml:"clean,omitempty"`               // nothing changed or untracked, .orch/ aside
	Branch      string   `json:"branch,omitempty" yaml:"branch,omitempty"`             // with Contains: the branch that must have it
	Contains    string   `json:"contains,omitempty" yaml:"contains,omitempty"`         // a commit
	DiffBase    string   `json:"diff_base,omitempty" yaml:"diff_base,omitempty"`       // compared with the working tree; default HEAD
	DiffLimited []string `json:"diff_limited,omitempty" yaml:"diff_limited,omitempty"` // globs that every changed path must match
}

// Class says whether the approach was wrong or the world was in the way.
type Class string

// The classes of a failure; empty on a pass.
const (
	None          Class = ""
	Logical       Class = "logical"
	Environmental Class = "environmental"
)

// Kind narrows an environmental failure.
type Kind string

// The kinds.
const (
	KindNone       Kind = "none"
	KindTransient  Kind = "transient"  // may pass when tried again: network, rate limit
	KindTool       Kind = "tool"       // a program or service that is not there
	KindPermission Kind = "permission" // the system or the gate said no
)

// Env is where a check runs.
type Env struct {
	Workspace string
	WallMS    int64        // limit of one check; 0: DefaultWallMS
	Process   process.Spec // defaults: Env, Marker, Guard, limits
	Redact    func([]byte) []byte
}

// Verdict is what a check found.
type Verdict struct {
	Pass     bool
	Class    Class
	Kind     Kind
	Evidence string // what was seen, redacted, never empty
}
