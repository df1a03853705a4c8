package codereviewer_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/internal/codertest"
	"orch/roles/think"
)

// again lets the coder that has the task's worktree go on in it.
func again(d *codertest.Desk) {
	t := d.Now()
	d.Say(message.Supervisor, "", t.Fence+1, message.Claimed{Task: codertest.Task, Agent: t.Agent, Fence: t.Fence + 1, Worktree: t.Work, BaseCommit: t.Base})
}

// spoil are ways to leave a worktree in which nobody can go on; a.txt says what
// was made.
var spoil = map[string]func(d *codertest.Desk, dir string){
	"amends the commit it began at": func(d *codertest.Desk, dir string) {
		d.Git(dir, "commit", "-q", "-a", "--amend", "-m", "all mine")
	},
	"begins from nothing": func(d *codertest.Desk, dir string) {
		d.Git(dir, "checkout", "-q", "--orphan", "other")
		d.Git(dir, "commit", "-q", "-a", "-m", "all mine")
	},
	"removes its .git": func(d *codertest.Desk, dir string) {
		if err := os.RemoveAll(filepath.Join(dir, ".git")); err != nil {
			d.T.Fatal(err)
		}
	},
	"makes a .git of its own": func(d *codertest.Desk, dir string) {
		if err := os.RemoveAll(filepath.Join(dir, ".git")); err != nil {
			d.T.Fatal(err)
		}
		d.Git(dir, "init", "-q", "-b", "mine")
		d.Git(dir, "add", "-A")
		d.Git(dir, "commit", "-q", "-m", "all mine")
	},
	"points HEAD at nothing": func(d *codertest.Desk, dir string) { d.Write(dir, ".git/HEAD", "ref: refs/heads/none\n") },
}

func TestAWorktreeNobodyCanGoOnInIsMadeAnew(t *testing.T) {
	for name, do := range spoil {
		t.Run(name, func(t *testing.T) {
			d := desk(t)
			d.Claim("coder-1")
			base := d.Now().Base
			err := code(d, "coder-1", func(_ context.Context, in think.CodeInput) (think.CodeReport, error) {
				d.Write(in.Dir, "a.txt", "done\n")
				do(d, in.Dir)
				return think.CodeReport{}, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			now := d.Now()
			if now.Status != blackboard.Unclaimed || now.Review.Handoff == nil || now.Review.Handoff.Refused == "" {
				t.Fatalf("%s, handed on %+v", now.Status, now.Review.Handoff)
			}
			if now.Review.Commit != "" {
				t.Errorf("%s was submitted", now.Review.Commit)
			}
			again(d)
			err = code(d, "coder-1", func(_ context.Context, in think.CodeInput) (think.CodeReport, error) {
				if in.Handoff == nil || !strings.Contains(in.Handoff.Summary, "coder-1") {
					t.Errorf("it is told %+v", in.Handoff)
				}
				if at := d.Git(in.Dir, "rev-parse", "HEAD"); at != base || d.Git(in.Dir, "status", "--porcelain") != "" {
					t.Errorf("its worktree is at %s, want %s", at, base)
				}
				_, kept, _ := strings.Cut(in.Handoff.NextAction, "git checkout ")
				d.Git(in.Dir, "checkout", strings.Fields(kept)[0], "--", "a.txt")
				d.Git(in.Dir, "commit", "-q", "-m", "do it")
				return think.CodeReport{}, nil
			})
			if now = d.Now(); err != nil || now.Status != blackboard.ReadyForReview {
				t.Fatalf("%s, %v", now.Status, err)
			}
			if got := d.Git(d.Repo.Dir, "show", now.Review.Commit+":a.txt"); got != "done" {
				t.Errorf("a.txt is %q", got)
			}
		})
	}
}

// What was submitted before is not lost with the worktree.
func TestANewWorktreeBeginsAtWhatWasSubmitted(t *testing.T) {
	d := desk(t)
	d.Claim("coder-1")
	if err := code(d, "coder-1", writes(d, map[string]string{"a.txt": "half\n"}, think.CodeReport{})); err != nil {
		t.Fatal(err)
	}
	if err := review(d, "code-reviewer-1", nil); err != nil {
		t.Fatal(err)
	}
	submitted := d.Now().Review.Commit
	again(d)
	if err := code(d, "coder-1", func(_ context.Context, in think.CodeInput) (think.CodeReport, error) {
		d.Git(in.Dir, "reset", "-q", "--hard", d.Now().Base)
		d.Git(in.Dir, "commit", "-q", "--amend", "-m", "mine")
		return think.CodeReport{}, nil
	}); err != nil {
		t.Fatal(err)
	}
	again(d)
	if err := code(d, "coder-1", func(_ context.Context, in think.CodeInput) (think.CodeReport, error) {
		if at := d.Git(in.Dir, "rev-parse", "HEAD"); at != submitted {
			t.Errorf("it begins at %s, want %s", at, submitted)
		}
		d.Write(in.Dir, "a.txt", "done\n")
		return think.CodeReport{}, nil
	}); err != nil || d.Now().Status != blackboard.ReadyForReview {
		t.Fatalf("%s, %v", d.Now().Status, err)
	}
}

func TestACoderThatSpoilsEveryWorktreeIsBlocked(t *testing.T) {
	d := desk(t)
	d.Claim("coder-1")
	for i := range 3 {
		if i > 0 {
			again(d)
		}
		if err := code(d, "coder-1", func(_ context.Context, in think.CodeInput) (think.CodeReport, error) {
			d.Git(in.Dir, "commit", "-q", "--allow-empty", "--amend", "-m", "mine")
			return think.CodeReport{}, nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	now := d.Now()
	if now.Status != blackboard.Blocked || now.BlockedKind != message.BlockedEnvironment || !strings.Contains(now.BlockedReason, "rewrote the history") {
		t.Errorf("%s: %s, %s", now.Status, now.BlockedKind, now.BlockedReason)
	}
}

// An agent that fails and leaves its worktree broken keeps nobody from trying again.
func TestABrokenWorktreeOfAFailedAgentIsMadeAnew(t *testing.T) {
	d := desk(t)
	d.Claim("coder-1")
	failed := errors.New("the agent failed")
	err := code(d, "coder-1", func(_ context.Context, in think.CodeInput) (think.CodeReport, error) {
		d.Write(in.Dir, "a.txt", "half\n")
		spoil["removes its .git"](d, in.Dir)
		return think.CodeReport{}, failed
	})
	if !errors.Is(err, failed) {
		t.Fatalf("got %v", err)
	}
	again(d)
	if err := code(d, "coder-1", writes(d, map[string]string{"a.txt": "done\n"}, think.CodeReport{})); err != nil || d.Now().Status != blackboard.ReadyForReview {
		t.Fatalf("%s, %v", d.Now().Status, err)
	}
	if got := d.Git(d.Repo.Dir, "show", "refs/orch/g/t/1:a.txt"); got != "half" {
		t.Errorf("what the first left is %q", got)
	}
}
