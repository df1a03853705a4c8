package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"orch/blackboard/message"
	"orch/roles/act/workspace/workspacetest"
)

// integration is an approved task whose branch has meanwhile moved on.
func integrationOf(b *workspacetest.Bench, try func(context.Context, string) (bool, []byte, error)) Integration {
	b.T.Helper()
	repo, err := Open(b.T.Context(), b.Repo)
	if err != nil {
		b.T.Fatal(err)
	}
	return Integration{
		Repo: repo, Board: b.Board, Goal: "g", Task: "t", Ref: workspacetest.Integration, Commit: Commit(b.To), Subject: "merge t", Name: "orch", Email: "o@example.org",
		Scratch: filepath.Join(b.T.TempDir(), "scratch"), Command: "make check", Try: try,
		Keep: func(out []byte) (string, error) { return b.Board.PutBlob("g", out) },
	}
}

func TestIntegrateTriesTheMergeBeforeTheBranchMoves(t *testing.T) {
	b := workspacetest.New(t)
	meanwhile := b.Ahead("other", "x\n")
	seen := false
	err := integrationOf(b, func(_ context.Context, dir string) (bool, []byte, error) {
		_, one := os.Stat(filepath.Join(dir, "other"))
		text, two := os.ReadFile(filepath.Join(dir, "f"))
		seen = one == nil && two == nil && string(text) == "two" && b.Git("rev-parse", "integration") == meanwhile
		return true, nil, nil
	}).Integrate(t.Context())
	if err != nil || !seen {
		t.Fatalf("%v, seen %v", err, seen)
	}
	m, ok := b.Last("Merged").(message.Merged)
	if !ok || m.From != meanwhile || b.Git("rev-parse", "integration") != m.To || b.Git("rev-parse", m.To+"^{tree}") != m.Tree {
		t.Errorf("%+v", m)
	}
	if len(m.DriftCommits) != 1 || m.DriftCommits[0] != meanwhile {
		t.Errorf("drift %v, want %s", m.DriftCommits, meanwhile)
	}
	if got := b.Git("rev-list", "--parents", "-1", "integration"); got != m.To+" "+meanwhile+" "+b.To {
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
			b := workspacetest.New(t)
			at := b.Ahead(c.file, "meanwhile")
			in := integrationOf(b, c.try)
			if err := in.Integrate(t.Context()); err != nil {
				t.Fatal(err)
			}
			f, ok := b.Last("IntegrationFailed").(message.IntegrationFailed)
			if !ok || len(f.Conflict) != c.conflict || f.Command != c.command || f.Output == "" {
				t.Errorf("%+v", f)
			}
			if b.Git("rev-parse", "integration") != at || b.Merged() != 0 {
				t.Error("the branch moved")
			}
			if _, err := os.Stat(in.Scratch); !missing(err) {
				t.Errorf("the scratch checkout is left: %v", err)
			}
		})
	}
}

func TestABranchThatMovesMeanwhileIsMergedAgain(t *testing.T) {
	b := workspacetest.New(t)
	times, second := 0, ""
	err := integrationOf(b, func(context.Context, string) (bool, []byte, error) {
		if times++; times == 1 {
			second = b.Ahead("other", "x\n")
		}
		return true, nil, nil
	}).Integrate(t.Context())
	if err != nil || times != 2 {
		t.Fatalf("%v after %d tries", err, times)
	}
	if b.Git("merge-base", "integration", second) != second || b.Git("merge-base", "integration", b.To) != b.To {
		t.Error("a commit was lost")
	}
	if b.Merged() != 1 {
		t.Errorf("%d Merged", b.Merged())
	}
}

func TestABranchThatNeverRestsIsGivenUp(t *testing.T) {
	b := workspacetest.New(t)
	times := 0
	err := integrationOf(b, func(context.Context, string) (bool, []byte, error) {
		times++
		b.Ahead("other", string(rune('a'+times)))
		return true, nil, nil
	}).Integrate(t.Context())
	var moved *MovedError
	if !errors.As(err, &moved) || times != tries || b.Merged() != 0 {
		t.Errorf("%v after %d tries", err, times)
	}
}
