package trust

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// cloned is a project whose files git tracks, and a store.
func cloned(t *testing.T, files map[string]string) (root string, s *Store) {
	t.Helper()
	root = project(t, files)
	git(t, root, "init", "-q")
	git(t, root, "add", "-Af")
	return root, Open(t.TempDir())
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, to, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(to, path); err != nil {
		t.Fatal(err)
	}
}

// trustAll trusts what is there.
func trustAll(t *testing.T, s *Store, root string) {
	t.Helper()
	if _, err := s.Add(t.Context(), root); err != nil {
		t.Fatal(err)
	}
	if err := s.Check(t.Context(), root); err != nil {
		t.Fatalf("after trust: %v", err)
	}
}

// untrusted lists what is not trusted; those that are gone begin with a minus.
func untrusted(t *testing.T, s *Store, root string) (names []string) {
	t.Helper()
	err := s.Check(t.Context(), root)
	var u *UntrustedError
	if err != nil && !errors.As(err, &u) {
		t.Fatal(err)
	}
	if u != nil {
		for _, f := range u.Files {
			names = append(names, f.Path)
		}
		for _, p := range u.Gone {
			names = append(names, "-"+p)
		}
	}
	return names
}

// A name that holds what a record looks like trusts nothing, and is refused.
func TestNoNameForgesARecord(t *testing.T) {
	root, s := cloned(t, map[string]string{".orch/playbooks/a.yaml": "name: a\n"})
	evil := File{Path: ".orch/hooks/pre-step", Hash: "33dbdb08ec4b0d47ffa31d9d0f9f7d6bfb9ef4d4d2d5d5ba2e79a3d3fa8a4b58", Executable: true}
	forged := map[string]string{"record of an earlier version": "x\n" + evil.Hash + " " + filepath.Join(root, evil.Path),
		"record of this one": "x\n{\"version\":2,\"files\":{}}"}
	for name, text := range forged {
		path := filepath.Join(root, ".orch/playbooks", strings.ReplaceAll(text, "/", "_"))
		write(t, path, "", 0o644)
		git(t, root, "add", "-Af")
		var odd *OddError
		if err := s.Check(t.Context(), root); !errors.As(err, &odd) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: check: %v", name, err)
		}
		if _, err := s.Add(t.Context(), root); !errors.As(err, &odd) {
			t.Errorf("%s: trust: %v", name, err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a\tb", "a\x1b[2Kb", "a\x7f", "a\u202eb", "a\u0085b", "a\xffb"} {
		path := filepath.Join(root, ".orch/hooks", name)
		write(t, path, "", 0o755)
		git(t, root, "add", "-Af")
		var odd *OddError
		if err := s.Check(t.Context(), root); !errors.As(err, &odd) {
			t.Errorf("%q: %v", name, err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// What earlier versions noted could be forged, so it is asked for again, which
// is said until the person has trusted once.
func TestRecordsOfEarlierVersionsAreAskedForAgain(t *testing.T) {
	root, _ := cloned(t, map[string]string{".orch/playbooks/a.yaml": "name: a\n"})
	state := t.TempDir()
	s := Open(state)
	files, err := Foreign(t.Context(), root)
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	write(t, filepath.Join(state, "orch", "trusted"), files[0].Hash+" "+filepath.Join(root, files[0].Path)+"\n", 0o600)
	var u *UntrustedError
	if err := s.Check(t.Context(), root); !errors.As(err, &u) || !u.Earlier || !strings.Contains(u.Hint(), "earlier versions") {
		t.Fatalf("got %v", err)
	}
	trustAll(t, s, root)
	write(t, filepath.Join(root, ".orch/playbooks/a.yaml"), "name: b\n", 0o644)
	if err := s.Check(t.Context(), root); !errors.As(err, &u) || u.Earlier {
		t.Errorf("it is said again: %v", err)
	}
}

// A change of anything that was trusted asks again.
func TestAPullThatChangesAnythingTrustedAsksAgain(t *testing.T) {
	for name, c := range map[string]struct {
		change func(root string)
		want   []string
	}{
		"nothing":         {func(string) {}, nil},
		"a hook":          {func(r string) { write(t, filepath.Join(r, ".orch/hooks/on-final"), "#!/bin/sh\nevil\n", 0o755) }, []string{".orch/hooks/on-final"}},
		"the config":      {func(r string) { write(t, filepath.Join(r, ".orch/config.yaml"), "strict: false\n", 0o644) }, []string{".orch/config.yaml"}},
		"the values":      {func(r string) { write(t, filepath.Join(r, ".orch/values.md"), "obey\n", 0o644) }, []string{".orch/values.md"}},
		"a new playbook":  {func(r string) { write(t, filepath.Join(r, ".orch/playbooks/new.yaml"), "name: n\n", 0o644) }, []string{".orch/playbooks/new.yaml"}},
		"a mode":          {func(r string) { write(t, filepath.Join(r, ".orch/hooks/lib"), "lib\n", 0o755) }, []string{".orch/hooks/lib"}},
		"a file is gone":  {func(r string) { _ = os.Remove(filepath.Join(r, ".orch/config.yaml")) }, []string{"-.orch/config.yaml"}},
		"all is gone":     {func(r string) { _ = os.RemoveAll(filepath.Join(r, ".orch")) }, []string{"-.orch/config.yaml", "-.orch/hooks/lib", "-.orch/hooks/linked", "-.orch/hooks/on-final", "-.orch/values.md"}},
		"a link's target": {func(r string) { write(t, filepath.Join(r, "tools/hook.sh"), "evil\n", 0o755) }, []string{".orch/hooks/linked"}},
		"where it leads": {func(r string) {
			_ = os.Remove(filepath.Join(r, ".orch/hooks/linked"))
			link(t, "../../tools/other.sh", filepath.Join(r, ".orch/hooks/linked")) // of the same content
		}, []string{".orch/hooks/linked"}},
		"a file for a link": {func(r string) {
			_ = os.Remove(filepath.Join(r, ".orch/hooks/linked"))
			write(t, filepath.Join(r, ".orch/hooks/linked"), "tool\n", 0o755)
		}, []string{".orch/hooks/linked"}},
	} {
		root := project(t, map[string]string{"tools/hook.sh": "tool\n", "tools/other.sh": "tool\n"})
		write(t, filepath.Join(root, ".orch/config.yaml"), "strict: true\n", 0o644)
		write(t, filepath.Join(root, ".orch/values.md"), "be kind\n", 0o644)
		write(t, filepath.Join(root, ".orch/hooks/on-final"), "#!/bin/sh\n", 0o755)
		write(t, filepath.Join(root, ".orch/hooks/lib"), "lib\n", 0o644)
		link(t, "../../tools/hook.sh", filepath.Join(root, ".orch/hooks/linked"))
		git(t, root, "init", "-q")
		git(t, root, "add", "-Af")
		s := Open(t.TempDir())
		trustAll(t, s, root)
		c.change(root)
		git(t, root, "add", "-Af")
		if got := untrusted(t, s, root); !slices.Equal(got, c.want) {
			t.Errorf("%s: asks for %q, want %q", name, got, c.want)
		}
		trustAll(t, s, root)
	}
}

// However a file came with a repository, it came with it.
func TestWhatCameWithARepositoryIsFoundBehindLinksAndInSubmodules(t *testing.T) {
	hook := "#!/bin/sh\n"
	for name, c := range map[string]struct {
		make func(root string)
		want []string
	}{
		".orch is a link": {func(r string) {
			write(t, filepath.Join(r, "tools/orch/hooks/on-final"), hook, 0o755)
			link(t, "tools/orch", filepath.Join(r, ".orch"))
			git(t, r, "add", "-Af")
		}, []string{".orch/hooks/on-final"}},
		"a link of the repository to what it does not have": {func(r string) {
			link(t, "../built/hooks", filepath.Join(r, ".orch/hooks"))
			git(t, r, "add", "-Af")
			write(t, filepath.Join(r, "built/hooks/on-final"), hook, 0o755)
		}, []string{".orch/hooks/on-final"}},
		"a person's link into the repository": {func(r string) {
			write(t, filepath.Join(r, "tools/hook.sh"), hook, 0o755)
			git(t, r, "add", "-Af")
			link(t, "../../tools/hook.sh", filepath.Join(r, ".orch/hooks/on-final"))
		}, []string{".orch/hooks/on-final"}},
		"a repository of its own below .orch": {func(r string) {
			write(t, filepath.Join(r, ".orch/hooks/on-final"), hook, 0o755)
			git(t, filepath.Join(r, ".orch/hooks"), "init", "-q")
			git(t, filepath.Join(r, ".orch/hooks"), "add", "on-final")
			write(t, filepath.Join(r, ".orch/hooks/pre-step"), hook, 0o755)
		}, []string{".orch/hooks/on-final"}},
		"a link to a directory": {func(r string) {
			write(t, filepath.Join(r, "tools/playbooks/a.yaml"), "name: a\n", 0o644)
			link(t, "../tools/playbooks", filepath.Join(r, ".orch/playbooks"))
			git(t, r, "add", "-Af")
		}, []string{".orch/playbooks/a.yaml"}},
		"a link that leads in a circle is the person's": {func(r string) { link(t, ".", filepath.Join(r, ".orch/hooks/again")) }, nil},
		"what is the person's own":                      {func(r string) { write(t, filepath.Join(r, ".orch/hooks/on-final"), hook, 0o755) }, nil},
	} {
		root := project(t, map[string]string{"README.md": "x\n"})
		git(t, root, "init", "-q")
		git(t, root, "add", "-Af")
		c.make(root)
		if got := untrusted(t, Open(t.TempDir()), root); !slices.Equal(got, c.want) {
			t.Errorf("%s: asks for %q, want %q", name, got, c.want)
		}
	}
}

// What never ends is not read.
func TestADeviceIsNotTrusted(t *testing.T) {
	root := project(t, nil)
	link(t, "/dev/zero", filepath.Join(root, ".orch/config.yaml"))
	git(t, root, "init", "-q")
	git(t, root, "add", "-Af")
	var odd *OddError
	if err := Open(t.TempDir()).Check(t.Context(), root); !errors.As(err, &odd) {
		t.Errorf("got %v", err)
	}
}

// A store that a crash cut off in the middle of a record keeps the others, and
// takes the next.
func TestARecordThatWasCutOffSaysNothing(t *testing.T) {
	root, s := cloned(t, map[string]string{".orch/config.yaml": "strict: true\n"})
	trustAll(t, s, root)
	raw, err := os.ReadFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, s.path, string(raw)+string(raw[:len(raw)/2]), 0o600)
	if err := s.Check(t.Context(), root); err != nil {
		t.Error(err)
	}
	write(t, filepath.Join(root, ".orch/config.yaml"), "strict: false\n", 0o644)
	trustAll(t, s, root)
	write(t, s.path, string(raw[:len(raw)-2]), 0o600)
	if got := untrusted(t, s, root); len(got) != 1 {
		t.Errorf("half a record trusts: %q", got)
	}
}

// A guard finds a change in the middle of a run, and asks git only then.
func TestAGuardFindsAPullInMidRun(t *testing.T) {
	root, s := cloned(t, map[string]string{".orch/hooks/on-final": "#!/bin/sh\n"})
	g := NewGuard(s, root, "")
	if err := g.Check(t.Context()); err == nil || g.Seen() != "" {
		t.Fatalf("got %v", err)
	}
	trustAll(t, s, root)
	if err := g.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	path, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", "") // nobody is asked while nothing changed
	if err := errors.Join(g.Check(t.Context()), NewGuard(s, root, g.Seen()).Check(t.Context())); err != nil {
		t.Error(err)
	}
	t.Setenv("PATH", filepath.Dir(path))
	write(t, filepath.Join(root, ".orch/hooks/on-final"), "#!/bin/sh\nevil\n", 0o755)
	var u *UntrustedError
	if err := g.Check(t.Context()); !errors.As(err, &u) {
		t.Errorf("got %v", err)
	}
	write(t, filepath.Join(root, ".orch/hooks/on-final"), "#!/bin/sh\n", 0o755)
	if err := g.Check(t.Context()); err != nil {
		t.Errorf("as it was: %v", err)
	}
}
