package confine

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Policy says what a process may do to the file system. Paths are absolute.
// Everything that is not hidden may be read.
type Policy struct {
	Write    []string `json:"write"`     // files, and directories with all below them; "/" is everything
	ReadOnly []string `json:"read_only"` // inside Write, and yet not to be written, but for what Write names inside of it
	Hide     []string `json:"hide"`      // not to be seen; a path that is also below Write stays hidden
	Alone    []string `json:"alone"`     // directories: of the directory they lie in nothing else is seen; by namespace only
	Over     []Over   `json:"over,omitempty"`
}

// Over is a directory that is mounted at a path, which must be one that may be
// written: by namespace only. With Lower what is written goes to Upper, and what
// is in neither is not there.
type Over struct {
	At    string `json:"at"`
	Upper string `json:"upper"`
	Lower string `json:"lower,omitempty"` // stays as it is; needs Layers.Overlay
	Work  string `json:"work,omitempty"`  // an empty directory beside Upper, if there is a Lower
}

// Layers are the means by which a policy is enforced.
type Layers struct {
	Namespace bool `json:"namespace"`
	Overlay   bool `json:"overlay,omitempty"` // one directory can be laid over another in a namespace
	Landlock  int  `json:"landlock"`          // ABI that is used; 0: none
}

// MinLandlock is the first ABI that can forbid to truncate files. Less would
// let a process empty what it must not write, and is not used.
const MinLandlock = 3

// Any tells whether there is a layer at all.
func (l Layers) Any() bool { return l.Namespace || l.Landlock > 0 }

// String is the form that Parse reads: "namespace+overlay+landlock7", or "none".
func (l Layers) String() string {
	var parts []string
	if l.Namespace {
		parts = append(parts, "namespace")
	}
	if l.Overlay {
		parts = append(parts, "overlay")
	}
	if l.Landlock > 0 {
		parts = append(parts, "landlock"+strconv.Itoa(l.Landlock))
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, "+")
}

// Parse reads what String wrote.
func Parse(text string) (Layers, error) {
	var l Layers
	if text == "none" {
		return l, nil
	}
	for part := range strings.SplitSeq(text, "+") {
		abi, isLandlock := strings.CutPrefix(part, "landlock")
		n, err := strconv.Atoi(abi)
		switch {
		case part == "namespace":
			l.Namespace = true
		case part == "overlay" && l.Namespace:
			l.Overlay = true
		case isLandlock && err == nil && n >= MinLandlock:
			l.Landlock = n
		default:
			return Layers{}, fmt.Errorf("%q names no layers of confinement", text)
		}
	}
	return l, nil
}

// Sandbox is a policy and the layers that enforce it.
type Sandbox struct {
	Policy
	Layers
}

// Everything tells whether all may be written that is not named otherwise.
func (p Policy) Everything() bool { return slices.Contains(p.Write, "/") }

// Clean makes a policy that means the same: paths cleaned and sorted, what lies
// below another one left out of Write and Hide, and of ReadOnly what nothing
// makes writable. A hidden directory in which something must be written is not
// hidden. It fails on a path that is not absolute.
func (p Policy) Clean() (Policy, error) {
	for _, list := range [][]string{p.Write, p.ReadOnly, p.Hide, p.Alone} {
		for _, path := range list {
			if !filepath.IsAbs(path) {
				return Policy{}, fmt.Errorf("confine: %q is not an absolute path", path)
			}
		}
	}
	out := Policy{Write: outermost(p.Write), ReadOnly: cleaned(p.ReadOnly), Alone: cleaned(p.Alone), Over: p.Over}
	out.ReadOnly = slices.DeleteFunc(out.ReadOnly, func(path string) bool { return !anyAbove(out.Write, path) })
	for _, w := range cleaned(p.Write) {
		if anyAbove(out.ReadOnly, w) && !slices.Contains(out.Write, w) && !slices.Contains(out.ReadOnly, w) {
			out.Write = append(out.Write, w) // after what it lies in
		}
	}
	hide := slices.DeleteFunc(cleaned(p.Hide), func(path string) bool {
		return slices.ContainsFunc(out.Write, func(w string) bool { return w != "/" && Within(path, w) })
	})
	out.Hide = outermost(hide)
	for _, o := range p.Over {
		for _, path := range []string{o.At, o.Upper} {
			if !filepath.IsAbs(path) {
				return Policy{}, fmt.Errorf("confine: %q is not an absolute path", path)
			}
		}
		if !anyAbove(out.Write, o.At) {
			return Policy{}, fmt.Errorf("confine: %s is mounted at %s, which may not be written", o.Upper, o.At)
		}
	}
	return out, nil
}

// Within tells whether a path is a directory or lies below it.
func Within(dir, path string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}

func anyAbove(dirs []string, path string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return Within(dir, path) })
}

func cleaned(paths []string) []string {
	out := make([]string, 0, len(paths))
	for _, p := range paths {
		out = append(out, filepath.Clean(p))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// outermost leaves out what lies below another path of the list.
func outermost(paths []string) []string {
	var out []string
	for _, p := range cleaned(paths) {
		if !anyAbove(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// pins are the directories between what is writable and what is read-only in
// it, from the outside in. While they are mount points nobody can move them
// away and put others in their place.
func (p Policy) pins() []string {
	var out []string
	for _, path := range p.ReadOnly {
		for dir := filepath.Dir(path); dir != "/" && !slices.Contains(p.Write, dir); dir = filepath.Dir(dir) {
			if !anyAbove(p.Write, dir) {
				break
			}
			out = append(out, dir)
		}
	}
	slices.Sort(out) // a directory comes before what is in it
	return slices.Compact(out)
}

// UnavailableError says that a sandbox could not be put in force. The command
// was not started.
type UnavailableError struct{ Why string }

func (e *UnavailableError) Error() string { return "confine: " + e.Why }

// Hint says how to go on.
func (e *UnavailableError) Hint() string {
	return "orch doctor shows what this machine has; `confine: off` in config.yaml goes without, see docs/safety.md"
}
