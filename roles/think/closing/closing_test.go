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

// What is not spoken of, or passed without evidence, is neither met nor failed;
// the last word on a criterion counts.
func TestCriteriaNeedEvidence(t *testing.T) {
	for name, c := range map[string]struct {
		said []Criterion
		want string
	}{
		"nothing":          {nil, ""},
		"one":              {[]Criterion{{"words", true, "seen"}}, "words:pass"},
		"without evidence": {[]Criterion{{"words", true, ""}, {"more", true, "seen"}}, "more:pass"},
		"a fail":           {[]Criterion{{"words", false, "it is not there"}}, "words:fail"},
		"two words":        {[]Criterion{{"words", true, "seen"}, {"words", false, "no"}}, "words:fail"},
		"of another":       {[]Criterion{{"checked", true, "seen"}, {"unknown", true, "seen"}}, ""},
	} {
		var got []string
		for _, v := range (Review{Verdicts: c.said}).Into(think.Review{}, input()).Checks {
			if v.Passed() == (v.FailureClass != "") || v.Evidence == "" || v.By != message.ByModel {
				t.Errorf("%s: %+v", name, v)
			}
			got = append(got, v.CriterionID+":"+string(v.Verdict))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", name, got, c.want)
		}
	}
}

// A blocker at line 0 is about the file as a whole.
func TestABlockerOfAWholeFile(t *testing.T) {
	got := Review{Decision: message.Rejected, Blockers: []message.Blocker{{File: "x"}}}.Into(think.Review{}, input())
	if got.Approved || len(got.Blockers) != 1 || got.Blockers[0].Line != 1 {
		t.Errorf("%+v", got)
	}
}
