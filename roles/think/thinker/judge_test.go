package thinker

import (
	"context"
	"errors"
	"strings"
	"testing"

	"orch/blackboard/message"
	"orch/roles/think"
	"orch/roles/think/model"
	"orch/roles/think/thinker/internal/modeltest"
)

func judged() think.JudgeInput {
	return think.JudgeInput{Criterion: message.Criterion{ID: "c1", Criterion: "every area is named"}, Intent: "Summarise",
		Output: "Areas:\n  api,   store", ToolCalls: []string{"shell:git grep TODO → 2 lines"}}
}

func TestJudge(t *testing.T) {
	pass := `{"verdict":"pass","evidence":"both are named","quote":"api, store"}`
	for name, c := range map[string]struct {
		answers []modeltest.Answer
		pass    bool
		err     bool
	}{
		"a clear pass":                      {[]modeltest.Answer{said1(pass)}, true, false},
		"a quote of a tool call":            {[]modeltest.Answer{said1(`{"verdict":"pass","evidence":"e","quote":"git grep TODO → 2"}`)}, true, false},
		"a quote with dots":                 {[]modeltest.Answer{said1(`{"verdict":"pass","evidence":"e","quote":"Areas: … store"}`)}, true, false},
		"a clear fail":                      {[]modeltest.Answer{said1(`{"verdict":"fail","evidence":"one is missing","class":"logical","what_to_do":"name it"}`)}, false, false},
		"fail without a quote":              {[]modeltest.Answer{said1(`{"verdict":"fail","evidence":"no"}`)}, false, false},
		"pass, then with a quote":           {[]modeltest.Answer{said1(`{"verdict":"pass","evidence":"e"}`), said1(pass)}, true, false},
		"pass without a quote, twice":       {[]modeltest.Answer{said1(`{"verdict":"pass","evidence":"e"}`), said1(`{"verdict":"pass","evidence":"e"}`)}, false, false},
		"an invented quote, twice":          {[]modeltest.Answer{said1(`{"verdict":"pass","evidence":"e","quote":"all areas"}`), said1(`{"verdict":"pass","evidence":"e","quote":"all of them"}`)}, false, false},
		"pieces in the wrong order, twice":  {[]modeltest.Answer{said1(`{"verdict":"pass","evidence":"e","quote":"store … Areas"}`), said1(`{"verdict":"pass","evidence":"e","quote":"store...Areas"}`)}, false, false},
		"a quote of dots only, twice":       {[]modeltest.Answer{said1(`{"verdict":"pass","evidence":"e","quote":"…"}`), said1(`{"verdict":"pass","evidence":"e","quote":"\" \""}`)}, false, false},
		"pass, then fail":                   {[]modeltest.Answer{said1(`{"verdict":"pass","evidence":"e"}`), said1(`{"verdict":"fail","evidence":"right, it is not"}`)}, false, false},
		"two verdicts that agree":           {[]modeltest.Answer{said1(pass + pass)}, true, false},
		"two that contradict, then a fail":  {[]modeltest.Answer{said1(pass + `{"verdict":"fail","evidence":"e"}`), said1(`{"verdict":"fail","evidence":"e"}`)}, false, false},
		"two that contradict, twice":        {[]modeltest.Answer{said1(pass + `{"verdict":"fail","evidence":"e"}`), said1(`{"verdict":"fail","evidence":"e"}` + pass)}, false, true},
		"a verdict named twice, twice":      {[]modeltest.Answer{said1(`{"verdict":"fail","evidence":"e","verdict":"pass"}`), said1(`{"verdict":"fail","evidence":"e","Verdict":"pass"}`)}, false, true},
		"another word, twice":               {[]modeltest.Answer{said1(`{"verdict":"passed","evidence":"e"}`), said1(`{"verdict":"PASS","evidence":"e"}`)}, false, true},
		"prose, twice":                      {[]modeltest.Answer{said1("It passes."), said1("pass")}, false, true},
		"nothing, twice":                    {[]modeltest.Answer{said1(""), said1("")}, false, true},
		"declined":                          {[]modeltest.Answer{{Text: pass, Stop: model.StopRefuse}}, false, true},
		"cut off, twice":                    {[]modeltest.Answer{said1(pass[:len(pass)-1]), said1(pass[:30])}, false, true},
		"only in its reasoning, twice":      {[]modeltest.Answer{said1("<think>" + pass + "</think>"), said1("<think>" + pass)}, false, true},
		"a pass by another name, then fail": {[]modeltest.Answer{said1(`{"result":"ok","confidence":1}`), said1(`{"verdict":"fail","evidence":"e"}`)}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			th, s := thinker(t, c.answers...)
			got, err := th.Judge(context.Background(), judged())
			if got.Pass != c.pass || (err != nil) != c.err {
				t.Fatalf("%+v, %v", got, err)
			}
			if err != nil && !errors.As(err, new(*think.UnusableError)) {
				t.Errorf("%T", err)
			}
			if len(s.Asked()) != len(c.answers) || got.Usage.ModelCalls != len(c.answers) {
				t.Errorf("asked %d times, usage %+v", len(s.Asked()), got.Usage)
			}
			if err == nil && strings.TrimSpace(got.Evidence) == "" {
				t.Error("a judgement without evidence")
			}
		})
	}
}

// What was judged sees one criterion, and the roles differ.
func TestWhoJudges(t *testing.T) {
	fail := said1(`{"verdict":"fail","evidence":"e"}`)
	th, s := thinker(t, fail, fail)
	in := judged()
	for _, sceptical := range []bool{false, true} {
		in.Sceptical, in.Second = sceptical, sceptical
		if _, err := th.Judge(context.Background(), in); err != nil {
			t.Fatal(err)
		}
	}
	asked := s.Asked()
	if asked[0].Role != "agent-validator" || asked[1].Role != "meta-validator" || !strings.Contains(asked[1].System, "sceptic") || len(asked[0].Tools) != 0 {
		t.Errorf("%s, %s", asked[0].Role, asked[1].Role)
	}
}

func TestNothingToJudgeByIsAFailWithoutAQuestion(t *testing.T) {
	th, s := thinker(t)
	got, err := th.Judge(context.Background(), think.JudgeInput{Criterion: message.Criterion{Criterion: "c"}, Output: " \n"})
	if err != nil || got.Pass || got.Evidence == "" || len(s.Asked()) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}
