package step

import (
	"context"
	"strings"

	"orch/blackboard/message"
	"orch/roles/act/check"
	"orch/roles/act/ledger"
	"orch/roles/act/runner"
	"orch/roles/act/workspace"
	"orch/roles/loop/code"
	"orch/roles/think"
)

// Code is what the steps of the coding profile get beside the rest.
type Code struct {
	Repo        workspace.Repo
	Place       workspace.Place
	Integration string // refs/heads/… of the integration branch

	Coder      think.Coder // the backends may be nil
	Reviewer   think.Panel
	Crosscheck think.Panel

	// Of the planner: who looks at its plans (nil for nobody), a file as it is on
	// the integration branch, and whether a spec may be named that is not there.
	PlanReviewer  think.PlanReviewer
	File          func(ctx context.Context, path string) (content []byte, ok bool, err error)
	SkipSpecCheck bool

	Env []string // of the agent's process: who it is, and how it reaches its step
	// Setup makes a new worktree ready to work in; nil when there is nothing to do.
	Setup func(ctx context.Context, dir string) error
	// Checks runs a check in a directory.
	Checks func(ctx context.Context, dir string, c check.Check) check.Verdict
	// Judged is Checks that also tells which tests a command ran; some only, if
	// any are named.
	Judged func(ctx context.Context, dir string, c check.Check, only []ledger.Name) (check.Verdict, ledger.Ledger)
	// Ledgers keeps what earlier judged runs of the goal showed.
	Ledgers runner.Store
	// TestCommand is how what a directory holds is tested; empty when nothing says so.
	TestCommand func(dir string) (string, error)
	// Blob returns what the board keeps under a hash in the goal's folder.
	Blob func(hash string) ([]byte, error)
	// Requests are what the agent asks for while it works.
	Requests *Requests
}

// SpecAt is the text of a task's spec in a commit; empty without one.
func (w *Code) SpecAt(ctx context.Context, c workspace.Commit, t message.SubTask) (string, error) {
	path := code.SpecPath(t.SpecRef)
	if path == "" {
		return "", nil
	}
	raw, ok, err := w.Repo.Show(ctx, c, path)
	if err != nil || !ok {
		return "", err
	}
	return string(raw), nil
}

// AuthorEmail is the address in the commits of an agent.
func AuthorEmail(a message.AgentID) string { return string(a) + "@orch.invalid" }

// IsCoder tells whether "name <email>" is what commits of a coder say.
func IsCoder(who string) bool {
	name, _, _ := strings.Cut(who, " <")
	id := message.AgentID(name)
	role, err := message.ParseAgent(id)
	return err == nil && role == message.Coder && who == name+" <"+AuthorEmail(id)+">"
}
