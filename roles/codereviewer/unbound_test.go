package codereviewer_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/codereviewer"
	"orch/roles/internal/codertest"
	"orch/roles/run/step"
	"orch/roles/think"
	"orch/roles/think/model"
)

// weighed is a task whose review has a criterion that only a reviewer decides.
func weighed(t *testing.T) *codertest.Desk {
	it := task()
	it.SuccessCriteria = append(it.SuccessCriteria, message.Criterion{ID: "done_when", Criterion: "a.txt says done", Mode: message.Plausible, Required: true})
	d := codertest.NewDesk(t, map[string]string{"a.txt": "open\n", "spec.md": "# Spec\n\nIt says done.\n"}, it)
	d.Claim("coder-1")
	if err := code(d, "coder-1", writes(d, map[string]string{"a.txt": "done\n", ".gitattributes": "* text=auto\n"}, think.CodeReport{})); err != nil {
		t.Fatal(err)
	}
	return d
}

func whole(in think.ReviewInput) think.Review {
	return think.Review{Approved: true, Checks: []message.Verdict{{CriterionID: "done_when", Criterion: "a.txt says done", Mode: message.Plausible,
		Required: true, Verdict: message.Pass, Evidence: "it does", By: message.ByModel}}}
}

// accepting is an approval that accepts each finding as how says.
func accepting(in think.ReviewInput, how func(id string) think.Acceptance) think.Review {
	r := whole(in)
	for _, f := range in.Findings {
		r.Accepted = append(r.Accepted, how(f.ID))
	}
	return r
}

// useless are the ways of a reviewer to give no verdict that binds.
var useless = map[string]func(in think.ReviewInput) (think.Review, error){
	"garbage": func(think.ReviewInput) (think.Review, error) {
		return think.Review{}, &model.Error{Kind: model.Malformed, Detail: "its verdict can not be read"}
	},
	"an empty answer": func(think.ReviewInput) (think.Review, error) {
		return think.Review{}, &think.UnusableError{Why: "it is empty"}
	},
	"a refusal": func(think.ReviewInput) (think.Review, error) {
		return think.Review{}, &model.Error{Kind: model.Refused, Detail: "no"}
	},
	"nothing on a criterion":    func(think.ReviewInput) (think.Review, error) { return think.Review{Approved: true}, nil },
	"a rejection without a why": func(think.ReviewInput) (think.Review, error) { return think.Review{}, nil },
	"an approval of what it calls not met": func(in think.ReviewInput) (think.Review, error) {
		r := whole(in)
		r.Checks[0].Verdict, r.Checks[0].FailureClass = message.Fail, message.Logical
		return r, nil
	},
	"an acceptance without a reason": func(in think.ReviewInput) (think.Review, error) {
		return accepting(in, func(id string) think.Acceptance { return think.Acceptance{Finding: id} }), nil
	},
	"an acceptance with an empty reason": func(in think.ReviewInput) (think.Review, error) {
		return accepting(in, func(id string) think.Acceptance { return think.Acceptance{Finding: id, Reason: " n/a "} }), nil
	},
	"an acceptance of what was not found": func(in think.ReviewInput) (think.Review, error) {
		return accepting(in, func(string) think.Acceptance {
			return think.Acceptance{Finding: "f-0000000000", Reason: "the task demands it"}
		}), nil
	},
	"an acceptance of everything": func(in think.ReviewInput) (think.Review, error) {
		return accepting(in, func(string) think.Acceptance { return think.Acceptance{Finding: "*", Reason: "the task demands it"} }), nil
	},
	"a blocker without a fix": func(think.ReviewInput) (think.Review, error) {
		return think.Review{Blockers: []message.Blocker{{File: "a.txt", Line: 1, Defect: "ugly"}}}, nil
	},
	"a changed checkout": func(in think.ReviewInput) (think.Review, error) {
		return whole(in), os.Remove(filepath.Join(in.Dir, "a.txt"))
	},
	"a checkout that is no repository any more": func(in think.ReviewInput) (think.Review, error) {
		return whole(in), os.RemoveAll(filepath.Join(in.Dir, ".git"))
	},
}

