package codereviewer_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/internal/codertest"
	"orch/roles/think"
)

// skipping is a change whose test says nothing any more.
const skipping = "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {\n\tt.Skip(\"later\")\n\tif 1 != 1 {\n\t\tt.Fatal(\"no\")\n\t}\n}\n"

// rejectedForAFinding is a desk whose task a reviewer would have approved, and
// code did not.
func rejectedForAFinding(t *testing.T) (*codertest.Desk, message.Blocker) {
	t.Helper()
	d := desk(t)
	d.Claim("coder-1")
	if err := code(d, "coder-1", writes(d, map[string]string{"a.txt": "done\n", "a_test.go": skipping}, think.CodeReport{})); err != nil {
		t.Fatal(err)
	}
	if err := review(d, "code-reviewer-1", approve); err != nil {
		t.Fatal(err)
	}
	now := d.Now()
	open := now.Review.OpenFindings()
	if now.Status != blackboard.Rejected || len(open) != 1 || len(now.Review.Pending) != 1 {
		t.Fatalf("%s, %+v", now.Status, now.Review.Pending)
	}
	return d, open[0]
}

func accept(d *codertest.Desk, commit, finding, content string) error {
	_, err := d.Board.Append(d.T.Context(), message.Message{From: message.Human, To: message.All, Goal: codertest.Goal, Subject: string(codertest.Task),
		Body: message.FindingsAccepted{Task: codertest.Task, ReviewCommit: commit, Findings: []message.AcceptedFinding{{Finding: finding, Content: content, What: "x"}}}})
	return err
}

func claimAgain(d *codertest.Desk, coder message.AgentID) {
	t := d.Now()
	d.Say(message.Supervisor, "", t.Fence+1, message.Claimed{Task: codertest.Task, Agent: coder, Fence: t.Fence + 1, Worktree: t.Work, BaseCommit: t.Base})
}

// What a person accepts is judged on as it is: no coder does it again.
func TestWhatAPersonAcceptsIsJudgedOnAndNotCodedAnew(t *testing.T) {
	for name, meanwhile := range map[string]func(*codertest.Desk){
		"rejected":            func(*codertest.Desk) {},
		"a coder is at it":    func(d *codertest.Desk) { claimAgain(d, "coder-1") },
		"its coder is out of": func(d *codertest.Desk) { blocks(d) },
	} {
		t.Run(name, func(t *testing.T) {
			d, f := rejectedForAFinding(t)
			first := d.Now()
			meanwhile(d)
			if err := accept(d, first.Review.Commit, f.Finding, f.Content); err != nil {
				t.Fatal(err)
			}
			now := d.Now()
			if now.Status != blackboard.ReadyForReview || now.Review.Commit != first.Review.Commit || now.Review.Iterations != first.Review.Iterations {
				t.Fatalf("it is %s at %s", now.Status, now.Review.Commit)
			}
			if err := review(d, "code-reviewer-2", func(_ context.Context, in think.ReviewInput) (think.Review, error) {
				if len(in.Pending) != 0 || len(in.Findings) != 1 || !in.Findings[0].Let {
					t.Errorf("it is shown %+v, %+v", in.Pending, in.Findings)
				}
				return think.Review{Approved: true}, nil
			}); err != nil {
				t.Fatal(err)
			}
			now = d.Now()
			if v := now.Review.Verdict; now.Status != blackboard.Approved || len(v.AcceptedFindings) != 1 || v.AcceptedFindings[0].By != message.Human || !strings.Contains(v.Names()[0], "by a person") {
				t.Errorf("it is %s: %+v", now.Status, v)
			}
		})
	}
}

// blocks ends what the coder gets on its task.
func blocks(d *codertest.Desk) {
	d.Say(message.Supervisor, "", 0, message.Blocked{Task: codertest.Task, BlockedReason: "used up", BlockedQuestions: []string{"Must it?"}, Kind: message.BlockedDeadlock})
}

// An acceptance holds for one finding, in one submission, with one content.
func TestAnAcceptanceHoldsForWhatWasSeen(t *testing.T) {
	d, f := rejectedForAFinding(t)
	commit := d.Now().Review.Commit
	for name, c := range map[string][3]string{
		"another finding": {commit, "f-0000000000", f.Content}, "other content": {commit, f.Finding, "0000"},
		"another commit": {strings.Repeat("0", 40), f.Finding, f.Content}, "no finding": {commit, "", f.Content}, "no content": {commit, f.Finding, ""},
	} {
		if err := accept(d, c[0], c[1], c[2]); err == nil || d.Now().Status != blackboard.Rejected {
			t.Errorf("%s was taken: %v", name, err)
		}
	}
	// The coder begins something else beside it, and the person's yes is about what was there before.
	claimAgain(d, "coder-1")
	worse := strings.Replace(skipping, "1 != 1", "1 != 1 && false", 1)
	if err := code(d, "coder-1", writes(d, map[string]string{"a_test.go": worse}, think.CodeReport{})); err != nil {
		t.Fatal(err)
	}
	if err := accept(d, commit, f.Finding, f.Content); err == nil {
		t.Error("a submission that is no more was accepted")
	}
	if err := accept(d, d.Now().Review.Commit, f.Finding, f.Content); err != nil {
		t.Fatal(err) // it is open still, as it was seen
	}
	if err := review(d, "code-reviewer-1", approve); err != nil {
		t.Fatal(err)
	}
	now := d.Now()
	open := now.Review.OpenFindings()
	if now.Status != blackboard.Rejected || !slices.ContainsFunc(open, func(b message.Blocker) bool { return b.Finding == f.Finding && b.Content != f.Content }) {
		t.Errorf("the changed test is %s, open: %+v", now.Status, open)
	}
}

// A person can speak while a reviewer thinks.
func TestAnAcceptanceDuringAReviewCounts(t *testing.T) {
	d, f := rejectedForAFinding(t)
	claimAgain(d, "coder-1")
	if err := code(d, "coder-1", writes(d, map[string]string{"b.txt": "more\n"}, think.CodeReport{})); err != nil {
		t.Fatal(err)
	}
	if err := review(d, "code-reviewer-1", func(context.Context, think.ReviewInput) (think.Review, error) {
		return think.Review{Approved: true}, accept(d, d.Now().Review.Commit, f.Finding, f.Content)
	}); err != nil {
		t.Fatal(err)
	}
	if now := d.Now(); now.Status != blackboard.Approved {
		t.Errorf("it is %s: %+v", now.Status, now.Review.Pending)
	}
}

// A finding that is gone needs nobody's word.
func TestAFindingThatIsGoneIsResolvedByCode(t *testing.T) {
	d, _ := rejectedForAFinding(t)
	claimAgain(d, "coder-1")
	back := strings.Replace(skipping, "\tt.Skip(\"later\")\n", "", 1)
	if err := code(d, "coder-1", writes(d, map[string]string{"a_test.go": back}, think.CodeReport{})); err != nil {
		t.Fatal(err)
	}
	if err := review(d, "code-reviewer-1", approve); err != nil {
		t.Fatal(err)
	}
	if now := d.Now(); now.Status != blackboard.Approved {
		t.Errorf("it is %s: %+v", now.Status, now.Review.Verdict)
	}
}
