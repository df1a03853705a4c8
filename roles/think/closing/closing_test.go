package closing

import (
	"fmt"
	"strings"
	"testing"

	"orch/blackboard/message"
	"orch/roles/think"
)

func TestDetailsOfAnAnomalyAreTexts(t *testing.T) {
	got := Anomalies([]Anomaly{{Type: "retry_loop", Details: map[string]any{"count": 3, "error_pattern": "EOF", "seen": []string{"a"}, "never": func() {}}}})
	if len(got) != 1 || got[0].Kind != "retry_loop" || fmt.Sprint(got[0].Details) != `map[count:3 error_pattern:EOF seen:["a"]]` {
		t.Errorf("%+v", got)
	}
	if err := got[0].Validate(); err != nil {
		t.Error(err)
	}
}

func input() think.ReviewInput {
	return think.ReviewInput{Pending: []message.Blocker{{File: "a.go", Line: 3, Defect: "d"}}, Task: message.SubTask{SuccessCriteria: []message.Criterion{
		{ID: "checked", Check: []byte(`{"run":{"command":"true"}}`)}, {ID: "words"}, {ID: "more"}}}}
}

// What is not spoken of, or passed without evidence, is not met; the last word
// on a criterion counts.
func TestCriteriaNeedEvidence(t *testing.T) {
	for name, c := range map[string]struct {
		said []Criterion
		want string
	}{
		"nothing":          {nil, "fail fail"},
		"one":              {[]Criterion{{"words", true, "seen"}}, "pass fail"},
		"without evidence": {[]Criterion{{"words", true, ""}, {"more", true, "seen"}}, "fail pass"},
		"a fail":           {[]Criterion{{"words", false, "it is not there"}}, "fail fail"},
		"of another":       {[]Criterion{{"checked", true, "seen"}, {"unknown", true, "seen"}}, "fail fail"},
	} {
		var got []string
		for _, v := range (Review{Verdicts: c.said}).Into(think.Review{}, input()).Checks {
			if v.Passed() == (v.FailureClass != "") || v.Evidence == "" || v.By != message.ByModel {
				t.Errorf("%s: %+v", name, v)
			}
			got = append(got, string(v.Verdict))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", name, got, c.want)
		}
	}
}

func TestWhatABindingVerdictHasToSay(t *testing.T) {
	all := []Criterion{{"words", true, "x"}, {"more", true, "x"}}
	told := []message.Feedback{{What: "a.go:3: d", State: message.Resolved}}
	for name, c := range map[string]struct {
		r    Review
		want string
	}{
		"whole":                      {Review{Decision: message.Approved, Verdicts: all, Feedback: told}, ""},
		"a rejection needs less":     {Review{Decision: message.Rejected, Feedback: told}, ""},
		"a criterion is left out":    {Review{Decision: message.Approved, Verdicts: all[:1], Feedback: told}, `none on criterion "more"`},
		"a blocker is left out":      {Review{Decision: message.Rejected}, `became of "a.go:3: d"`},
		"a blocker by another name":  {Review{Decision: message.Rejected, Feedback: []message.Feedback{{What: "a.go: d"}}}, `became of "a.go:3: d"`},
		"a line 0 is the whole file": {Review{Decision: message.Rejected, Feedback: told, Blockers: []message.Blocker{{File: "x"}}}, ""},
	} {
		if got := c.r.Missing(input()); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		for _, b := range c.r.Into(think.Review{}, input()).Blockers {
			if b.Line != 1 {
				t.Errorf("%s: line %d", name, b.Line)
			}
		}
	}
}
