package codereviewer_test

import (
	"testing"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/codereviewer"
	"orch/roles/internal/codertest"
	"orch/roles/think"
)

// The command that a person configured is theirs, and so is the script it names:
// a coder that makes it say yes is not merged, however little a reviewer looks.
func TestTheTestCommandIsThePersons(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  blackboard.Status
	}{
		"the script says yes":    {map[string]string{"check.sh": "true\n"}, blackboard.Rejected},
		"the script it runs":     {map[string]string{"ci/all.sh": "true\n"}, blackboard.Rejected},
		"make says yes":          {map[string]string{"Makefile": "test:\n\ttrue\n"}, blackboard.Rejected},
		"another script is made": {map[string]string{"tools/more.sh": "true\n"}, blackboard.Approved},
	} {
		t.Run(name, func(t *testing.T) {
			d := codertest.NewDesk(t, map[string]string{"a.txt": "open\n", "spec.md": "# Spec\n", "check.sh": "sh ci/all.sh\n", "ci/all.sh": "sh tests/a.sh\n",
				"tests/a.sh": "grep -q done a.txt\n", "Makefile": "test:\n\tsh check.sh\n"}, task())
			d.Claim("coder-1")
			c.files["a.txt"] = "done\n"
			c.files["tests/b.sh"] = "grep -q done a.txt\n"
			if err := code(d, "coder-1", writes(d, c.files, think.CodeReport{})); err != nil {
				t.Fatal(err)
			}
			d.ClaimReview("code-reviewer-1")
			e := envOf(d, message.CodeReviewer, "code-reviewer-1")
			e.Config.Code.Test, e.Config.Checks.EmptiedMax = "sh check.sh", 0
			e.Code.TestCommand = func(string) (string, error) { return "sh check.sh", nil }
			e.Code.Reviewer = panel{approve}
			if err := codereviewer.Run(t.Context(), e); err != nil {
				t.Fatal(err)
			}
			now := d.Now()
			if now.Status != c.want || c.want == blackboard.Rejected && len(now.Review.OpenFindings()) == 0 {
				t.Errorf("it is %s: %+v", now.Status, now.Review.Pending)
			}
		})
	}
}
