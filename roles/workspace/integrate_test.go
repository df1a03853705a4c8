package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"orch/blackboard/message"
)

// integration is an approved task whose branch has meanwhile moved on.
func (b *bench) integration(try func(context.Context, string) (bool, []byte, error)) Integration {
	b.t.Helper()
	repo, err := Open(b.t.Context(), b.repo)
	if err != nil {
		b.t.Fatal(err)
	}
	return Integration{
		Repo: repo, Board: b.board, Goal: "g", Task: "t", Ref: integration, Commit: Commit(b.to), Subject: "merge t", Name: "orch", Email: "o@example.org",
		Scratch: filepath.Join(b.t.TempDir(), "scratch"), Command: "make check", Try: try,
		Keep: func(out []byte) (string, error) { return b.board.PutBlob("g", out) },
	}
}

// ahead adds a commit to integration, from outside.
func (b *bench) ahead(name, text string) string {
	b.t.Helper()
	b.git("checkout", "-q", "integration")
	defer b.git("checkout", "-q", "--detach")
	put(b.t, b.repo, name, text)
	b.git("add", "-A")
	b.git("commit", "-q", "-m", "meanwhile")
	return b.git("rev-parse", "HEAD")
}

// last is the last message of a type, or nil.
func (b *bench) last(want message.Type) message.Body {
	b.t.Helper()
	var found message.Body
	for m, err := range b.board.Messages(1) {
		if err != nil {
			b.t.Fatal(err)
		}
		if m.Type() == want {
			found = m.Body
		}
	}
	return found
}

func TestIntegrateTriesTheMergeBeforeTheBranchMoves(t *testing.T) {
	b := newBench(t)
	meanwhile := b.ahead("other", "x\n")
	seen := false
	err := b.integration(func(_ context.Context, dir string) (bool, []byte, error) {
		_, one := os.Stat(filepath.Join(dir, "other"))
		text, two := os.ReadFile(filepath.Join(dir, "f"))
		seen = one == nil && two == nil && string(text) == "two" && b.git("rev-parse", "integration") == meanwhile
		return true, nil, nil
	}).Integrate(t.Context())
	if err != nil || !seen {
		t.Fatalf("%v, seen %v", err, seen)
	}
	m, ok := b.last("Merged").(message.Merged)
	if !ok || m.From != meanwhile || b.git("rev-parse", "integration") != m.To || b.git("rev-parse", m.To+"^{tree}") != m.Tree {
		t.Errorf("%+v", m)
	}
	if len(m.DriftCommits) != 1 || m.DriftCommits[0] != meanwhile {
		t.Errorf("drift %v, want %s", m.DriftCommits, meanwhile)
	}
	if got := b.git("rev-list", "--parents", "-1", "integration"); got != m.To+" "+meanwhile+" "+b.to {
		t.Errorf("parents %s", got)
	}
}

func TestWhatDoesNotFitIsSaidAndMovesNothing(t *testing.T) {
	red := func(context.Context, string) (bool, []byte, error) { return false, []byte("FAIL: TestX"), nil }
	for _, c := range []struct {
		name     string
		file     string
		try      func(context.Context, string) (bool, []byte, error)
		conflict int
		command  string
	}{
		{"a conflict", "f", nil, 1, "git merge"},
		{"a red command", "other", red, 0, "make check"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			at := b.ahead(c.file, "meanwhile")
			in := b.integration(c.try)
			if err := in.Integrate(t.Context()); err != nil {
				t.Fatal(err)
			}
			f, ok := b.last("IntegrationFailed").(message.IntegrationFailed)
			if !ok || len(f.Conflict) != c.conflict || f.Command != c.command || f.Output == "" {
				t.Errorf("%+v", f)
			}
			if b.git("rev-parse", "integration") != at || b.merged() != 0 {
				t.Error("the branch moved")
			}
			if _, err := os.Stat(in.Scratch); !missing(err) {
				t.Errorf("the scratch checkout is left: %v", err)
			}
		})
	}
}

func TestABranchThatMovesMeanwhileIsMergedAgain(t *testing.T) {
	b := newBench(t)
	times, second := 0, ""
	err := b.integration(func(context.Context, string) (bool, []byte, error) {
		if times++; times == 1 {
			second = b.ahead("other", "x\n")
		}
		return true, nil, nil
	}).Integrate(t.Context())
	if err != nil || times != 2 {
		t.Fatalf("%v after %d tries", err, times)
	}
	if b.git("merge-base", "integration", second) != second || b.git("merge-base", "integration", b.to) != b.to {
		t.Error("a commit was lost")
	}
	if b.merged() != 1 {
		t.Errorf("%d Merged", b.merged())
	}
}

func TestABranchThatNeverRestsIsGivenUp(t *testing.T) {
	b := newBench(t)
	times := 0
	err := b.integration(func(context.Context, string) (bool, []byte, error) {
		times++
		b.ahead("other", string(rune('a'+times)))
		return true, nil, nil
	}).Integrate(t.Context())
	var moved *MovedError
	if !errors.As(err, &moved) || times != tries || b.merged() != 0 {
		t.Errorf("%v after %d tries", err, times)
	}
}
