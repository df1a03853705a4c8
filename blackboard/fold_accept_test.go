package blackboard

import (
	"testing"

	"orch/blackboard/message"
)

// A person's word about findings is heard wherever the task stands, and the
// submission is judged again as soon as nothing else is left against it.
func TestFindingsAreAcceptedWhereverTheirTaskStands(t *testing.T) {
	blocker := func(line int, id string) message.Blocker {
		return message.Blocker{File: "a_test.go", Line: line, Defect: "skipped_test: " + id, Fix: "let it run", Finding: id, Content: "c1"}
	}
	one, two := blocker(1, "f-1"), blocker(2, "f-2")
	of := func(b message.Blocker) message.AcceptedFinding {
		return message.AcceptedFinding{Finding: b.Finding, Content: b.Content}
	}
	accept := func(commit string, f ...message.AcceptedFinding) message.FindingsAccepted {
		return message.FindingsAccepted{Task: "t", ReviewCommit: commit, Findings: f}
	}
	for name, c := range map[string]struct {
		get  func(*script)
		now  Status
		then Status // when both are accepted
	}{
		"rejected": {func(*script) {}, Rejected, ReadyForReview},
		"claimed":  {func(c *script) { c.claim("t", "coder-1") }, Claimed, ReadyForReview},
		"blocked": {func(c *script) {
			c.say(message.Blocked{Task: "t", BlockedReason: "no", BlockedQuestions: []string{"why?"}, Kind: message.BlockedDeadlock}, sentBy(message.Supervisor))
		}, Blocked, ReadyForReview},
		"submitted again": {func(c *script) { c.submit("t", "coder-1", "one") }, ReadyForReview, ReadyForReview},
	} {
		t.Run(name, func(t *testing.T) {
			s := coding(t, sub("t", "p", 1))
			s.submit("t", "coder-1", "one")
			s.say(rejects("t", "one", message.ReviewVerdict{Blockers: []message.Blocker{one, two}}), as("code-reviewer-1"))
			c.get(s)
			s.refused("submitted is", accept("two", of(one)))
			s.refused("no finding", accept("one", message.AcceptedFinding{Finding: "f-3", Content: "c1"}))
			s.refused("no finding", accept("one", message.AcceptedFinding{Finding: "f-1", Content: "c2"}))
			s.refused("accepts nothing", accept("one"))
			s.say(accept("one", of(one)))
			if got := s.task("t"); got.Status != c.now || len(got.Review.OpenFindings()) != 1 {
				t.Errorf("after one it is %s, open: %+v", got.Status, got.Review.OpenFindings())
			}
			s.say(accept("one", of(one), of(two)))
			got := s.task("t")
			if got.Status != c.then || len(got.Review.OpenFindings()) != 0 || len(got.Review.Accepted) != 2 || got.Review.Commit != "one" {
				t.Errorf("after both it is %s: %+v", got.Status, got.Review)
			}
			if (got.Review.Recalled == got.Fence) != (c.now == Claimed) {
				t.Errorf("the claim that is recalled is %d, of %d", got.Review.Recalled, got.Fence)
			}
			if got.Review.Accepted[0].By != message.Human {
				t.Errorf("accepted by %q", got.Review.Accepted[0].By)
			}
		})
	}
	t.Run("beside something else", func(t *testing.T) {
		s := coding(t, sub("t", "p", 1))
		s.submit("t", "coder-1", "one")
		s.say(rejects("t", "one", message.ReviewVerdict{Blockers: []message.Blocker{one, wrong}}), as("code-reviewer-1"))
		s.say(accept("one", of(one)))
		if got := s.task("t"); got.Status != Rejected {
			t.Errorf("a defect is open, and it is %s", got.Status)
		}
	})
	t.Run("without a reason by a reviewer", func(t *testing.T) {
		s := coding(t, sub("t", "p", 1))
		s.submit("t", "coder-1", "one")
		s.refused("gives no reason", message.ReviewVerdict{Task: "t", ReviewCommit: "one", Decision: message.Approved, Checks: []message.Verdict{passes("c")},
			AcceptedFindings: []message.AcceptedFinding{{Finding: "f-1", Content: "c1", By: message.CodeReviewer}}}, as("code-reviewer-1"))
	})
}
