package codereviewer_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orch/blackboard"
	"orch/blackboard/journal"
	"orch/blackboard/message"
	"orch/roles/act/check"
	"orch/roles/act/ledger"
	"orch/roles/act/process"
	"orch/roles/act/runner"
	"orch/roles/coder"
	"orch/roles/codereviewer"
	"orch/roles/internal/codertest"
	"orch/roles/run/config"
	"orch/roles/run/step"
	"orch/roles/think"
)

// coding and judging are backends made of functions.
type (
	coding  func(context.Context, think.CodeInput) (think.CodeReport, error)
	judging func(context.Context, think.ReviewInput) (think.Review, error)
)

func (f coding) Code(ctx context.Context, in think.CodeInput) (think.CodeReport, error) {
	return f(ctx, in)
}

// panel are reviewers without accounts.
type panel []judging

func (p panel) InTurn(ctx context.Context, ask func(context.Context, think.Reviewer) (think.Review, error)) (said think.Review, err error) {
	for _, one := range p {
		said, err = ask(ctx, one)
		if _, useless := errors.AsType[*think.UnusableError](err); !useless {
			break
		}
	}
	return said, err
}

func (f judging) Review(ctx context.Context, in think.ReviewInput) (think.Review, error) {
	return f(ctx, in)
}

// envOf is the environment of one step at a desk.
func envOf(d *codertest.Desk, role message.Role, agent message.AgentID) *step.Env {
	t := d.Now()
	fence, cause := t.Fence, t.Claim.ID
	if role == message.CodeReviewer {
		fence, cause = t.Review.Fence, t.ResultRef.ID
	}
	return &step.Env{
		Board: d.As(agent, role), Key: blackboard.ActivationKey{Role: role, Subject: string(codertest.Task), Cause: cause},
		Goal: codertest.Goal, Agent: agent, Fence: fence, Config: config.Default(), Clock: journal.SystemClock{}, IDs: journal.UUIDs{},
		Lease: func() message.Lease { return message.Lease{ExpiresAt: time.Now().Add(time.Minute)} }, Log: d.T.Logf, Random: rand.Reader,
		Code: &step.Code{
			Repo: d.Repo, Place: d.Place, Integration: codertest.Integration, Requests: &step.Requests{},
			TestCommand: func(string) (string, error) { return "", nil },
			Judged: func(ctx context.Context, dir string, c check.Check, only []ledger.Name) (check.Verdict, ledger.Ledger) {
				exe, err := os.Executable()
				if err != nil {
					d.T.Fatal(err)
				}
				return runner.Check(ctx, exe, d.T.TempDir(), c, check.Env{Workspace: dir, WallMS: 120_000, Process: process.Spec{Env: os.Environ(), WallMS: 120_000, KeepBytes: 1 << 16, MaxOutputBytes: 1 << 20}}, only)
			},
			Ledgers: runner.Store{Dir: filepath.Join(d.Board.GoalDir(codertest.Goal), "ledgers")},
		},
	}
}

// task is done when a.txt says done.
func task() message.SubTask {
	raw, err := json.Marshal(map[string]any{"run": map[string]any{"command": "grep -q done a.txt"}})
	if err != nil {
		panic(err) // strings always encode
	}
	return message.SubTask{Intent: "finish a.txt", SpecRef: "spec.md", DoneWhen: "`grep -q done a.txt` passes", Scope: "a.txt",
		SuccessCriteria: []message.Criterion{{ID: "c", Criterion: "a.txt says done", Mode: message.Verifiable, Required: true, Check: raw}}}
}

func desk(t *testing.T) *codertest.Desk {
	return codertest.NewDesk(t, map[string]string{"a.txt": "open\n", "spec.md": "# Spec\n\nIt says done.\n", "a_test.go": "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {\n\tif 1 != 1 {\n\t\tt.Fatal(\"no\")\n\t}\n}\n"}, task())
}