// A verdict that does not bind is given back once with the reason; then the
// next reviewer gets it. Nothing of it is put down to the coder.
func TestAVerdictThatDoesNotBindIsGivenBackOnceThenAnotherReviewerGetsIt(t *testing.T) {
	for name, answers := range useless {
		for _, others := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				d := weighed(t)
				var reasons []string
				first := func(_ context.Context, in think.ReviewInput) (think.Review, error) {
					reasons = append(reasons, in.Refused)
					return answers(in)
				}
				chain := []judging{first}
				if others {
					chain = append(chain, func(_ context.Context, in think.ReviewInput) (think.Review, error) {
						if in.Refused != "" {
							t.Errorf("the next reviewer is told of another's verdict: %s", in.Refused)
						}
						return whole(in), nil
					})
				}
				err := review(d, "code-reviewer-1", chain...)
				times := 2
				if name == "a refusal" { // it would refuse again
					times = 1
				}
				if len(reasons) != times || reasons[0] != "" || times > 1 && reasons[1] == "" {
					t.Errorf("it was asked with %q", reasons)
				}
				now := d.Now()
				switch {
				case others && (err != nil || now.Status != blackboard.Approved):
					t.Errorf("%s, %v", now.Status, err)
				case !others && (!step.NotJudged(err) || step.ExitCode(err) != step.ExitAgain || now.Status != blackboard.ReadyForReview):
					t.Errorf("%s, %v", now.Status, err)
				}
				if r := now.Review; r.Cycles != 0 || r.Iterations != 1 || len(r.Pending) != 0 || len(r.FailedBy) != 0 || now.Attempt != 1 || len(now.Gaps) != 0 {
					t.Errorf("it is put down to the coder: %+v", r)
				}
			})
		}
	}
}

// Who gives a whole verdict when asked again is believed.
func TestAVerdictThatWasGivenBackMayBeMadeWhole(t *testing.T) {
	d := weighed(t)
	err := review(d, "code-reviewer-1", func(_ context.Context, in think.ReviewInput) (think.Review, error) {
		if !strings.Contains(in.Refused, "done_when") {
			return think.Review{Approved: true}, nil
		}
		return whole(in), nil
	})
	if err != nil || d.Now().Status != blackboard.Approved {
		t.Errorf("%s, %v", d.Now().Status, err)
	}
}

// A rejection says nothing of what its reviewer did not speak about.
func TestARejectionHoldsOnlyWhatTheReviewerSaid(t *testing.T) {
	d := weighed(t)
	err := review(d, "code-reviewer-1", func(context.Context, think.ReviewInput) (think.Review, error) {
		return think.Review{Blockers: []message.Blocker{{File: "a.txt", Line: 1, Defect: "it shouts", Fix: "whisper"}}}, nil
	})
	now := d.Now()
	if err != nil || now.Status != blackboard.Rejected || len(now.Review.Pending) != 1 || len(now.Review.Verdict.Checks) != 1 {
		t.Errorf("%s, %v, %+v", now.Status, err, now.Review)
	}
}

// A second opinion that does not bind is no disagreement.
func TestACrosscheckThatDoesNotBindIsNoRejection(t *testing.T) {
	for name, answers := range useless {
		t.Run(name, func(t *testing.T) {
			d := weighed(t)
			d.ClaimReview("code-reviewer-1")
			e := envOf(d, message.CodeReviewer, "code-reviewer-1")
			e.Code.Reviewer = panel{func(_ context.Context, in think.ReviewInput) (think.Review, error) { return whole(in), nil }}
			e.Code.Crosscheck = panel{func(_ context.Context, in think.ReviewInput) (think.Review, error) { return answers(in) }}
			err := codereviewer.Run(t.Context(), e)
			if now := d.Now(); !step.NotJudged(err) || now.Status != blackboard.ReadyForReview || now.Review.Cycles != 0 {
				t.Errorf("%s, %v", now.Status, err)
			}
		})
	}
}

// JSON's null is no check: nothing is run for it, and the reviewer decides.
func TestACriterionWithoutACheckIsTheReviewers(t *testing.T) {
	it := task()
	it.SuccessCriteria = append(it.SuccessCriteria, message.Criterion{ID: "done_when", Criterion: "a.txt says done", Mode: message.Plausible, Required: true, Check: []byte("null")})
	d := codertest.NewDesk(t, map[string]string{"a.txt": "open\n", "spec.md": "# Spec\n"}, it)
	d.Claim("coder-1")
	if err := code(d, "coder-1", writes(d, map[string]string{"a.txt": "done\n"}, think.CodeReport{})); err != nil {
		t.Fatal(err)
	}
	err := review(d, "code-reviewer-1", func(_ context.Context, in think.ReviewInput) (think.Review, error) {
		if len(in.Checks) != 1 {
			t.Errorf("checks that were run: %+v", in.Checks)
		}
		return whole(in), nil
	})
	if err != nil || d.Now().Status != blackboard.Approved {
		t.Errorf("%s, %v", d.Now().Status, err)
	}
}
