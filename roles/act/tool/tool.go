package tool

import (
	"encoding/json"

	"orch/roles/act/tool/gate"
)

// Name is a tool's name.
type Name string

// The tools. MDFind and AppleScript exist on macOS only.
const (
	Shell       Name = "shell"
	ReadFile    Name = "read_file"
	WriteFile   Name = "write_file"
	EditFile    Name = "edit_file"
	Glob        Name = "glob"
	Grep        Name = "grep"
	Fetch       Name = "fetch"
	WebSearch   Name = "web_search"
	MDFind      Name = "mdfind"
	AppleScript Name = "applescript"
)

// Call is one use of a tool. Input is the JSON of the tool's input type; a
// field that the type does not have is an error.
type Call struct {
	Tool  Name            `json:"tool"`
	Input json.RawMessage `json:"input"`
}

// ShellInput runs a command line in the workspace.
type ShellInput struct {
	Command   string `json:"command"`
	Dir       string `json:"dir,omitempty"`        // inside the workspace; default its root
	TimeoutMS int64  `json:"timeout_ms,omitempty"` // can only shorten the box's limit
}

// ReadFileInput reads a text file.
type ReadFileInput struct {
	Path   string `json:"path"`
	Offset int    `json:"offset,omitempty"` // first line, from 1
	Limit  int    `json:"limit,omitempty"`  // lines; 0: all, up to the output limit
}

// WriteFileInput writes a whole file, making its directories.
type WriteFileInput struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

// EditFileInput replaces text in a file. Old must occur exactly once unless All is set.
type EditFileInput struct {
	Path string `json:"path"`
	Old  string `json:"old"`
	New  string `json:"new"`
	All  bool   `json:"all,omitempty"`
}

// GlobInput lists files that match a doublestar pattern, .git and .orch left out.
type GlobInput struct {
	Pattern string `json:"pattern"`
	Dir     string `json:"dir,omitempty"`
}

// GrepInput finds lines that match a regular expression (RE2), in text files only.
type GrepInput struct {
	Pattern    string `json:"pattern"`
	Path       string `json:"path,omitempty"` // file or directory; default the workspace
	Glob       string `json:"glob,omitempty"` // only files whose path or name matches
	IgnoreCase bool   `json:"ignore_case,omitempty"`
}

// FetchInput gets a page with HTTP GET.
type FetchInput struct {
	URL string `json:"url"`
}

// SearchInput asks the configured web search.
type SearchInput struct {
	Query string `json:"query"`
}

// MDFindInput asks Spotlight, in the workspace only.
type MDFindInput struct {
	Query string `json:"query"`
}

// AppleScriptInput runs a script; it always needs permission.
type AppleScriptInput struct {
	Script string `json:"script"`
}

// DenialKind says which door refused a call.
type DenialKind string

// The doors, in the order they are passed.
const (
	DeniedMustNot DenialKind = "must_not" // the plan's constraints forbid the approach or target
	DeniedRepeat  DenialKind = "repeat"   // same call, same result, nothing changed in between
	DeniedGate    DenialKind = "gate"     // needs a person's permission
	DeniedRule    DenialKind = "rule"     // a deny rule: permission will not help
)

// Denial is why a call was refused. It has had no effect.
type Denial struct {
	Kind   DenialKind
	Reason string
	Hint   string
	Needs  gate.Rule // for DeniedGate: the rule that would let it pass; its ID is what `orch allow` takes
}

// Result is what came of a call.
type Result struct {
	Exit       int    // 0 on success; a shell command's own code; 1 for a tool that failed; -1 if refused or cut short
	Output     []byte // redacted, at most Options.KeepBytes
	Head       string // first line of the output, at most 120 characters
	Tail       string // last 120 characters of the output
	Denied     string // "[denied] …" when refused
	Denial     *Denial
	DurationMS int64
	Truncated  bool   // Output is not all there was
	Infra      string // the machinery failed, not the call: why
	Ended      string // the command was ended by us: why
	Leftovers  int    // processes that outlived the command and were ended
}
