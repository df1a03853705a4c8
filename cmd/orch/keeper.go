package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"orch/blackboard"
	"orch/roles/act/caches"
	"orch/roles/act/confine"
	"orch/roles/act/process"
	"orch/roles/act/tool/gate"
	"orch/roles/run/config"
	"orch/roles/run/socket"
)

// layersEnv tells a step what its supervisor found the machine to have, so that
// not each of them has to try.
const layersEnv = "ORCH_CONFINE"

// Values of the configuration's key confine.
const (
	confineRequire = "require"
	confineOff     = "off"
)

// layers is what this machine has. It is tried once in a process.
func (a *app) layers(ctx context.Context) (confine.Layers, error) {
	if known := os.Getenv(layersEnv); known != "" {
		return confine.Parse(known)
	}
	m, err := a.machine(ctx)
	return m.Layers, err
}

func (a *app) machine(ctx context.Context) (confine.Machine, error) {
	if a.tried != nil {
		return *a.tried, nil
	}
	exe, err := executable()
	if err != nil {
		return confine.Machine{}, err
	}
	in, err := caches.Root() // whether an overlay can be made depends on the file system
	if err != nil {
		in = ""
	}
	dir, err := process.MakeTempIn(in)
	if err != nil {
		return confine.Machine{}, err
	}
	defer process.RemoveTree(dir)
	m := confine.Probe(ctx, []string{exe, "confine", "--try", "--"}, dir)
	if ctx.Err() != nil {
		return m, context.Cause(ctx)
	}
	a.tried = &m
	return m, nil
}

// keeper confines the commands of one step, as far as there are layers, and gives
// them their caches. Nil confines nothing, and leaves the person's caches.
type keeper struct {
	layers  confine.Layers
	scratch string // the TMPDIR of what is confined
	caches  caches.Set
	home    string
	sockets string // where those of all steps are
	set     caches.GoSettings
	write   []string // beside what each command is for
	keep    []string // stays read-only whatever may be written
	hide    []string
	logins  []string // of what is hidden, what the program that keeps it sees
	alone   []string // all that is seen of the directories they lie in
}

// keeperOf is the keeper of a project's steps, as its configuration and the
// machine let it be. rules are the permissions of the goal: what they let be
// changed outside the workspace may be written.
func (a *app) keeperOf(ctx context.Context, cfg config.Config, root, scratch string, rules []gate.Rule) (*keeper, error) {
	if cfg.Confine == confineOff {
		return nil, nil
	}
	layers, err := a.layers(ctx)
	if err != nil {
		return nil, err
	}
	if err := required(cfg, layers); err != nil || !layers.Any() {
		return nil, err
	}
	k, err := newKeeper(layers, scratch)
	if err != nil {
		return nil, err
	}
	if root != "" {
		if err := makeHooks(root); err != nil {
			return nil, err
		}
		k.keep = append(k.keep, protected(root)...)
		k.hide = append(k.hide, ignoredKeys(ctx, root)...)
	}
	own := k.paths(root, cfg.ConfineWrite)
	k.keep = slices.DeleteFunc(k.keep, func(p string) bool { // what a person lets be written is not kept
		return slices.ContainsFunc(own, func(w string) bool { return confine.Within(w, p) }) && filepath.Base(p) != blackboard.DirName
	})
	k.write = append(k.write, own...)
	for _, r := range rules {
		k.write = append(k.write, permitted(r, k.home)...)
	}
	k.hide = append(k.hide, k.paths(root, cfg.ConfineHide)...)
	show := k.paths(root, cfg.ConfineShow)
	k.hide = confine.Resolved(slices.DeleteFunc(k.hide, func(p string) bool {
		return slices.ContainsFunc(show, func(s string) bool { return confine.Within(s, p) })
	}))
	return k, nil
}

// tellLayers is what a supervisor tells its steps of the machine.
func (a *app) tellLayers(cfg config.Config) ([]string, error) {
	if cfg.Confine == confineOff {
		return nil, nil
	}
	l, err := a.layers(context.Background()) // a trial is short, and has a limit of its own
	if err != nil {
		return nil, err
	}
	return []string{layersEnv + "=" + l.String()}, required(cfg, l)
}

// required refuses to go on where the configuration insists and the machine can not.
func required(cfg config.Config, l confine.Layers) error {
	if cfg.Confine == confineRequire && !l.Namespace {
		return &confine.UnavailableError{Why: "confine is set to require, and this machine lets no namespace be made that keeps .orch read-only"}
	}
	return nil
}

func newKeeper(l confine.Layers, scratch string) (*keeper, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		home = "" // then nothing below it can be hidden
	}
	k := &keeper{layers: l, home: home, hide: confine.Secrets(home, strconv.Itoa(os.Getuid()), os.Environ())}
	if k.scratch, err = filepath.EvalSymlinks(scratch); err != nil {
		return nil, err
	}
	if err := socket.MakeFolder(); err != nil {
		return nil, err
	}
	if k.sockets, err = filepath.EvalSymlinks(socket.Folder()); err != nil {
		return nil, err
	}
	held := holding(home)
	k.hide = append(append(k.hide, k.sockets), held...)
	k.logins = confine.Resolved(append(confine.Logins(home), held...))
	k.keep = runLater(home)
	k.set, err = goSettings(home)
	return k, err
}

// bareKeeper confines nothing: it only gives commands caches.
func bareKeeper() (k *keeper, err error) {
	k = &keeper{}
	if k.home, err = os.UserHomeDir(); err != nil {
		k.home = ""
	}
	k.set, err = goSettings(k.home)
	return k, err
}

