package confine

import (
	"path/filepath"
	"slices"
	"strings"
)

// Secrets are the places below a home, and of the system, that no command of a
// step needs to see: keys, and the sockets of what would act for the person
// outside of any confinement.
func Secrets(home, uid string, env []string) []string {
	hide := []string{
		"/run/user/" + uid, "/run/docker.sock", "/run/podman", "/run/containerd", "/run/dbus", "/run/systemd/private",
		"/run/snapd.socket", "/run/libvirt", "/run/screen", "/tmp/.X11-unix", "/tmp/tmux-" + uid,
	}
	if home != "" {
		for _, name := range []string{".ssh", ".aws", ".gnupg", ".azure", ".kube", ".docker", ".config/gcloud", ".config/gh", ".password-store"} {
			hide = append(hide, filepath.Join(home, name))
		}
	}
	for _, name := range []string{"SSH_AUTH_SOCK", "XDG_RUNTIME_DIR"} {
		if path := lookup(env, name); filepath.IsAbs(path) {
			hide = append(hide, path)
		}
	}
	for _, name := range []string{"DOCKER_HOST", "DBUS_SESSION_BUS_ADDRESS"} {
		if path, ok := strings.CutPrefix(strings.TrimPrefix(lookup(env, name), "unix:path="), "unix://"); ok || filepath.IsAbs(path) {
			path, _, _ = strings.Cut(path, ",")
			hide = append(hide, path)
		}
	}
	return hide
}

// Git are the files of a repository's directory that decide which programs git
// runs, given what is there: a worktree or submodule has its own.
func Git(dir string, submodules []string) []string {
	var out []string
	for _, d := range append([]string{dir}, submodules...) {
		out = append(out, filepath.Join(d, "hooks"), filepath.Join(d, "config"), filepath.Join(d, "config.worktree"))
	}
	return out
}

// GoSettings are what the go command was told by `go env -w`, by name.
type GoSettings map[string]string

// Redirect is an environment in which builds keep their caches below a
// directory of orch's: what a confined command puts there can not end up in a
// build of the person's own. The modules the person already has are offered to
// the go command as a proxy, so that builds work without a network.
func Redirect(env []string, dir, home string, set GoSettings) []string {
	value := func(name string) string {
		if v := lookup(env, name); v != "" {
			return v
		}
		return set[name]
	}
	mods := value("GOMODCACHE")
	if mods == "" {
		paths := filepath.SplitList(value("GOPATH"))
		if len(paths) == 0 && home != "" {
			paths = []string{filepath.Join(home, "go")}
		}
		if len(paths) > 0 {
			mods = filepath.Join(paths[0], "pkg", "mod")
		}
	}
	proxy := value("GOPROXY")
	if proxy == "" {
		proxy = "https://proxy.golang.org,direct"
	}
	vars := []string{
		"GOCACHE=" + filepath.Join(dir, "go-build"), "GOMODCACHE=" + filepath.Join(dir, "go-mod"),
		"npm_config_cache=" + filepath.Join(dir, "npm"), "PIP_CACHE_DIR=" + filepath.Join(dir, "pip"),
		"UV_CACHE_DIR=" + filepath.Join(dir, "uv"), "CARGO_HOME=" + filepath.Join(dir, "cargo"),
	}
	if filepath.IsAbs(mods) {
		if value("GOPRIVATE") != "" || value("GONOPROXY") != "" {
			proxy = "direct" // nobody is told the names of private modules
			vars = append(vars, "GONOPROXY=none")
		}
		vars = append(vars, "GOPROXY=file://"+filepath.ToSlash(filepath.Join(mods, "cache", "download"))+","+proxy)
	}
	return With(env, vars...)
}

// With sets variables in an environment.
func With(env []string, vars ...string) []string {
	out := slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.ContainsFunc(vars, func(v string) bool { return strings.HasPrefix(v, name+"=") })
	})
	return append(out, vars...)
}

func lookup(env []string, name string) string {
	for _, kv := range slices.Backward(env) {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}
