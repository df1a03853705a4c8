package check

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"gopkg.in/yaml.v3"
)

// Decode reads a check from JSON, strictly.
func Decode(data []byte) (Check, error) {
	var c Check
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&c); err != nil {
		return Check{}, fmt.Errorf("read check: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return Check{}, errors.New("read check: data after the check")
	}
	return c, c.Validate()
}

// DecodeYAML reads a check from YAML, strictly.
func DecodeYAML(data []byte) (Check, error) {
	var c Check
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&c); err != nil {
		return Check{}, fmt.Errorf("read check: %w", err)
	}
	if err := dec.Decode(new(Check)); !errors.Is(err, io.EOF) {
		return Check{}, errors.New("read check: data after the check")
	}
	return c, c.Validate()
}

const kinds = "run, file, json, http, git"

// Validate reports the first thing that makes a check unusable, and what is allowed.
func (c Check) Validate() error {
	set := 0
	for _, there := range []bool{c.Run != nil, c.File != nil, c.JSON != nil, c.HTTP != nil, c.Git != nil} {
		if there {
			set++
		}
	}
	if set != 1 {
		return fmt.Errorf("a check has exactly one of %s, this one has %d", kinds, set)
	}
	switch {
	case c.Run != nil:
		return named("run", c.Run.validate())
	case c.File != nil:
		return named("file", c.File.validate())
	case c.JSON != nil:
		return named("json", c.JSON.validate())
	case c.HTTP != nil:
		return named("http", c.HTTP.validate())
	}
	return named("git", c.Git.validate())
}

func named(kind string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("check %s: %w", kind, err)
}

func (c *Command) validate() error {
	if err := oneCommand(c.Command, c.Argv); err != nil {
		return err
	}
	if c.WallMS < 0 {
		return errors.New("wall_ms is negative")
	}
	if c.Exit != nil && (*c.Exit < 0 || *c.Exit > 255) {
		return fmt.Errorf("exit is %d, allowed: 0 to 255", *c.Exit)
	}
	return errors.Join(inside("dir", c.Dir), c.Stdout.demands("stdout"), c.Stderr.demands("stderr"))
}

// oneCommand wants a command line or an argv, not both.
func oneCommand(command string, argv []string) error {
	if (strings.TrimSpace(command) == "") == (len(argv) == 0) {
		return errors.New("give either command (a line for sh) or argv (a list)")
	}
	return nil
}

// inside refuses a path that leaves the workspace by its spelling.
func inside(field, path string) error {
	if path == "" || filepath.IsLocal(filepath.FromSlash(path)) {
		return nil
	}
	return fmt.Errorf("%s %q is not a path inside the workspace", field, path)
}

// demands wants a Text that was given to demand something.
func (t *Text) demands(field string) error {
	if t != nil && t.empty() {
		return fmt.Errorf("%s checks nothing, give contains, not_contains, matches or not_matches", field)
	}
	return t.validate(field)
}

func (t *Text) validate(field string) error {
	if t == nil {
		return nil
	}
	for _, p := range []string{t.Matches, t.NotMatches} {
		if _, err := regexp.Compile("(?m)" + p); err != nil {
			return fmt.Errorf("%s: %w", field, err)
		}
	}
	return nil
}

func (t Text) empty() bool { return t == Text{} }

func (f *File) validate() error {
	if f.Path == "" {
		return errors.New("path is missing")
	}
	gone := f.Absent || f.Exists != nil && !*f.Exists
	if f.Absent && f.Exists != nil && *f.Exists {
		return errors.New("absent and exists contradict each other")
	}
	if gone && (f.SHA256 != "" || !f.Text.empty()) {
		return errors.New("a file that must be absent has no content to check")
	}
	if f.SHA256 != "" && !isSHA256(f.SHA256) {
		return fmt.Errorf("sha256 %q is not 64 hex digits", f.SHA256)
	}
	return errors.Join(inside("path", f.Path), f.Text.validate("content"))
}

func isSHA256(s string) bool {
	return len(s) == 64 && strings.Trim(strings.ToLower(s), "0123456789abcdef") == ""
}

var operators = []string{"==", "!=", "<", "<=", ">", ">=", "contains", "exists", "length"}

func (j *JSON) validate() error {
	if j.File == "" {
		if err := oneCommand(j.Command, j.Argv); err != nil {
			return errors.New("give one of file, command and argv")
		}
	} else if j.Command != "" || len(j.Argv) > 0 {
		return errors.New("give one of file, command and argv")
	}
	if !slices.Contains(operators, j.Op) {
		return fmt.Errorf("op %q, allowed: %s", j.Op, strings.Join(operators, " "))
	}
	if _, err := parsePath(j.Path); err != nil {
		return err
	}
	if j.Op != "exists" && j.Op != "==" && j.Op != "!=" && j.Value == nil {
		return fmt.Errorf("op %s needs a value", j.Op)
	}
	if _, ok := j.Value.(bool); j.Op == "exists" && j.Value != nil && !ok {
		return errors.New("the value of op exists is true or false")
	}
	return inside("file", j.File)
}

func (h *HTTP) validate() error {
	u, err := url.Parse(h.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("url %q is not an http or https URL", h.URL)
	case h.Method != "" && h.Method != "GET" && h.Method != "HEAD":
		return fmt.Errorf("method %q, allowed: GET, HEAD", h.Method)
	case h.Status != 0 && (h.Status < 100 || h.Status > 599):
		return fmt.Errorf("status is %d, allowed: 100 to 599", h.Status)
	}
	return h.Body.demands("body")
}

func (g *Git) validate() error {
	if !g.Clean && g.Branch == "" && g.Contains == "" && len(g.DiffLimited) == 0 {
		return errors.New("give clean, branch with contains, or diff_limited")
	}
	if (g.Branch == "") != (g.Contains == "") {
		return errors.New("branch and contains belong together")
	}
	if g.DiffBase != "" && len(g.DiffLimited) == 0 {
		return errors.New("diff_base without diff_limited")
	}
	for _, glob := range g.DiffLimited {
		if !doublestar.ValidatePattern(glob) {
			return fmt.Errorf("diff_limited %q is not a valid glob", glob)
		}
	}
	for _, ref := range []string{g.Branch, g.Contains, g.DiffBase} {
		if strings.HasPrefix(ref, "-") {
			return fmt.Errorf("%q is not a revision", ref)
		}
	}
	return nil
}
