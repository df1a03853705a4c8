//go:build unix

package agent

import (
	"strings"
	"testing"

	"orch/blackboard/message"
	"orch/roles/think"
)

// A run that is on record as completed is not made again: its report is taken
// from the record, or the attempt says that it is lost. One that failed, or
// whose end is unknown, is told to the next run.
func TestACompletedRunIsNotMadeAgain(t *testing.T) {
	w := ways()[0]
	a, _ := w.start(t, "ok", nil)
	name := "agent:" + a.set.title
	whole := transcript(Result{Text: `{"status":"completed","output":"all paid"}`})
	for what, c := range map[string]struct {
		done   think.Done
		runs   int
		status string
		says   string
	}{
		"completed":         {think.Done{Tool: name, Whole: whole}, 0, message.Completed, "all paid"},
		"its report lost":   {think.Done{Tool: name, Whole: "argv: […] end"}, 0, message.Failed, "its report is lost"},
		"failed":            {think.Done{Tool: name, Exit: 1, Whole: whole}, 1, message.Completed, "all done"},
		"in doubt":          {think.Done{Tool: name, Doubt: true}, 1, message.Completed, "all done"},
		"another one's":     {think.Done{Tool: "agent:other", Whole: whole}, 1, message.Completed, "all done"},
		"one that can wait": {think.Done{Tool: name, Idempotent: true, Whole: whole}, 1, message.Completed, "all done"},
	} {
		l, in := &layer{}, executeInput(t)
		in.Done = []think.Done{c.done}
		got, err := a.Execute(t.Context(), in, l)
		if err != nil || len(l.acts) != c.runs || got.Status != c.status || !strings.Contains(got.Output+got.Reason, c.says) {
			t.Errorf("%s: %d runs, %+v, %v", what, len(l.acts), got, err)
		}
		if told := strings.Contains(executorPrompt(in), think.GoOn); !told {
			t.Errorf("%s: the agent is not told of it", what)
		}
	}
}
