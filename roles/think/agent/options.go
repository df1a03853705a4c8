package agent

import (
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"mvdan.cc/sh/v3/shell"

	"orch/roles/act/process"
	"orch/roles/think/agent/cli"
)

// World is what an agent gets from the process it runs in.
type World struct {
	Environ   []string     // the whole environment; it is scrubbed for each agent
	Process   process.Spec // guard, grace and marker of what is started
	Workspace string       // what a planner or perceiver may look at; empty: nothing
	Scratch   string       // for temporary files; empty: the system's place
	Now       func() time.Time

	StreamBytes int64 // most output of an agent; 0: exec.DefaultStreamBytes

	// Confine makes what is started one that may write only these files and
	// directories; nil confines nothing.
	Confine func(spec process.Spec, writable ...string) (process.Spec, error)
}

// Option documents one key of models.<role>.options.
type Option struct {
	Name, Default, Unit, Allowed, Doc string
}

// Options lists every key, for documentation and errors.
func Options() []Option {
	return []Option{
		{"preset", "", "", strings.Join(cli.Names(), ", "), "which agent program this is"},
		{"command", "the preset's program on PATH", "", "", "the program to run; without a preset, any command line; one with a slash is looked for from the project"},
		{"args", "", "", "", "more arguments, split as a shell does"},
		{"format", "text", "", "text, json", "what a command without a preset reads and writes"},
		{"access", "workspace", "", "read, workspace, full", "what an acting agent may change by itself"},
		{"timeout_ms", "1800000", "ms", "1000 to 86400000", "longest run"},
		{"idle_ms", "600000", "ms", "1000 to 86400000", "longest silence"},
		{"linger_ms", "5000", "ms", "1 to 600000", "how long it may stay after its last event"},
		{"keep_env", "", "", "names or globs, separated by commas", "environment to keep beside the preset's own"},
		{"write", "", "", "directories, separated by commas", "what it keeps beside the preset's own and may write where it is confined; relative to the home"},
		{"account", "the preset's name", "", "", "accounts of the same name are paused together"},
		{"serve", "false", "", "true, false", "acp: offer our file and terminal tools to the agent"},
	}
}

// OptionError says what is wrong with one option.
type OptionError struct{ Option, What string }

func (e *OptionError) Error() string { return fmt.Sprintf("options.%s %s", e.Option, e.What) }

// Hint names the next command.
func (e *OptionError) Hint() string {
	return "orch agent ls shows what can be used; docs/agents.md explains each option"
}

type settings struct {
	kind, model, title       string
	preset                   cli.Preset
	program                  string
	args, keep, write        []string
	access                   cli.Access
	wallMS, idleMS, lingerMS int64
	account, format          string
	serve                    bool
}

func parse(kind, name string, options map[string]string) (settings, error) {
	s := settings{kind: kind, model: name, access: cli.Workspace}
	known := map[string]bool{}
	for _, o := range Options() {
		known[o.Name] = true
	}
	keys := make([]string, 0, len(options))
	for k := range options {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		if !known[k] {
			return s, &OptionError{k, "is not known"}
		}
	}
	if err := s.numbers(options); err != nil {
		return s, err
	}
	if err := s.words(options); err != nil {
		return s, err
	}
	return s, s.choose(options)
}

func (s *settings) numbers(options map[string]string) error {
	for _, n := range []struct {
		name     string
		min, max int64
		to       *int64
	}{{"timeout_ms", 1000, 86_400_000, &s.wallMS}, {"idle_ms", 1000, 86_400_000, &s.idleMS}, {"linger_ms", 1, 600_000, &s.lingerMS}} {
		text, ok := options[n.name]
		if !ok {
			continue
		}
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil || v < n.min || v > n.max {
			return &OptionError{n.name, fmt.Sprintf("is %q, allowed: %d to %d ms", text, n.min, n.max)}
		}
		*n.to = v
	}
	return nil
}

func (s *settings) words(options map[string]string) error {
	switch a := cli.Access(options["access"]); a {
	case "":
	case cli.Read, cli.Workspace, cli.Full:
		s.access = a
	default:
		return &OptionError{"access", fmt.Sprintf("is %q, allowed: read, workspace, full", a)}
	}
	switch v := options["serve"]; v {
	case "", "false", "true":
		s.serve = v == "true"
	default:
		return &OptionError{"serve", fmt.Sprintf("is %q, allowed: true, false", v)}
	}
	for _, name := range strings.Split(options["keep_env"], ",") {
		if name = strings.TrimSpace(name); name != "" {
			s.keep = append(s.keep, name)
		}
	}
	for _, dir := range strings.Split(options["write"], ",") {
		if dir = strings.TrimSpace(dir); dir != "" {
			s.write = append(s.write, strings.TrimPrefix(dir, "~/"))
		}
	}
	var err error
	if s.args, err = split(options["args"]); err != nil {
		return &OptionError{"args", err.Error()}
	}
	return nil
}

// choose finds the preset and the program.
func (s *settings) choose(options map[string]string) error {
	command, preset, format := options["command"], options["preset"], options["format"]
	switch {
	case preset != "":
		p, ok := cli.Find(preset)
		if !ok {
			return &OptionError{"preset", fmt.Sprintf("is %q, allowed: %s", preset, strings.Join(cli.Names(), ", "))}
		}
		if format != "" {
			return &OptionError{"format", "is for a command without a preset"}
		}
		s.preset, s.title, s.program = p, p.Name, command
		if s.kind == ACP && p.ACP == nil && command == "" {
			return &OptionError{"preset", fmt.Sprintf("%s does not speak ACP; use the backend exec", preset)}
		}
	case command == "":
		return &OptionError{"preset", "or options.command is needed: which agent is it"}
	default:
		words, err := split(command)
		if err != nil || len(words) == 0 {
			return &OptionError{"command", fmt.Sprintf("%q can not be split into words", command)}
		}
		if format != "" && format != "text" && format != "json" {
			return &OptionError{"format", fmt.Sprintf("is %q, allowed: text, json", format)}
		}
		s.format = format
		s.preset, s.program, s.title = cli.Plain(format == "json"), words[0], filepath.Base(words[0])
		s.args = append(words[1:], s.args...)
	}
	s.preset.Write = append(slices.Clone(s.preset.Write), s.write...)
	s.account = options["account"]
	if s.account == "" {
		s.account = s.title
	}
	return nil
}

// split is what a shell makes of a line, with no variable set.
func split(line string) ([]string, error) {
	if line == "" {
		return nil, nil
	}
	return shell.Fields(line, func(string) string { return "" })
}
