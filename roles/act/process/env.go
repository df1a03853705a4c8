package process

import (
	"path"
	"slices"
	"strings"

	"orch/blackboard"
)

// secretWords are parts of a variable's name that make it a secret.
var secretWords = []string{
	"TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL",
	"API_KEY", "APIKEY", "ACCESS_KEY", "PRIVATE_KEY", "AUTH", "COOKIE", "SESSION_KEY",
}

// droppedNames would let the environment run code, reach an agent of the
// person, or make a command believe that it is part of the build that happens
// to have started orch.
var droppedNames = []string{
	"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MAKE_TERMOUT", "MAKE_TERMERR",
	"BASH_ENV", "ENV", "PROMPT_COMMAND", "LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES",
	"SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "DATABASE_URL", "KUBECONFIG", "DOCKER_HOST",
}

// ScrubEnv returns base without what a command must not inherit: GIT_* and
// ORCH_* variables, secrets by their name, keys that the configuration names, and
// variables that make a shell or the loader run code. A name (or a glob such as
// "AWS_*") in allow is kept whatever it is called, except ORCH_*, which is never
// inherited; a key of the configuration is kept only by its whole name.
func ScrubEnv(base []string, allow ...string) []string {
	keys := blackboard.KeysIn(base)
	out := make([]string, 0, len(base))
	for _, kv := range base {
		name, _, ok := strings.Cut(kv, "=")
		if !ok || name == "" || strings.HasPrefix(name, "ORCH_") {
			continue
		}
		switch {
		case slices.Contains(keys, name):
			if slices.Contains(allow, name) {
				out = append(out, kv)
			}
		case matchesAny(name, allow) || !sensitive(name):
			out = append(out, kv)
		}
	}
	return out
}

// WithoutKeys returns base without the keys that the configuration names, for
// programs that are orch's own means and need the rest.
func WithoutKeys(base []string) []string {
	keys := blackboard.KeysIn(base)
	return slices.DeleteFunc(slices.Clone(base), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(keys, name)
	})
}

func sensitive(name string) bool {
	upper := strings.ToUpper(name)
	if strings.HasPrefix(upper, "GIT_") || strings.HasPrefix(upper, "BASH_FUNC_") || slices.Contains(droppedNames, upper) {
		return true
	}
	if strings.HasSuffix(upper, "_KEY") || strings.HasSuffix(upper, "_DSN") {
		return true
	}
	return slices.ContainsFunc(secretWords, func(w string) bool { return strings.Contains(upper, w) })
}

func matchesAny(name string, globs []string) bool {
	return slices.ContainsFunc(globs, func(g string) bool {
		ok, err := path.Match(g, name)
		return err == nil && ok
	})
}

// withMarker returns env with the marker as its only ORCH_ variable of that name.
func withMarker(env []string, m Marker) []string {
	out := make([]string, 0, len(env)+1)
	for _, kv := range env {
		if !strings.HasPrefix(kv, MarkerEnv+"=") {
			out = append(out, kv)
		}
	}
	return append(out, MarkerEnv+"="+string(m))
}
