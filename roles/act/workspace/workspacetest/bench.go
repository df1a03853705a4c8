// Package workspacetest makes a repository with an approved commit, and the
// board that approved it, for tests of what merges.
package workspacetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"orch/blackboard"
	"orch/blackboard/message"
)

// Integration is the branch of the bench.
const Integration = "refs/heads/integration"

// Bench is a repository with a commit to merge, and a board with the approved
// task it belongs to.
type Bench struct {
	T        *testing.T
	Repo     string
	From, To string            // commits: where integration is, and what is approved
	Board    *blackboard.Board // speaks as a supervisor
}

// New makes a bench whose task is approved.
func New(t *testing.T) *Bench {
	t.Helper()
	b := &Bench{T: t, Repo: t.TempDir()}
	b.Git("init", "-q", "-b", "integration")
	b.From = b.Commit("one")
	b.Git("checkout", "-q", "-b", "task")
	b.To = b.Commit("two")
	b.Git("checkout", "-q", "--detach")
	b.approve(t.TempDir())
	return b
}

// Git runs git in the repository and returns what it says.
func (b *Bench) Git(args ...string) string {
	b.T.Helper()
	cmd := exec.Command("git", append([]string{"-C", b.Repo, "-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "maintenance.auto=false"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.T.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// Commit makes a commit of a file and returns it.
func (b *Bench) Commit(text string) string {
	b.T.Helper()
	if err := os.WriteFile(filepath.Join(b.Repo, "f"), []byte(text), 0o644); err != nil {
		b.T.Fatal(err)
	}
	b.Git("add", "f")
	b.Git("commit", "-q", "-m", text)
	return b.Git("rev-parse", "HEAD")
}

// approve takes a coder's task through its whole life up to the merge.
func (b *Bench) approve(root string) {
	say := func(agent message.AgentID, role message.Role, m message.Message) message.Message {
		b.T.Helper()
		o := blackboard.Options{Identity: blackboard.Identity{Agent: agent, Speaks: []message.Role{role}}}
		board, err := blackboard.Open(root, o)
		if err != nil {
			b.T.Fatal(err)
		}
		defer board.Close()
		m.Goal = "g"
		if m.Subject == "" {
			m.Subject = "t"
		}
		said, err := board.Append(b.T.Context(), m)
		if err != nil {
			b.T.Fatalf("%s: %v", m.Type(), err)
		}
		return said
	}
	human := blackboard.Options{Identity: blackboard.Identity{Agent: "human-1", Speaks: []message.Role{message.Human}}}
	board, err := blackboard.Init(root, human)
	if err != nil {
		b.T.Fatal(err)
	}
	if err := board.Close(); err != nil {
		b.T.Fatal(err)
	}
	say("human-1", message.Human, message.Message{Body: message.UserInput{Text: "x", Profile: "code"}})
	task := message.TaskSpec{TaskID: "g", Intent: "x", RawInput: "x"}
	spec := say("perceiver-1", message.Perceiver, message.Message{Body: task})
	c := message.Criterion{ID: "c", Criterion: "it holds", Mode: message.Verifiable, Required: true}
	say("planner-1", message.Planner, message.Message{To: message.Coder, Cause: spec.ID, Body: message.SubTask{ID: "t", PlanID: "p", ParentTaskID: "g",
		Intent: "x", Slot: "s", Approach: "a", Priority: 100, SuccessCriteria: []message.Criterion{c}}})
	say("planner-1", message.Planner, message.Message{Cause: spec.ID, Body: message.DispatchManifest{PlanID: "p", TaskID: "g",
		SubtaskIDs: []message.TaskID{"t"}, TaskSpec: task, Fingerprint: "f"}})
	say("supervisor-1", message.Supervisor, message.Message{Fence: 1, Body: message.Claimed{Task: "t", Agent: "coder-1", Fence: 1}})
	say("coder-1", message.Coder, message.Message{Fence: 1, Body: message.ReviewRequested{Task: "t", Iteration: 1, ReviewCommit: b.To}})
	o := blackboard.Options{Identity: blackboard.Identity{Agent: "supervisor-1", Speaks: []message.Role{message.Supervisor}}}
	if b.Board, err = blackboard.Open(root, o); err != nil {
		b.T.Fatal(err)
	}
	b.T.Cleanup(func() { b.Board.Close() })
	if _, err := b.Board.Append(b.T.Context(), message.Message{Goal: "g", Subject: "t", Fence: 1, Body: message.ReviewClaimed{Task: "t", ReviewingBy: "code-reviewer-1", Fence: 1}}); err != nil {
		b.T.Fatal(err)
	}
	v := message.Verdict{CriterionID: "c", Criterion: "it holds", Mode: message.Verifiable, Required: true, Verdict: message.Pass, Evidence: "seen", By: message.ByCode}
	say("code-reviewer-1", message.CodeReviewer, message.Message{Fence: 1, Body: message.ReviewVerdict{Task: "t", ReviewCommit: b.To, Decision: message.Approved, Checks: []message.Verdict{v}}})
}

// Ahead adds a commit to integration, from outside.
func (b *Bench) Ahead(name, text string) string {
	b.T.Helper()
	b.Git("checkout", "-q", "integration")
	defer b.Git("checkout", "-q", "--detach")
	if err := os.WriteFile(filepath.Join(b.Repo, name), []byte(text), 0o644); err != nil {
		b.T.Fatal(err)
	}
	b.Git("add", "-A")
	b.Git("commit", "-q", "-m", "meanwhile")
	return b.Git("rev-parse", "HEAD")
}

// Last is the last message of a type, or nil.
func (b *Bench) Last(want message.Type) message.Body {
	b.T.Helper()
	var found message.Body
	for m, err := range b.Board.Messages(1) {
		if err != nil {
			b.T.Fatal(err)
		}
		if m.Type() == want {
			found = m.Body
		}
	}
	return found
}

// Merged counts the Merged messages in the log.
func (b *Bench) Merged() (n int) {
	b.T.Helper()
	for m, err := range b.Board.Messages(1) {
		if err != nil {
			b.T.Fatal(err)
		}
		if m.Type() == "Merged" {
			n++
		}
	}
	return n
}
