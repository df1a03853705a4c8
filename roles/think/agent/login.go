package agent

import (
	"context"
	"slices"
	"strings"

	"orch/blackboard/lazyregexp"
	"orch/roles/act/process"
	"orch/roles/think/agent/cli"
)

// Login is whether an agent program is logged in.
type Login string

// What there is to know of a login.
const (
	LoggedIn     Login = "logged in"
	LoggedOut    Login = "not logged in"
	LoginUnknown Login = "not known"
)

// statusWallMS bounds the question: a cold start with a key ring takes seconds.
const statusWallMS = 10_000

var loggedOut = lazyregexp.New(`(?i)not logged in|"loggedIn"\s*:\s*false`)

// AskLogin asks a program whether it is logged in, which costs nothing. A
// program without such a question, a version that does not know it, and one that
// may have a key from the environment all the same, are not known.
func AskLogin(ctx context.Context, w World, p cli.Preset, path string) Login {
	if len(p.Status) == 0 {
		return LoginUnknown
	}
	spec := w.Process
	spec.Argv = append([]string{path}, p.Status...)
	spec.Env = append(process.ScrubEnv(w.Environ, p.Pass...), p.Quiet...)
	spec.Dir, spec.WallMS, spec.IdleMS, spec.KeepBytes, spec.Session = w.Scratch, statusWallMS, 0, 8<<10, true
	r := process.Run(ctx, spec)
	out := loggedOut.MatchString(string(r.Output()))
	switch {
	case r.OK() && !out:
		return LoggedIn
	case out && r.Err == nil && !r.TimedOut && !holdsKey(w.Environ, p.Pass):
		return LoggedOut
	}
	return LoginUnknown
}

// holdsKey tells whether the environment holds a secret that a program is given.
func holdsKey(env, pass []string) bool {
	plain := process.ScrubEnv(env)
	return slices.ContainsFunc(process.ScrubEnv(env, pass...), func(kv string) bool {
		return !strings.HasSuffix(kv, "=") && !slices.Contains(plain, kv)
	})
}