// goSettings reads what `go env -w` wrote.
func goSettings(home string) (caches.GoSettings, error) {
	path := os.Getenv("GOENV")
	if path == "" {
		dir, err := os.UserConfigDir()
		if err != nil {
			return nil, nil // no home, no settings
		}
		path = filepath.Join(dir, "go", "env")
	}
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || path == "off" {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the settings of go: %w", err)
	}
	set := caches.GoSettings{}
	for lines := bufio.NewScanner(bytes.NewReader(raw)); lines.Scan(); {
		if name, value, ok := strings.Cut(strings.TrimSpace(lines.Text()), "="); ok {
			set[name] = value
		}
	}
	return set, nil
}

// paths makes paths of a configuration absolute; ~ is the home.
func (k *keeper) paths(root string, list []string) []string {
	var out []string
	for _, p := range list {
		if rest, ok := strings.CutPrefix(p, "~"); ok && k.home != "" {
			p = k.home + rest
		}
		if !filepath.IsAbs(p) {
			p = filepath.Join(root, p)
		}
		out = append(out, filepath.Clean(p))
	}
	return out
}

// permitted is where a permission lets something be changed outside the
// workspace: the directory of what it names, so that it can be made and removed
// as well. Where that directory is a whole system's or person's, it is only what
// the permission names, as far as it is there.
func permitted(r gate.Rule, home string) []string {
	if r.Effect != gate.Allow || r.Action == gate.Caution || r.Action == gate.Again {
		return nil
	}
	if r.Pattern == "**" && r.Action == gate.Outside {
		return []string{"/"}
	}
	if !filepath.IsAbs(r.Pattern) {
		return nil
	}
	dir := filepath.Dir(r.Pattern)
	i := strings.IndexAny(r.Pattern, `*?[{\`)
	if i >= 0 {
		dir = filepath.Dir(r.Pattern[:i] + "x")
	}
	broad := filepath.Dir(dir) == "/" || home != "" && confine.Within(dir, home)
	switch {
	case !broad:
		return []string{dir}
	case i >= 0 && r.Pattern[i:] != "**" || dir == "/":
		return nil // confine_write can name it
	case i >= 0:
		return []string{dir} // it is what the pattern says
	}
	return []string{filepath.Clean(r.Pattern)}
}

// around confines what a process is to be: it may write these files and
// directories, and what every confined command may.
func (k *keeper) around(spec process.Spec, write ...string) (process.Spec, error) {
	if k == nil {
		return spec, nil
	}
	spec.Env = k.environ(spec.Env)
	if !k.layers.Any() {
		return spec, nil
	}
	seen := *k
	seen.hide = confine.Seen(k.hide, k.logins, write)
	policy, err := seen.policy(write, nil)
	if err != nil {
		return spec, err
	}
	spec.Confine = &confine.Sandbox{Policy: policy, Layers: k.layers}
	return spec, nil
}

// agentEnviron is what agents get of the environment of this process. Those that
// are confined get their caches when they are.
func (k *keeper) agentEnviron() []string {
	if k.hook() != nil {
		return os.Environ()
	}
	return k.environ(os.Environ())
}

// hook is around for those who start agents; nil where nothing is confined.
func (k *keeper) hook() func(process.Spec, ...string) (process.Spec, error) {
	if k == nil || !k.layers.Any() {
		return nil
	}
	return k.around
}

// outside confines agents that are started beside the steps; the first of them
// makes what is needed, and end removes it.
func (a *app) outside(ctx context.Context, cfg config.Config, root string) (hook func(process.Spec, ...string) (process.Spec, error), end func()) {
	scratch, shut := "", func() {}
	made := sync.OnceValues(func() (k *keeper, err error) {
		if scratch, err = process.MakeTemp(); err != nil {
			return nil, err
		}
		if k, err = a.keeperOf(ctx, cfg, root, scratch, nil); err == nil && k != nil {
			shut, err = k.freshCaches("")
		}
		return k, err
	})
	hook = func(spec process.Spec, write ...string) (process.Spec, error) {
		k, err := made()
		if err != nil {
			return spec, err
		}
		return k.around(spec, write...)
	}
	return hook, func() {
		if scratch != "" {
			os.RemoveAll(scratch)
		}
		shut()
	}
}

func (k *keeper) policy(write, readOnly []string) (confine.Policy, error) {
	p := confine.Policy{Write: slices.Concat([]string{k.scratch}, write, k.write), ReadOnly: slices.Concat(k.keep, readOnly), Hide: k.hide, Alone: k.alone}
	if k.caches.Dir != "" {
		p.Write = append(p.Write, k.caches.Dir)
	}
	if k.caches.Over != nil {
		p.Over = []confine.Over{*k.caches.Over}
	}
	return p.Clean()
}

// asking confines what may ask through the socket of a step: it sees that one
// and no other. Everything else sees no socket of a step at all.
func (k *keeper) asking(marker string, may bool) *keeper {
	if k == nil || !may {
		return k
	}
	own := *k
	own.hide = slices.DeleteFunc(slices.Clone(k.hide), func(p string) bool { return p == k.sockets })
	own.alone = []string{filepath.Join(k.sockets, filepath.Base(socket.Dir(marker)))}
	return &own
}

func (k *keeper) environ(env []string) []string {
	if k == nil {
		return env
	}
	env = k.caches.Environ(env, k.home, k.set)
	if k.scratch == "" {
		return env
	}
	return caches.With(env, "TMPDIR="+k.scratch)
}
