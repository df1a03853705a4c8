package workspace

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"orch/blackboard"
	"orch/blackboard/message"
)

const integration = "refs/heads/integration"

// bench is a repository with a commit to merge, and a board with the approved
// task it belongs to.
type bench struct {
	t        *testing.T
	repo     string
	from, to string
	board    *blackboard.Board
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, repo: t.TempDir()}
	b.git("init", "-q", "-b", "integration")
	b.from = b.commit("one")
	b.git("checkout", "-q", "-b", "task")
	b.to = b.commit("two")
	b.git("checkout", "-q", "--detach")
	b.approve(t.TempDir())
	return b
}

func (b *bench) git(args ...string) string {
	b.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", b.repo, "-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (b *bench) commit(text string) string {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(b.repo, "f"), []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
	b.git("add", "f")
	b.git("commit", "-q", "-m", text)
	return b.git("rev-parse", "HEAD")
}

// approve takes a coder's task through its whole life up to the merge.
func (b *bench) approve(root string) {
	say := func(agent message.AgentID, role message.Role, m message.Message) message.Message {
		b.t.Helper()
		o := blackboard.Options{Identity: blackboard.Identity{Agent: agent, Speaks: []message.Role{role}}}
		board, err := blackboard.Open(root, o)
		if err != nil {
			b.t.Fatal(err)
		}
		defer board.Close()
		m.Goal = "g"
		if m.Subject == "" {
			m.Subject = "t"
		}
		said, err := board.Append(b.t.Context(), m)
		if err != nil {
			b.t.Fatalf("%s: %v", m.Type(), err)
		}
		return said
	}
	human := blackboard.Options{Identity: blackboard.Identity{Agent: "human-1", Speaks: []message.Role{message.Human}}}
	board, err := blackboard.Init(root, human)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := board.Close(); err != nil {
		b.t.Fatal(err)
	}
	say("human-1", message.Human, message.Message{Body: message.UserInput{Text: "x", Profile: "code"}})
	task := message.TaskSpec{TaskID: "g", Intent: "x", RawInput: "x"}
	spec := say("perceiver-1", message.Perceiver, message.Message{Body: task})
	c := message.Criterion{ID: "c", Criterion: "it holds", Mode: message.Verifiable, Required: true}
	say("planner-1", message.Planner, message.Message{To: message.Coder, Cause: spec.ID, Body: message.SubTask{ID: "t", PlanID: "p", ParentTaskID: "g",
		Intent: "x", Slot: "s", Approach: "a", Priority: 100, SuccessCriteria: []message.Criterion{c}}})
	say("planner-1", message.Planner, message.Message{Cause: spec.ID, Body: message.DispatchManifest{PlanID: "p", TaskID: "g",
		SubtaskIDs: []message.TaskID{"t"}, TaskSpec: task, Fingerprint: "f"}})
	say("coder-1", message.Coder, message.Message{Fence: 1, Body: message.Claimed{Task: "t", Agent: "coder-1", Fence: 1}})
	say("coder-1", message.Coder, message.Message{Fence: 1, Body: message.ReviewRequested{Task: "t", Iteration: 1, ReviewCommit: b.to}})
	o := blackboard.Options{Identity: blackboard.Identity{Agent: "supervisor-1", Speaks: []message.Role{message.Supervisor}}}
	if b.board, err = blackboard.Open(root, o); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { b.board.Close() })
	if _, err := b.board.Append(b.t.Context(), message.Message{Goal: "g", Subject: "t", Fence: 1, Body: message.ReviewClaimed{Task: "t", ReviewingBy: "code-reviewer-1", Fence: 1}}); err != nil {
		b.t.Fatal(err)
	}
	v := message.Verdict{CriterionID: "c", Criterion: "it holds", Mode: message.Verifiable, Required: true, Verdict: message.Pass, Evidence: "seen", By: message.ByCode}
	say("code-reviewer-1", message.CodeReviewer, message.Message{Fence: 1, Body: message.ReviewVerdict{Task: "t", ReviewCommit: b.to, Decision: message.Approved, Checks: []message.Verdict{v}}})
}

// dying is a board whose process dies before it appends a message of a type.
type dying struct {
	*blackboard.Board
	before message.Type
}

var errDied = errors.New("died")

func (d dying) Append(ctx context.Context, m message.Message, o ...blackboard.AppendOption) (message.Message, error) {
	if m.Type() == d.before {
		return message.Message{}, errDied
	}
	return d.Board.Append(ctx, m, o...)
}

func (d dying) Barrier(ctx context.Context, seq uint64) error {
	if d.before == "the ref moves" {
		return errDied
	}
	return d.Board.Barrier(ctx, seq)
}

func TestDeathAtAnyPointOfAMergeMovesTheRefOnce(t *testing.T) {
	for _, before := range []message.Type{"MergeStarting", "the ref moves", "Merged", "nothing"} {
		t.Run(string(before), func(t *testing.T) {
			b := newBench(t)
			m := message.MergeStarting{Task: "t", From: b.from, To: b.to, Ref: integration}
			err := Merge(t.Context(), dying{b.board, before}, b.repo, "g", m)
			if died := errors.Is(err, errDied); died != (before != "nothing") {
				t.Fatalf("got %v", err)
			}
			b.finish(m)
			if at := b.git("rev-parse", "integration"); at != b.to {
				t.Errorf("integration is at %s, want %s", at, b.to)
			}
			if n := len(strings.Split(b.git("reflog", "show", "integration"), "\n")); n != 2 {
				t.Errorf("integration moved %d times after its first commit, want once", n-1)
			}
			if n := b.merged(); n != 1 {
				t.Errorf("%d Merged in the log, want 1", n)
			}
		})
	}
}

// finish does what the next supervisor does: it settles a merge that was
// started, or makes one that was not.
func (b *bench) finish(m message.MergeStarting) {
	b.t.Helper()
	var task blackboard.Task
	if err := b.board.View(b.t.Context(), func(s *blackboard.State) error { task, _ = s.Task("t"); return nil }); err != nil {
		b.t.Fatal(err)
	}
	var err error
	switch {
	case task.Status == blackboard.Merged:
	case task.Review.Merge != nil:
		err = Settle(b.t.Context(), b.board, b.repo, "g", "", *task.Review.Merge)
	default:
		err = Merge(b.t.Context(), b.board, b.repo, "g", m)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) merged() (n int) {
	b.t.Helper()
	for m, err := range b.board.Messages(1) {
		if err != nil {
			b.t.Fatal(err)
		}
		if m.Type() == "Merged" {
			n++
		}
	}
	return n
}

func TestABranchThatSomebodyElseMovedIsLeftAlone(t *testing.T) {
	b := newBench(t)
	b.git("checkout", "-q", "integration")
	theirs := b.commit("theirs")
	err := Merge(t.Context(), b.board, b.repo, "g", message.MergeStarting{Task: "t", From: b.from, To: b.to, Ref: integration})
	var moved *MovedError
	if !errors.As(err, &moved) || moved.Have != theirs {
		t.Fatalf("got %v", err)
	}
	if at := b.git("rev-parse", "integration"); at != theirs {
		t.Errorf("integration is at %s, want %s", at, theirs)
	}
	if b.merged() != 0 {
		t.Error("a merge that did not happen is in the log")
	}
}
