// Package codertest makes a repository and a board with a task for a coder, for
// tests of the steps that work on it.
package codertest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/act/workspace"
)

// Desk is a repository with an integration branch and a board whose plan has
// one task for a coder.
type Desk struct {
	T     *testing.T
	Repo  workspace.Repo
	Place workspace.Place
	Board *blackboard.Board // speaks as whoever runs the project

	root   string
	boards map[message.AgentID]*blackboard.Board
}

// Integration is the branch of every desk.
const Integration = "refs/heads/integration"

// Task of every desk, and the goal it belongs to.
const (
	Goal message.GoalID = "g"
	Task message.TaskID = "t"
)

// NewDesk makes a desk. Each criterion is the command its check runs.
func NewDesk(t *testing.T, files map[string]string, task message.SubTask) *Desk {
	t.Helper()
	d := &Desk{T: t, Place: workspace.PlaceOf(t.TempDir(), "board"), root: t.TempDir(), boards: map[message.AgentID]*blackboard.Board{}}
	dir := t.TempDir()
	d.run(dir, "init", "-q", "-b", "main")
	for name, text := range files {
		d.Write(dir, name, text)
	}
	d.run(dir, "add", "-A")
	d.run(dir, "commit", "-q", "--allow-empty", "-m", "start")
	d.run(dir, "branch", "integration")
	var err error
	if d.Repo, err = workspace.Open(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	d.Board = d.As("supervisor-1", message.Human, message.Perceiver, message.Planner, message.Supervisor)
	d.plan(task)
	return d
}

// As is the board as an agent sees it and may speak on it.
func (d *Desk) As(agent message.AgentID, speaks ...message.Role) *blackboard.Board {
	d.T.Helper()
	if b, ok := d.boards[agent]; ok {
		return b
	}
	b, err := blackboard.Init(d.root, blackboard.Options{Identity: blackboard.Identity{Agent: agent, Speaks: speaks}})
	if err != nil {
		d.T.Fatal(err)
	}
	d.T.Cleanup(func() { b.Close() })
	d.boards[agent] = b
	return b
}

func (d *Desk) plan(task message.SubTask) {
	d.T.Helper()
	spec := message.TaskSpec{TaskID: Goal, Intent: "x", RawInput: "x"}
	d.Say(message.Human, "", 0, message.UserInput{Text: "x", Profile: "code"})
	seen := d.Say(message.Perceiver, "", 0, spec)
	task.ID, task.PlanID, task.ParentTaskID, task.Slot, task.Approach, task.Priority = Task, "p", Goal, "s", "a", 100
	d.Say(message.Planner, seen.ID, 0, task)
	d.Say(message.Planner, seen.ID, 0, message.DispatchManifest{PlanID: "p", TaskID: Goal, SubtaskIDs: []message.TaskID{Task}, TaskSpec: spec, Fingerprint: "f"})
}

// Say appends, and fails the test if the board refuses.
func (d *Desk) Say(from message.Role, cause message.ID, fence message.Fence, body message.Body) message.Message {
	d.T.Helper()
	subject := string(Task)
	to := message.DefaultTo(body.Type())
	if _, ok := body.(message.SubTask); ok {
		to = message.Coder
	}
	m, err := d.Board.Append(d.T.Context(), message.Message{From: from, To: to, Goal: Goal, Subject: subject, Cause: cause, Fence: fence, Body: body})
	if err != nil {
		d.T.Fatalf("%s: %v", body.Type(), err)
	}
	return m
}

// Now is the task as the board has it.
func (d *Desk) Now() (t blackboard.Task) {
	d.T.Helper()
	if err := d.Board.View(d.T.Context(), func(s *blackboard.State) error { t, _ = s.Task(Task); return nil }); err != nil {
		d.T.Fatal(err)
	}
	return t
}

// Claim gives the task to a coder, in a new worktree at the integration branch.
func (d *Desk) Claim(coder message.AgentID) {
	d.T.Helper()
	fence := d.Now().Fence + 1
	base, err := d.Repo.At(d.T.Context(), Integration)
	if err != nil {
		d.T.Fatal(err)
	}
	d.Say(message.Supervisor, "", fence, message.Claimed{Task: Task, Agent: coder, Fence: fence,
		Worktree: d.Place.Coder(Goal, Task, coder, fence), BaseCommit: string(base)})
}

// ClaimReview gives the review of the task to a reviewer.
func (d *Desk) ClaimReview(reviewer message.AgentID) {
	d.T.Helper()
	fence := d.Now().Review.Fence + 1
	d.Say(message.Supervisor, "", fence, message.ReviewClaimed{Task: Task, ReviewingBy: reviewer, Fence: fence})
}

// Git runs git in a directory, with all its settings in force.
func (d *Desk) Git(dir string, args ...string) string { return d.run(dir, args...) }

func (d *Desk) run(dir string, args ...string) string {
	d.T.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "maintenance.auto=false"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		d.T.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// Write makes a file.
func (d *Desk) Write(dir, name, text string) {
	d.T.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		d.T.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		d.T.Fatal(err)
	}
}
