package workspace

import (
	"errors"
	"strings"
	"testing"

	"orch/blackboard/message"
)

// moves is a branch that begins at the first of some commits.
func moves(t *testing.T, n int) (p *project, commits []string) {
	t.Helper()
	p = newProject(t)
	for i := range n {
		p.write("a.txt", strings.Repeat("x", i+1))
		p.git("add", "-A")
		p.git("commit", "-qm", "more")
		commits = append(commits, p.git("rev-parse", "HEAD"))
	}
	p.git("branch", "integration", commits[0])
	p.git("update-ref", StartRef("g"), commits[0])
	return p, commits
}

func TestABranchThatMovesForwardIsAlwaysIntact(t *testing.T) {
	p, commits := moves(t, 40)
	moved := make(chan error, 1)
	go func() {
		for i, to := range commits[1:] {
			m := message.MergeStarting{Task: "t", From: commits[i], To: to, Ref: "refs/heads/integration"}
			if err := moveTo(t.Context(), p.dir, "g", m, false); err != nil {
				moved <- err
				return
			}
		}
		moved <- nil
	}()
	for {
		if _, err := p.repo.Intact(t.Context(), "g", "refs/heads/integration"); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-moved:
			if err != nil {
				t.Fatal(err)
			}
			return
		default:
		}
	}
}

func TestABranchThatLostAMergeIsNotIntact(t *testing.T) {
	p, commits := moves(t, 3)
	look := func() error {
		_, err := p.repo.Intact(t.Context(), "g", "refs/heads/integration")
		return err
	}
	if err := moveTo(t.Context(), p.dir, "g", message.MergeStarting{Task: "t", From: commits[0], To: commits[1], Ref: "refs/heads/integration"}, false); err != nil {
		t.Fatal(err)
	}
	p.git("branch", "-f", "integration", commits[2])
	if err := look(); err != nil {
		t.Errorf("ahead: %v", err)
	}
	p.git("branch", "-f", "integration", commits[0])
	var rewound *RewoundError
	if err := look(); !errors.As(err, &rewound) || string(rewound.Lost) != commits[1] {
		t.Errorf("moved back: %v", err)
	}
	p.git("branch", "-qD", "integration")
	var not *NotReadyError
	if err := look(); !errors.As(err, &not) || !strings.Contains(not.Hint(), commits[1][:12]) {
		t.Errorf("gone: %v", err)
	}
}
