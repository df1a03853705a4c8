package integrator_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/act/workspace"
	"orch/roles/act/workspace/workspacetest"
	"orch/roles/integrator"
)

func integratorOf(b *workspacetest.Bench, run func(context.Context, blackboard.Task, string, string) (bool, []byte, error)) *integrator.Integrator {
	b.T.Helper()
	repo, err := workspace.Open(b.T.Context(), b.Repo)
	if err != nil {
		b.T.Fatal(err)
	}
	return &integrator.Integrator{
		Board: b.Board, Repo: repo, Place: workspace.PlaceOf(b.T.TempDir(), "board"), Ref: workspacetest.Integration, Name: "orch", Email: "o@example.org",
		Command: func(string) (string, error) { return "make check", nil }, Run: run,
		Warn: func(err error) { b.T.Errorf("warned: %v", err) },
	}
}

func passes(context.Context, blackboard.Task, string, string) (bool, []byte, error) {
	return true, nil, nil
}

func TestWhatIsApprovedIsMergedOnce(t *testing.T) {
	b := workspacetest.New(t)
	i := integratorOf(b, passes)
	var told []message.Body
	i.Merged = func(_ context.Context, m message.Message) { told = append(told, m.Body) }
	for range 2 {
		if err := i.All(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if len(told) != 1 || told[0].(message.Merged).Task != "t" {
		t.Errorf("told of %v, want of the one merge", told)
	}
	if b.Merged() != 1 || b.Git("merge-base", "integration", b.To) != b.To {
		t.Errorf("%d merges, integration at %s", b.Merged(), b.Git("rev-parse", "integration"))
	}
	if said := b.Git("log", "-1", "--format=%B", "integration"); !strings.Contains(said, "Task: t") || !strings.Contains(said, "By: coder-1") {
		t.Errorf("the merge says %q", said)
	}
}

// A merge that was begun on a branch that then went on by itself is made anew.
func TestAMergeThatWasBegunIsSettledOrMadeAnew(t *testing.T) {
	for _, c := range []struct {
		name string
		then func(b *workspacetest.Bench)
	}{
		{"before the ref moved", func(*workspacetest.Bench) {}},
		{"after the ref moved", func(b *workspacetest.Bench) { b.Git("update-ref", workspacetest.Integration, b.To) }},
		{"and the branch went on without it", func(b *workspacetest.Bench) { b.Ahead("other", "x\n") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := workspacetest.New(t)
			_, err := b.Board.Append(t.Context(), message.Message{From: message.Supervisor, To: message.All, Goal: "g", Subject: "t",
				Body: message.MergeStarting{Task: "t", From: b.From, To: b.To, Ref: workspacetest.Integration}})
			if err != nil {
				t.Fatal(err)
			}
			c.then(b)
			i, told := integratorOf(b, passes), 0
			i.Merged = func(context.Context, message.Message) { told++ }
			if err := i.All(t.Context()); err != nil {
				t.Fatal(err)
			}
			if told != 1 {
				t.Errorf("told %d times", told)
			}
			if b.Merged() != 1 || b.Git("merge-base", "integration", b.To) != b.To {
				t.Errorf("%d merges", b.Merged())
			}
		})
	}
}

func TestWhatCanNotBeTriedStopsTheGoal(t *testing.T) {
	b := workspacetest.New(t)
	i := integratorOf(b, func(context.Context, blackboard.Task, string, string) (bool, []byte, error) {
		return false, nil, errors.New("no space left")
	})
	if err := i.All(t.Context()); err != nil {
		t.Fatal(err)
	}
	c, ok := b.Last("CheckpointReached").(message.CheckpointReached)
	if !ok || c.Name != integrator.Checkpoint || !strings.Contains(c.Reason, "no space left") {
		t.Errorf("%+v", c)
	}
	if b.Merged() != 0 || b.Git("rev-parse", "integration") != b.From {
		t.Error("the branch moved")
	}
}

func TestTheMergerTidiesBetweenMerges(t *testing.T) {
	b := workspacetest.New(t)
	i := integratorOf(b, passes)
	i.TidyEvery = 1
	path := i.Place.Coder("g", "t", "coder-1", 1)
	begin := workspace.Spec{Branch: "orch/g/t", Commit: workspace.Commit(b.From), Name: "coder-1", Email: "c@example.org"}
	if err := i.Repo.Make(t.Context(), path, begin, nil); err != nil {
		t.Fatal(err)
	}
	if err := i.All(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the worktree of what was merged is still there: %v", err)
	}
}

func TestWorktreesOfEndedTasksAreTidied(t *testing.T) {
	b := workspacetest.New(t)
	i := integratorOf(b, passes)
	begin := workspace.Spec{Branch: "orch/g/t", Commit: workspace.Commit(b.From), Name: "coder-1", Email: "c@example.org"}
	path := i.Place.Coder("g", "t", "coder-1", 1)
	if err := i.Repo.Make(t.Context(), path, begin, nil); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(i.Place.Root, "unknown-goal", "x")
	if err := os.MkdirAll(other, 0o755); err != nil {
		t.Fatal(err)
	}
	tidy := func() int {
		t.Helper()
		n, err := integrator.Tidy(t.Context(), b.Board, i.Repo, i.Place, "orch", "o@example.org")
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if err := i.All(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := tidy(); n != 1 {
		t.Errorf("%d removed, want 1", n)
	}
	if _, err := os.Stat(other); err != nil {
		t.Errorf("a directory of a goal the board does not know is gone: %v", err)
	}
}

// What is approved while its coder or reviewer is still at work is merged once
// they have ended, however they ended, and not before.
func TestAMergeFollowsTheEndOfTheSteps(t *testing.T) {
	for _, class := range []string{message.EndDone, message.EndCrash, message.EndLost} {
		t.Run(class, func(t *testing.T) {
			b := workspacetest.New(t)
			step := func(role message.Role, body func(message.Role, message.AgentID) message.Body) {
				t.Helper()
				m := message.Message{From: message.Supervisor, To: message.All, Goal: "g", Subject: "t", Cause: "c", Body: body(role, message.AgentID(role+"-7"))}
				if _, err := b.Board.Append(t.Context(), m); err != nil {
					t.Fatal(err)
				}
			}
			for _, role := range []message.Role{message.Coder, message.CodeReviewer} {
				step(role, func(role message.Role, agent message.AgentID) message.Body {
					return message.StepStarting{Role: role, Subject: "t", Cause: "c", Agent: agent, Try: 1, Marker: "m-" + string(role)}
				})
			}
			end := func(role message.Role, agent message.AgentID) message.Body {
				return message.StepEnded{Role: role, Subject: "t", Cause: "c", Agent: agent, Class: class}
			}
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			looked, merged := make(chan struct{}, 9), make(chan struct{}, 9)
			i := integratorOf(b, passes)
			i.Merged = func(context.Context, message.Message) { merged <- struct{}{} }
			i.Unmoved = func(context.Context, blackboard.Task) (bool, error) {
				looked <- struct{}{}
				return true, nil
			}
			if err := i.All(ctx); err != nil { // with both at work nothing is to be done
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- i.Serve(ctx) }()
			step(message.Coder, end)
			if len(looked) > 0 || b.Merged() > 0 {
				t.Error("it is merged while its reviewer is at work")
			}
			step(message.CodeReviewer, end)
			select {
			case <-merged:
			case err := <-ended:
				t.Fatalf("it ended before the merge: %v", err)
			}
			stop()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("it ended with %v", err)
			}
			if len(looked) != 1 || b.Merged() != 1 {
				t.Errorf("%d looks and %d merges, want one of each", len(looked), b.Merged())
			}
		})
	}
}