// code runs one iteration of a coder who does something in the worktree.
func code(d *codertest.Desk, agent message.AgentID, do coding) error {
	e := envOf(d, message.Coder, agent)
	e.Code.Coder = do
	return coder.Run(d.T.Context(), e)
}

func review(d *codertest.Desk, agent message.AgentID, all ...judging) error {
	d.ClaimReview(agent)
	e := envOf(d, message.CodeReviewer, agent)
	e.Code.Reviewer = panel(all)
	return codereviewer.Run(d.T.Context(), e)
}

func approve(_ context.Context, in think.ReviewInput) (think.Review, error) {
	return think.Review{Approved: true}, nil
}

func writes(d *codertest.Desk, files map[string]string, report think.CodeReport) coding {
	return func(_ context.Context, in think.CodeInput) (think.CodeReport, error) {
		for name, text := range files {
			d.Write(in.Dir, name, text)
		}
		return report, nil
	}
}

func TestATaskIsRejectedByARedCheckAndApprovedWhenItHolds(t *testing.T) {
	d := desk(t)
	d.Claim("coder-1")
	if err := code(d, "coder-1", writes(d, map[string]string{"a.txt": "half\n"}, think.CodeReport{Summary: "done, I think"})); err != nil {
		t.Fatal(err)
	}
	first := d.Now()
	if first.Status != blackboard.ReadyForReview || first.Review.Notes != "done, I think" {
		t.Fatalf("%s, %+v", first.Status, first.Review)
	}
	err := review(d, "code-reviewer-1", func(context.Context, think.ReviewInput) (think.Review, error) {
		t.Error("a reviewer was asked about a red check")
		return think.Review{}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	rejected := d.Now()
	if rejected.Status != blackboard.Rejected || len(rejected.Review.Pending) != 1 {
		t.Fatalf("%s, %+v", rejected.Status, rejected.Review)
	}
	// The same coder goes on in its worktree, and is told what to fix.
	d.Say(message.Supervisor, "", rejected.Fence+1, message.Claimed{Task: codertest.Task, Agent: "coder-1", Fence: rejected.Fence + 1,
		Worktree: rejected.Work, BaseCommit: rejected.Base})
	err = code(d, "coder-1", func(_ context.Context, in think.CodeInput) (think.CodeReport, error) {
		if len(in.Pending) != 1 || in.Spec == "" || in.Iteration != 2 || in.Dir != rejected.Work {
			t.Errorf("told %+v", in)
		}
		d.Write(in.Dir, "a.txt", "done\n")
		return think.CodeReport{End: think.CodeSubmit}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := review(d, "code-reviewer-1", approve); err != nil {
		t.Fatal(err)
	}
	if now := d.Now(); now.Status != blackboard.Approved || now.Review.Commit == first.Review.Commit {
		t.Errorf("%s at %s", now.Status, now.Review.Commit)
	}
	left, err := os.ReadDir(filepath.Join(d.Place.Root, string(codertest.Goal)))
	if err != nil || len(left) != 2 { // the coder's worktree and its mark
		t.Errorf("left: %v, %v", left, err)
	}
}

func TestAWeakenedTestIsNotApprovedUnlessTheReviewerAcceptsIt(t *testing.T) {
	for _, accepted := range []bool{false, true} {
		d := desk(t)
		d.Claim("coder-1")
		weak := map[string]string{"a.txt": "done\n", "a_test.go": "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {\n\tt.Skip(\"later\")\n\tif 1 != 1 {\n\t\tt.Fatal(\"no\")\n\t}\n}\n"}
		if err := code(d, "coder-1", writes(d, weak, think.CodeReport{})); err != nil {
			t.Fatal(err)
		}
		err := review(d, "code-reviewer-1", func(_ context.Context, in think.ReviewInput) (think.Review, error) {
			r := think.Review{Approved: true}
			for _, f := range in.Findings {
				if accepted {
					r.Accepted = append(r.Accepted, think.Acceptance{Finding: f.ID, Reason: "the task demands it"})
				}
			}
			if len(in.Findings) == 0 {
				t.Error("nothing was found")
			}
			return r, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		want := blackboard.Rejected
		if accepted {
			want = blackboard.Approved
		}
		if got := len(d.Now().Review.Verdict.AcceptedFindings); (got > 0) != accepted {
			t.Errorf("the record has %d accepted findings", got)
		}
		if now := d.Now(); now.Status != want {
			t.Errorf("accepted %v: %s, want %s", accepted, now.Status, want)
		}
	}
}

// What a commit has below .orch would be in the way of the board there is, or
// settings and hooks of it, once somebody takes the work.
func TestAChangeOfOrchsOwnFilesIsNotApprovedUnlessTheReviewerAcceptsIt(t *testing.T) {
	for _, accepted := range []bool{false, true} {
		d := desk(t)
		d.Claim("coder-1")
		own := map[string]string{"a.txt": "done\n", ".orchard/a.txt": "\n", ".orch/hooks/on-escalate": "#!/bin/sh\n"}
		err := code(d, "coder-1", func(ctx context.Context, in think.CodeInput) (think.CodeReport, error) {
			for name, text := range own {
				d.Write(in.Dir, name, text)
			}
			for _, args := range [][]string{{"add", "-Af"}, {"commit", "-qm", "a hook"}} {
				cmd := exec.CommandContext(ctx, "git", args...)
				cmd.Dir = in.Dir
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("git %v: %v\n%s", args, err, out)
				}
			}
			return think.CodeReport{End: think.CodeSubmit}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		err = review(d, "code-reviewer-1", func(_ context.Context, in think.ReviewInput) (think.Review, error) {
			if len(in.Findings) != 1 || in.Findings[0].Place() != ".orch/hooks/on-escalate:1" {
				t.Errorf("found %+v", in.Findings)
			}
			r := think.Review{Approved: true}
			for _, f := range in.Findings {
				if accepted {
					r.Accepted = append(r.Accepted, think.Acceptance{Finding: f.ID, Reason: "the task demands it"})
				}
			}
			return r, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		want := blackboard.Rejected
		if accepted {
			want = blackboard.Approved
		}
		if now := d.Now(); now.Status != want {
			t.Errorf("accepted %v: %s, want %s", accepted, now.Status, want)
		}
	}
}

func TestHowAnIterationEnds(t *testing.T) {
	questions := []string{"Are partial results returned if page three fails?"}
	blocked := think.CodeReport{End: think.CodeBlocked, Blocked: message.Blocked{BlockedReason: "the spec does not say what a partial page is", BlockedQuestions: questions, Attempted: []string{}}}
	handoff := think.CodeReport{End: think.CodeHandoff, Handoff: message.Handoff{Summary: "half", NextAction: "the rest", Blockers: []string{}, NextSteps: []string{}}}
	for _, c := range []struct {
		name   string
		files  map[string]string
		report think.CodeReport
		want   blackboard.Status
		failed bool
	}{
		{"work", map[string]string{"a.txt": "done\n"}, think.CodeReport{}, blackboard.ReadyForReview, false},
		{"nothing", nil, think.CodeReport{}, blackboard.Claimed, true},
		{"blocked", nil, blocked, blackboard.Blocked, false},
		{"blocked without a cause", nil, think.CodeReport{End: think.CodeBlocked, Blocked: message.Blocked{BlockedReason: "too hard"}}, blackboard.Claimed, true},
		{"handoff", map[string]string{"a.txt": "half\n"}, handoff, blackboard.Unclaimed, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := desk(t)
			d.Claim("coder-1")
			err := code(d, "coder-1", writes(d, c.files, c.report))
			if (err != nil) != c.failed || d.Now().Status != c.want {
				t.Fatalf("%v, %s", err, d.Now().Status)
			}
			pinned, err := d.Repo.At(t.Context(), "refs/orch/g/t/1")
			if err != nil || pinned == "" {
				t.Errorf("its work is pinned nowhere: %v", err)
			}
		})
	}
}

func TestAnAgentOnlyAsks(t *testing.T) {
	d := desk(t)
	d.Claim("coder-1")
	e := envOf(d, message.Coder, "coder-1")
	e.Code.Coder = coding(func(ctx context.Context, in think.CodeInput) (think.CodeReport, error) {
		for _, forbidden := range []message.Body{
			message.ReviewVerdict{Task: codertest.Task, ReviewCommit: "x", Decision: message.Approved}, message.Merged{Task: codertest.Task},
			message.ReviewRequested{Task: codertest.Task, ReviewCommit: in.Base}, message.ReviewRequested{Task: "another"},
			message.Claimed{Task: "another", Agent: "coder-1", Fence: 1}, message.HumanNote{Message: "approve it"}, message.Resumed{},
			message.Anomaly{Kind: "debt_created", Details: map[string]string{"what": "x"}}, message.Anomaly{Kind: "retry_loop"},
			message.Blocked{BlockedReason: "too hard", BlockedQuestions: []string{"what?"}},
		} {
			if _, err := e.Code.Requests.Hear(ctx, e, forbidden); err == nil {
				t.Errorf("%s was taken: %+v", forbidden.Type(), forbidden)
			}
		}
		if _, err := e.Code.Requests.Hear(ctx, e, message.Anomaly{Kind: "trade_off", Details: map[string]string{"what": "a copy", "why": "time", "debt_created": "true"}}); err != nil {
			t.Error(err)
		}
		d.Write(in.Dir, "a.txt", "done\n")
		if _, err := e.Code.Requests.Hear(ctx, e, message.ReviewRequested{Notes: "by hand"}); err != nil {
			t.Error(err)
		}
		if _, err := e.Code.Requests.Hear(ctx, e, message.Handoff{Summary: "x", NextAction: "y"}); err == nil || !strings.Contains(err.Error(), "already") {
			t.Errorf("a second end was taken: %v", err)
		}
		return think.CodeReport{End: think.CodeHandoff, Handoff: message.Handoff{Summary: "x", NextAction: "y"}}, nil
	})
	if err := coder.Run(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	now := d.Now()
	if now.Status != blackboard.ReadyForReview || now.Review.Notes != "by hand" || len(now.Anomalies) != 1 {
		t.Errorf("%s, %q, %v", now.Status, now.Review.Notes, now.Anomalies)
	}
	if _, err := e.Code.Requests.Hear(t.Context(), e, message.ReviewRequested{}); err == nil {
		t.Error("the step still listens")
	}
}

func TestAFailingSetupBlocksTheTaskForAPerson(t *testing.T) {
	d := desk(t)
	d.Claim("coder-1")
	e := envOf(d, message.Coder, "coder-1")
	e.Code.Setup = func(context.Context, string) error { return errors.New("npm: not found") }
	e.Code.Coder = writes(d, nil, think.CodeReport{})
	if err := coder.Run(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	if now := d.Now(); now.Status != blackboard.Blocked || now.BlockedKind != message.BlockedEnvironment || !strings.Contains(now.BlockedReason, "npm") {
		t.Errorf("%s %s: %s", now.Status, now.BlockedKind, now.BlockedReason)
	}
}

// Whoever takes a task that was unblocked is told what the planner answered.
func TestTheAnswerToABlockReachesTheNextCoder(t *testing.T) {
	d := desk(t)
	d.Claim("coder-1")
	report := think.CodeReport{End: think.CodeBlocked, Blocked: message.Blocked{BlockedReason: "the spec does not say what a partial page is",
		BlockedQuestions: []string{"Are partial results returned if page three fails?"}, Attempted: []string{}}}
	if err := code(d, "coder-1", writes(d, nil, report)); err != nil {
		t.Fatal(err)
	}
	d.Say(message.Planner, "", 0, message.Unblocked{Task: codertest.Task, Reason: "no, the call fails as a whole"})
	d.Say(message.Human, "", 0, message.HumanNote{Message: "keep it short"})
	d.Claim("coder-2")
	err := code(d, "coder-2", func(_ context.Context, in think.CodeInput) (think.CodeReport, error) {
		if got := strings.Join(in.Answers, "; "); got != "no, the call fails as a whole; keep it short" {
			t.Errorf("told %q", got)
		}
		d.Write(in.Dir, "a.txt", "done\n")
		return think.CodeReport{}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A spec that changed under the work is noted by code, and the task is judged
// by what it says now.
func TestASpecThatChangedIsNotedByTheReview(t *testing.T) {
	for _, changed := range []bool{false, true} {
		d := desk(t)
		d.Claim("coder-1")
		if err := code(d, "coder-1", writes(d, map[string]string{"a.txt": "done\n"}, think.CodeReport{})); err != nil {
			t.Fatal(err)
		}
		if changed {
			d.Git(d.Repo.Dir, "checkout", "-q", "integration")
			d.Write(d.Repo.Dir, "spec.md", "# Spec\n\nIt says done, twice.\n")
			d.Git(d.Repo.Dir, "commit", "-q", "-a", "-m", "change the spec")
			d.Git(d.Repo.Dir, "checkout", "-q", "main")
		}
		err := review(d, "code-reviewer-1", func(_ context.Context, in think.ReviewInput) (think.Review, error) {
			if in.SpecChanged != changed || strings.Contains(in.Spec, "twice") != changed {
				t.Errorf("changed %v: told %v, %q", changed, in.SpecChanged, in.Spec)
			}
			return approve(t.Context(), in)
		})
		if err != nil {
			t.Fatal(err)
		}
		now := d.Now()
		if slices.Contains(now.Anomalies, message.SpecHasChanged) != changed || now.Review.Verdict.AnomalyLogged != changed {
			t.Errorf("changed %v: anomalies %v, the verdict says %v", changed, now.Anomalies, now.Review.Verdict.AnomalyLogged)
		}
	}
}

// What would be asked can be looked at without anything being said or run.
func TestWhatWouldBeAskedIsSeenWithoutSayingAnything(t *testing.T) {
	d := desk(t)
	seen := func(role message.Role) *step.Env {
		e := envOf(d, role, message.AgentID(role)+"-1")
		e.Board = d.Board // may not speak as either
		return e
	}
	ask, err := coder.Input(t.Context(), seen(message.Coder), d.Now(), blackboard.Goal{ID: codertest.Goal})
	if err != nil || ask.Task.Intent != "finish a.txt" || !strings.Contains(ask.Spec, "It says done.") || ask.Iteration != 1 {
		t.Errorf("%+v, %v", ask, err)
	}
	if _, err := codereviewer.Input(t.Context(), seen(message.CodeReviewer), d.Now(), blackboard.Goal{ID: codertest.Goal}); !errors.Is(err, step.ErrMoved) {
		t.Errorf("nothing was submitted: %v", err)
	}
	d.Claim("coder-1")
	if err := code(d, "coder-1", writes(d, map[string]string{"a.txt": "done\n"}, think.CodeReport{Summary: "it is there"})); err != nil {
		t.Fatal(err)
	}
	shown, err := codereviewer.Input(t.Context(), seen(message.CodeReviewer), d.Now(), blackboard.Goal{ID: codertest.Goal})
	if err != nil || !strings.Contains(shown.Diff, "+done") || shown.Notes != "it is there" || shown.Coder != "coder-1" || len(shown.Checks) != 0 {
		t.Errorf("%+v, %v", shown, err)
	}
}
