package caches

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// kind is a toolchain, as far as caches go.
type kind struct {
	vars  []string // that tell it where its caches are, with the name of each below a set
	marks []string // files by which a project that uses it is known
	warm  *Warming
}

// Warming fills caches with what every project of a toolchain needs, in an empty
// directory. Identity says which toolchain it is: the same words, the same caches.
type Warming struct{ Identity, Fill []string }

// kinds are all caches there are. What is not here is the person's: to be read,
// and where anything confines, not to be written.
var kinds = []kind{
	{vars: []string{"GOCACHE=go-build", "GOMODCACHE=go-mod"}, marks: []string{"go.mod", "go.work"}, warm: &Warming{
		Identity: []string{"go", "env", "GOVERSION", "GOROOT", "GOOS", "GOARCH", "GOAMD64", "GOARM64", "CGO_ENABLED", "CC", "GOFLAGS", "GOEXPERIMENT"},
		Fill:     []string{"go", "build", "std"},
	}},
	{vars: []string{"npm_config_cache=npm"}, marks: []string{"package.json"}},
	{vars: []string{"PIP_CACHE_DIR=pip", "UV_CACHE_DIR=uv"}, marks: []string{"pyproject.toml", "requirements.txt", "setup.py", "setup.cfg"}},
	{vars: []string{"CARGO_HOME=cargo"}, marks: []string{"Cargo.toml"}},
}

// Uses tells whether a project of these files fills any cache.
func Uses(files []string) bool {
	return slices.ContainsFunc(kinds, func(k kind) bool { return k.used(files) })
}

func (k kind) used(files []string) bool {
	return slices.ContainsFunc(files, func(f string) bool { return slices.Contains(k.marks, path.Base(f)) })
}

// Warm lists what fills caches without a project, for the toolchains of these files.
func Warm(files []string) (all []Warming) {
	for _, k := range kinds {
		if k.warm != nil && k.used(files) {
			all = append(all, *k.warm)
		}
	}
	return all
}

// GoSettings are what the go command was told by `go env -w`, by name.
type GoSettings map[string]string

// Environ is an environment in which builds use these caches. The modules the
// person already has are offered to the go command as a proxy, which it checks
// them from, so that builds work without a network.
func (s Set) Environ(env []string, home string, set GoSettings) []string {
	if s.Dir == "" {
		return env
	}
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
	var vars []string
	for _, k := range kinds {
		for _, v := range k.vars {
			name, dir, _ := strings.Cut(v, "=")
			vars = append(vars, name+"="+filepath.Join(s.Dir, dir))
		}
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
