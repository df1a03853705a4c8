package confine

import (
	"path/filepath"
	"slices"
	"strings"
)

// Secrets are the places below a home, and of the system, that no command of a
// step needs to see: keys, logins, and the sockets of what would act for the person
// outside of any confinement.
func Secrets(home, uid string, env []string) []string {
	hide := []string{
		"/run/user/" + uid, "/run/docker.sock", "/run/podman", "/run/containerd", "/run/dbus", "/run/systemd/private",
		"/run/snapd.socket", "/run/libvirt", "/run/screen", "/tmp/.X11-unix", "/tmp/tmux-" + uid,
	}
	if home != "" {
		for _, name := range slices.Concat(credentials, logins) {
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

func lookup(env []string, name string) string {
	for _, kv := range slices.Backward(env) {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}
