package step

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"orch/blackboard"
	"orch/roles/act/tool"
)

var (
	_ Board = (*blackboard.Board)(nil)
	_ Box   = (*tool.Box)(nil)
)

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, ExitDone}, {ErrLate, ExitAgain}, {errors.Join(ErrMoved, errors.New("x")), ExitAgain}, {&DriftError{}, ExitAgain},
		{context.Canceled, ExitAgain}, {context.DeadlineExceeded, ExitCrash}, {errors.New("x"), ExitCrash}, {&NoBackendError{}, ExitCrash},
	} {
		if got := ExitCode(c.err); got != c.want {
			t.Errorf("%v: %d, want %d", c.err, got, c.want)
		}
	}
}

func TestCutKeepsHeadAndTailAndWholeCharacters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, limit := rapid.String().Draw(t, "s"), rapid.IntRange(0, 50).Draw(t, "limit")
		got := Cut(s, limit)
		if len(s) <= limit && got != s {
			t.Fatalf("cut without need: %q", got)
		}
		if utf8.ValidString(s) && !utf8.ValidString(got) {
			t.Fatalf("a character was cut in two: %q", got)
		}
		if len(got) > limit+60 {
			t.Fatalf("%d bytes for a limit of %d", len(got), limit)
		}
	})
}

func TestLongTargetsStayApart(t *testing.T) {
	a, b := strings.Repeat("x", 2000)+"a", strings.Repeat("x", 2000)+"b"
	if shortName(a) == shortName(b) || len(shortName(a)) > nameBytes || shortName("short") != "short" {
		t.Errorf("%q and %q", shortName(a), shortName(b))
	}
}

func TestSettingsNoticeEveryKindOfChange(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "board")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	print := SettingsOf(dir)
	last, err := print()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		change func()
	}{
		{"config", func() { write("config.yaml", "strict: true") }},
		{"values", func() { write("values.md", "be kind") }},
		{"playbook", func() { write("playbooks/a/b.yaml", "name: b") }},
		{"hook", func() { write("hooks/on-final", "#!/bin/sh") }},
		{"mode", func() {
			if err := os.Chmod(filepath.Join(dir, "values.md"), 0o400); err != nil {
				t.Fatal(err)
			}
		}},
		{"removed", func() {
			if err := os.Remove(filepath.Join(dir, "config.yaml")); err != nil {
				t.Fatal(err)
			}
		}},
		{"another directory, the same in all else", func() {
			if err := os.Rename(dir, dir+"-old"); err != nil {
				t.Fatal(err)
			}
			if err := os.CopyFS(dir, os.DirFS(dir+"-old")); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(filepath.Join(dir, "values.md"), 0o400); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		c.change()
		now, err := print()
		if err != nil {
			t.Fatal(err)
		}
		if now == last {
			t.Errorf("%s: not noticed", c.name)
		}
		last = now
	}
	write("log.jsonl", "anything")
	if now, err := print(); err != nil || now != last {
		t.Errorf("the log is no setting: %v", err)
	}
}
