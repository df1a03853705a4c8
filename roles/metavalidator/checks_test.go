package metavalidator

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"orch/blackboard/message"
	"orch/roles/act/check"
	"orch/roles/internal/steptest"
)

// Where a task failed, the goal's own checks are run all the same, by nobody's
// word, and what only a judge could decide is left without a verdict.
func TestTheGoalsChecksRunAlthoughATaskFailed(t *testing.T) {
	for name, pass := range map[string]bool{"pass": true, "fail": false} {
		w := world(t)
		w.Verdicts["broken"] = check.Verdict{Class: check.Logical, Evidence: "exit 1"}
		w.Verdicts["suite"] = check.Verdict{Pass: pass, Class: check.Logical, Evidence: "ran the suite"}
		w.Dispatch([]message.Criterion{steptest.Weighed("t1"), steptest.Checked("t2", "suite")},
			steptest.Task("good", steptest.Checked("c1", "fine")), steptest.Task("bad", steptest.Checked("c1", "broken")))
		finish(t, w)
		if err := w.Next(message.MetaValidator, Run); err != nil {
			t.Fatal(err)
		}
		r := requests(w)
		if len(w.Judge.Asked) != 0 || len(r) != 1 || len(r[0].TaskVerdicts) != 1 {
			t.Fatalf("%s: asked %d, request %+v", name, len(w.Judge.Asked), r)
		}
		if v := r[0].TaskVerdicts[0]; v.CriterionID != "t2" || v.Passed() != pass || v.By != message.ByCode || v.Evidence != "ran the suite" {
			t.Errorf("%s: %+v", name, v)
		}
		if strings.Contains(r[0].GapSummary, "the goal: suite exits 0") == pass {
			t.Errorf("%s: gaps %q", name, r[0].GapSummary)
		}
	}
}

// The time of those checks is the goal's, and a branch that moved meanwhile
// leaves them without meaning.
func TestChecksOfAGoalThatFellShortAreTimedAndHeldToOneState(t *testing.T) {
	moved := errors.New("the branch moved")
	for looks := range 3 {
		w := world(t)
		w.Verdicts["broken"] = check.Verdict{Class: check.Logical, Evidence: "exit 1"}
		w.Dispatch([]message.Criterion{steptest.Checked("t1", "suite")}, steptest.Task("bad", steptest.Checked("c1", "broken")))
		finish(t, w)
		e := w.Claim(w.Due()[0])
		n := 0
		e.Whole = func(context.Context) error {
			if n++; n > looks {
				return moved
			}
			return nil
		}
		e.Checks = func(context.Context, check.Check) check.Verdict {
			w.Clock.Add(3 * time.Minute)
			return check.Verdict{Pass: true, Evidence: "ok"}
		}
		err := Run(context.Background(), e)
		r := requests(w)
		if looks < 2 && (!errors.Is(err, moved) || len(r) > 0) {
			t.Errorf("look %d: got %v, said %v", looks+1, err, r)
		}
		if looks == 2 && (err != nil || len(r) != 1 || r[0].ElapsedMS < (3*time.Minute).Milliseconds()) {
			t.Errorf("got %v, said %+v", err, r)
		}
	}
}
