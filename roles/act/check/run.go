package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"orch/roles/act/process"
)

// DefaultWallMS bounds a check whose environment sets no limit.
const DefaultWallMS = 10 * 60_000

const outputBytes = 1 << 20 // of a command, kept for matching

// Run runs the check.
func Run(ctx context.Context, c Check, env Env) Verdict {
	v := run(ctx, c, env)
	v.Evidence = env.clean(v.Evidence)
	v.Evidence = strings.ToValidUTF8(v.Evidence, "�")
	if v.Evidence == "" {
		v.Evidence = "nothing was seen"
	}
	return v
}

// clean replaces secrets. It must come before every cut: a secret that a cut
// goes through is no longer recognised.
func (e Env) clean(text string) string {
	if e.Redact == nil {
		return text
	}
	return string(e.Redact([]byte(text)))
}

func run(ctx context.Context, c Check, env Env) Verdict {
	if err := c.Validate(); err != nil {
		return cannot(KindNone, "the check is unusable: %v", err)
	}
	if env.WallMS <= 0 {
		env.WallMS = DefaultWallMS
	}
	switch {
	case c.Run != nil:
		return runCommand(ctx, c.Run, env)
	case c.File != nil:
		return lookAtFile(c.File, env)
	case c.JSON != nil:
		return compareJSON(ctx, c.JSON, env)
	case c.HTTP != nil:
		return get(ctx, c.HTTP, env)
	}
	return lookAtGit(ctx, c.Git, env)
}

// cannot is the verdict of a check that could not be run.
func cannot(k Kind, format string, args ...any) Verdict {
	return Verdict{Class: Environmental, Kind: k, Evidence: "the check can not run: " + fmt.Sprintf(format, args...)}
}

func fails(format string, args ...any) Verdict {
	return Verdict{Class: Logical, Kind: KindNone, Evidence: fmt.Sprintf(format, args...)}
}

func passes(format string, args ...any) Verdict {
	return Verdict{Pass: true, Evidence: fmt.Sprintf(format, args...)}
}

// ran is what a command of a check came to.
type ran struct {
	process.Result
	stdout, stderr bytes.Buffer
	env            Env
	limit          string // on its time, and who set it
}

// execute runs a command line or an argv in the workspace.
func execute(ctx context.Context, command string, argv []string, dir string, wallMS int64, env Env) *ran {
	if len(argv) == 0 {
		argv = []string{"sh", "-c", command}
	}
	r := ran{env: env}
	s := env.Process
	s.Argv, s.Dir, s.Stdin = argv, filepath.Join(env.Workspace, filepath.FromSlash(dir)), nil
	s.WallMS, r.limit = env.WallMS, "limits.check_wall_ms"
	if wallMS > 0 && wallMS < env.WallMS {
		s.WallMS, r.limit = wallMS, "wall_ms of the check"
	}
	r.limit = fmt.Sprintf("%s, set by %s", time.Duration(s.WallMS)*time.Millisecond, r.limit)
	s.KeepBytes, s.FullBytes = outputBytes, outputBytes
	s.Stdout, s.Stderr = &r.stdout, &r.stderr
	r.Result = process.Run(ctx, s)
	return &r
}

// trouble is the verdict of a command that did not come to an end of its own; ok if it did.
func (r *ran) trouble() (v Verdict, ok bool) {
	switch {
	case r.Canceled:
		return cannot(KindNone, "it was stopped"), false
	case errors.Is(r.Err, fs.ErrPermission):
		return cannot(KindPermission, "%v", r.Err), false
	case r.Err != nil:
		return cannot(KindTool, "%v", r.Err), false
	case r.TimedOut:
		return Verdict{Class: Environmental, Kind: KindNone, Evidence: "ended: " + r.Why() + " (" + r.limit + ")" + r.shown()}, false
	case r.Ended():
		return Verdict{Class: Environmental, Kind: KindNone, Evidence: "ended: " + r.Why() + r.shown()}, false
	case r.Signal != "":
		return Verdict{Class: Environmental, Kind: KindNone, Evidence: "the command was ended by " + r.Signal + r.shown()}, false
	}
	return Verdict{}, true
}

func runCommand(ctx context.Context, c *Command, env Env) Verdict {
	r := execute(ctx, c.Command, c.Argv, c.Dir, c.WallMS, env)
	if v, ok := r.trouble(); !ok {
		return v
	}
	want := 0
	if c.Exit != nil {
		want = *c.Exit
	}
	if r.Exit != want {
		v := fails("exit %d, want %d%s", r.Exit, want, r.shown())
		if r.Exit != 0 { // succeeding where a failure was wanted is never the world's fault
			v.Class, v.Kind = Classify(r.Exit, string(r.Output()))
		}
		return v
	}
	for _, t := range []struct {
		name string
		want *Text
		have string
	}{{"stdout", c.Stdout, r.stdout.String()}, {"stderr", c.Stderr, r.stderr.String()}} {
		if why := t.want.unmet(t.have); why != "" {
			return fails("exit %d, but %s %s%s", r.Exit, t.name, why, r.shown())
		}
	}
	return passes("exit %d%s", r.Exit, r.shown())
}

// unmet says what a text is not; empty if all holds.
func (t *Text) unmet(s string) string {
	if t == nil {
		return ""
	}
	switch {
	case t.Contains != "" && !strings.Contains(s, t.Contains):
		return fmt.Sprintf("does not contain %q", t.Contains)
	case t.NotContains != "" && strings.Contains(s, t.NotContains):
		return fmt.Sprintf("contains %q", t.NotContains)
	case t.Matches != "" && !matches(t.Matches, s):
		return fmt.Sprintf("does not match %q", t.Matches)
	case t.NotMatches != "" && matches(t.NotMatches, s):
		return fmt.Sprintf("matches %q", t.NotMatches)
	}
	return ""
}

// matches assumes a pattern that Validate has seen.
func matches(pattern, s string) bool { return regexp.MustCompile("(?m)" + pattern).MatchString(s) }
