package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"orch/roles/act/tool/gate"
)

// action is one decoded call.
type action interface {
	check() error                // what the type alone does not say
	reads() bool                 // changes nothing
	gate(b *Box) []gate.Decision // all must allow
	target(b *Box) string        // normalised input
	run(ctx context.Context, b *Box) Result
}

// actions makes an empty input for each tool.
func actions() map[Name]action {
	return map[Name]action{
		Shell: &ShellInput{}, ReadFile: &ReadFileInput{}, WriteFile: &WriteFileInput{}, EditFile: &EditFileInput{}, Glob: &GlobInput{}, Grep: &GrepInput{},
		Fetch: &FetchInput{}, WebSearch: &SearchInput{}, MDFind: &MDFindInput{}, AppleScript: &AppleScriptInput{},
	}
}

// Names lists the tools this system has.
func Names() []Name {
	names := []Name{Shell, ReadFile, WriteFile, EditFile, Glob, Grep, Fetch, WebSearch}
	if onMac {
		names = append(names, MDFind, AppleScript)
	}
	return names
}

// decode reads a call's input strictly.
func decode(c Call) (action, error) {
	if !slices.Contains(Names(), c.Tool) {
		all := make([]string, 0, len(Names()))
		for _, n := range Names() {
			all = append(all, string(n))
		}
		return nil, fmt.Errorf("unknown tool %q, there are %s", c.Tool, strings.Join(all, ", "))
	}
	a := actions()[c.Tool]
	dec := json.NewDecoder(bytes.NewReader(c.Input))
	dec.DisallowUnknownFields()
	if err := dec.Decode(a); err != nil {
		return nil, fmt.Errorf("input of %s: %w", c.Tool, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("input of %s: more than one value", c.Tool)
	}
	if err := a.check(); err != nil {
		return nil, fmt.Errorf("input of %s: %w", c.Tool, err)
	}
	return a, nil
}

func need(field, value string) error {
	if value == "" {
		return fmt.Errorf("%s is missing", field)
	}
	if strings.ContainsRune(value, 0) {
		return fmt.Errorf("%s contains a zero byte", field)
	}
	return nil
}

// Target names a call for memory and for MUST NOT: the approach is
// shell:<program> or the tool's name, the target its normalised input.
func (b *Box) Target(c Call) (approach, target string) {
	act, err := decode(c)
	if err != nil {
		return string(c.Tool), strings.TrimSpace(string(c.Input))
	}
	approach = string(c.Tool)
	if s, ok := act.(*ShellInput); ok {
		approach = "shell:" + mainProgram(b.gate.Shell(s.Command, b.dirOf(s.Dir)).Programs)
	}
	return approach, act.target(b)
}

// Writes are the paths a call is seen to change, relative to the workspace
// where they are in it. What a program does by itself is not seen.
func (b *Box) Writes(c Call) []string {
	act, err := decode(c)
	if err != nil {
		return nil
	}
	var all []string
	for _, d := range act.gate(b) {
		for _, path := range d.Writes {
			all = append(all, b.rel(path))
		}
	}
	return all
}

// wrapperNames say how to run a program, not which one.
var wrapperNames = []string{"env", "nohup", "timeout", "nice", "time", "command", "exec", "stdbuf", "setsid", "sh", "bash", "dash", "sudo", "xargs", "echo", "source", ".", "eval", "printf", "busybox"}

// mainProgram is the first program that is not a wrapper.
func mainProgram(programs []string) string {
	for _, p := range programs {
		if !slices.Contains(wrapperNames, p) {
			return p
		}
	}
	if len(programs) > 0 {
		return programs[0]
	}
	return "sh"
}

// normalCommand prints a command in one way, however it was spaced. The parser
// drops carriage returns, a shell does not: such a command is only like itself.
func normalCommand(command string) string {
	if strings.Contains(command, "\r") {
		return command
	}
	file, err := syntax.NewParser().Parse(strings.NewReader(command), "")
	if err != nil {
		return strings.TrimSpace(command)
	}
	var out strings.Builder
	if syntax.NewPrinter(syntax.SingleLine(true)).Print(&out, file) != nil {
		return strings.TrimSpace(command)
	}
	return strings.TrimSpace(out.String())
}

// normalURL drops what does not name the page.
func normalURL(raw string) string {
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil {
		return raw
	}
	u.Fragment, u.Host, u.Scheme = "", strings.ToLower(u.Host), strings.ToLower(u.Scheme)
	return u.String()
}

// abs is a path of a call as an absolute one.
func (b *Box) abs(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return b.opt.Workspace + string(filepath.Separator) + path
}

// rel names a path relative to the workspace, where it is in it.
func (b *Box) rel(path string) string {
	if r, err := filepath.Rel(b.opt.Workspace, filepath.Clean(b.abs(path))); err == nil && r != ".." && !strings.HasPrefix(r, ".."+string(filepath.Separator)) {
		return filepath.ToSlash(r)
	}
	return filepath.ToSlash(filepath.Clean(path))
}

func (b *Box) dirOf(dir string) string {
	if dir == "" {
		return b.opt.Workspace
	}
	return b.abs(dir)
}
