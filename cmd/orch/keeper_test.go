package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"orch/roles/act/confine"
	"orch/roles/act/tool/gate"
	"orch/roles/run/config"
)

// TestWhatAPermissionLetsBeWritten: the directories its pattern names, and never
// more than it says.
func TestWhatAPermissionLetsBeWritten(t *testing.T) {
	for rule, want := range map[string][]string{
		"outside:/srv/www/**":    {"/srv/www"},
		"outside:/srv/www/*.css": {"/srv/www"},
		"outside:/srv/www/w*/x":  {"/srv/www"},
		"outside:/srv/w*/x":      nil,
		"outside:/srv/**":        {"/srv"},
		"outside:/etc/hosts":     {"/etc/hosts"},
		"outside:/home/u/note":   {"/home/u/note"},
		"outside:/home/u/a/note": {"/home/u/a"},
		"overwrite:/srv/a/b.txt": {"/srv/a"},
		"delete:build/**":        nil, // of the project, which may be written anyway
		"outside:**":             {"/"},
		"outside:/**":            nil,
		"outside:https://x/**":   nil,
		"caution:/srv/**":        nil,
		"unknown:**":             nil,
	} {
		r, err := gate.ParseRule(rule)
		if err != nil {
			t.Fatal(err)
		}
		if got := permitted(r, "/home/u"); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", rule, got, want)
		}
		r.Effect = gate.Deny
		if got := permitted(r, "/home/u"); got != nil {
			t.Errorf("a denial of %s lets %v be written", rule, got)
		}
	}
}

func TestAKeeperFollowsTheConfiguration(t *testing.T) {
	root, home := t.TempDir(), t.TempDir()
	for _, dir := range []string{".git/modules/sub/hooks", ".orch"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(root, ".git/modules/sub/HEAD"), "ref: refs/heads/main\n")
	t.Setenv("HOME", home)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(home, ".cache"))
	t.Setenv(layersEnv, "namespace+landlock6")
	cfg := config.Default()
	keeper := func() *keeper {
		t.Helper()
		k, err := (&app{}).keeperOf(t.Context(), cfg, root, t.TempDir(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	k := keeper()
	p, err := k.policy([]string{root}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".orch", ".git/hooks", ".git/config", ".git/modules/sub/hooks"} {
		if !slices.Contains(p.ReadOnly, filepath.Join(root, name)) {
			t.Errorf("%s is not kept: %v", name, p.ReadOnly)
		}
	}
	if _, err := os.Stat(filepath.Join(root, ".git/hooks")); err != nil {
		t.Errorf("what is not there can not be kept: %v", err)
	}
	if !slices.Contains(p.Hide, filepath.Join(home, ".aws")) {
		t.Errorf("keys are not hidden: %v", p.Hide)
	}

	cfg.ConfineWrite, cfg.ConfineShow, cfg.ConfineHide = []string{".git", ".orch", "~/data"}, []string{"~/.aws"}, []string{"secret"}
	if p, err = keeper().policy([]string{root}, nil); err != nil {
		t.Fatal(err)
	}
	if slices.Contains(p.ReadOnly, filepath.Join(root, ".git/hooks")) || !slices.Contains(p.ReadOnly, filepath.Join(root, ".orch")) {
		t.Errorf("confine_write gives git free and never orch: %v", p.ReadOnly)
	}
	if !slices.Contains(p.Write, filepath.Join(home, "data")) || slices.Contains(p.Hide, filepath.Join(home, ".aws")) || !slices.Contains(p.Hide, filepath.Join(root, "secret")) {
		t.Errorf("%+v", p)
	}

	cfg.Confine = confineOff
	if k := keeper(); k != nil {
		t.Errorf("off confines: %+v", k)
	}
	cfg.Confine = confineRequire
	for layers, ok := range map[string]bool{"namespace": true, "landlock6": false, "none": false} {
		l, err := confine.Parse(layers)
		if err != nil {
			t.Fatal(err)
		}
		if got := required(cfg, l) == nil; got != ok {
			t.Errorf("%s is enough: %v", layers, got)
		}
	}
}
