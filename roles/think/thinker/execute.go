package thinker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"orch/blackboard/message"
	"orch/roles/act/tool"
	"orch/roles/think"
	"orch/roles/think/answer"
	"orch/roles/think/model"
	"orch/roles/think/prompt"
)

// Limits of one attempt.
const (
	maxIdle      = 4         // turns in a row that bring nothing new
	callsAtOnce  = 16        // of one turn; the rest is not run
	historyBytes = 256 << 10 // of results kept in the conversation
	lastTurns    = 3         // before the end the model is told
)

// report is what an executor says at the end.
type report struct {
	Status     string          `json:"status"`
	Output     json.RawMessage `json:"output"`
	Reason     string          `json:"reason"`
	Infeasible string          `json:"infeasible"`
}

// Execute implements think.Executor: the tool calls of the model are run one
// by one until it reports, gets nowhere, or its turns are used up.
func (t *Thinker) Execute(ctx context.Context, in think.ExecuteInput, tools think.Tools) (think.Execution, error) {
	p, err := prompt.ForExecutor(in)
	if err != nil {
		return think.Execution{}, err
	}
	l := &talking{talk: t.talk(p), in: in, tools: tools, seen: map[string]bool{}, calls: len(in.Done)}
	l.req.Schema = nil // the report has a form, the turns before it do not
	l.req.Tools = modelTools(t.o.Tools)
	done, err := l.run(ctx)
	done.Usage = l.usage
	return done, err
}

// talking is the conversation of one attempt.
type talking struct {
	*talk
	in      think.ExecuteInput
	tools   think.Tools
	seen    map[string]bool // calls with their results: what comes again is nothing new
	calls   int
	idle    int  // turns in a row that brought nothing new
	unread  bool // the last answer could not be read
	doubted bool // it was asked once whether it did anything
	last    string
}

func (l *talking) run(ctx context.Context) (think.Execution, error) {
	for turn := 1; turn <= l.t.o.Turns; turn++ {
		r, err := l.ask(ctx)
		if err != nil {
			return think.Execution{}, err
		}
		if calls := l.wanted(r); len(calls) > 0 {
			if err := l.act(ctx, r, calls, l.t.o.Turns-turn); err != nil {
				return think.Execution{}, err
			}
		} else if done, err := l.ended(r); done != nil || err != nil {
			return deref(done), err
		}
		if l.idle >= maxIdle {
			return l.gaveUp(fmt.Sprintf("it got nowhere for %d turns", l.idle)), nil
		}
	}
	return l.gaveUp(fmt.Sprintf("%d turns were used up without a report", l.t.o.Turns)), nil
}

func deref(done *think.Execution) think.Execution {
	if done == nil {
		return think.Execution{}
	}
	return *done
}

// gaveUp ends an attempt that did not end itself, and says so.
func (l *talking) gaveUp(why string) think.Execution {
	if l.last != "" {
		why += "; the last it saw: " + l.last
	}
	return think.Execution{Status: message.Failed, Reason: why}
}

// wanted are the calls a turn asks for, in the server's form or in the text.
func (l *talking) wanted(r model.Response) []model.Call {
	if len(r.Calls) > 0 {
		return r.Calls
	}
	if r.Stop == model.StopLength || r.Stop == model.StopRefuse {
		return nil // a call that may be cut off is none
	}
	var calls []model.Call
	for i, c := range answer.Calls(r.Text, func(name string) bool { return slices.Contains(l.t.o.Tools, tool.Name(name)) }) {
		calls = append(calls, model.Call{ID: fmt.Sprintf("text-%d-%d", len(l.req.Turns), i), Name: c.Name, Input: c.Input})
	}
	return calls
}

// act runs the calls of a turn one by one and adds their results.
func (l *talking) act(ctx context.Context, r model.Response, calls []model.Call, left int) error {
	l.unread = false
	results := make([]model.Result, 0, len(calls))
	news := false
	for i, call := range calls {
		if i >= callsAtOnce {
			results = append(results, model.Result{CallID: call.ID, Failed: true, Text: fmt.Sprintf("not run: at most %d calls a turn", callsAtOnce)})
			continue
		}
		input := inputOf(call.Name, call.Input)
		got, err := think.Once(ctx, l.tools, call.Name, input)
		if err != nil {
			return fmt.Errorf("call %s: %w", call.Name, err)
		}
		l.calls++
		result := shown(got)
		if key := call.Name + "\x00" + string(input) + "\x00" + result.Text; !l.seen[key] {
			l.seen[key] = true
			news = news || got.Denied == ""
		}
		result.CallID = call.ID
		results = append(results, result)
		l.last = firstLine(result.Text)
	}
	if l.idle++; news {
		l.idle = 0
	}
	l.remember(r, calls, results, left)
	return nil
}

// remember adds a turn and its results. Calls that were read out of the text
// are answered in text: the server knows nothing of them, and signed nothing.
func (l *talking) remember(r model.Response, calls []model.Call, results []model.Result, left int) {
	note := ""
	if left <= lastTurns {
		note = fmt.Sprintf("\n\n[%d more turns: finish and report]", left)
	}
	if len(r.Calls) == 0 {
		var texts []string
		for i, result := range results {
			texts = append(texts, prompt.Fence("result of "+calls[i].Name, result.Text))
		}
		l.req.Turns = append(l.req.Turns, model.Turn{By: model.Assistant, Text: r.Text},
			model.Turn{By: model.User, Text: strings.Join(texts, "\n\n") + note})
	} else {
		results[len(results)-1].Text += note
		l.req.Turns = append(l.req.Turns, model.Turn{By: model.Assistant, Text: r.Text, Calls: r.Calls, Echo: r.Echo},
			model.Turn{By: model.ToolSays, Results: results})
	}
	l.forget()
}

// shown is a result as the model reads it.
func shown(r think.ToolResult) model.Result {
	text := strings.TrimRight(strings.ToValidUTF8(r.Output, "\uFFFD"), "\n")
	switch {
	case r.Denied != "" && !strings.HasPrefix(text, r.Denied):
		text = r.Denied + "\n" + text
	case r.Denied == "" && r.Exit != 0:
		text += fmt.Sprintf("\n[exit %d]", r.Exit)
	case text == "":
		text = "[exit 0, no output]"
	}
	return model.Result{Text: text, Failed: r.Exit != 0 || r.Denied != ""}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return strings.ToValidUTF8(line[:min(len(line), 200)], "")
}

// forget keeps the conversation within its limit: the oldest results go first.
func (l *talking) forget() {
	total := 0
	for i, turn := range slices.Backward(l.req.Turns) {
		if i == 0 {
			break // the task itself
		}
		for k := range turn.Results {
			if total += len(turn.Results[k].Text); total > historyBytes && len(turn.Results[k].Text) > len(forgotten) {
				l.req.Turns[i].Results = slices.Clone(l.req.Turns[i].Results)
				l.req.Turns[i].Results[k].Text = forgotten
			}
		}
		if turn.By == model.User {
			if total += len(turn.Text); total > historyBytes {
				l.req.Turns[i].Text = forgotten
			}
		}
	}
}

const forgotten = "[left out, to keep this conversation short; call again if it is needed]"

// ended reads a turn without calls: the report, or something to send back. nil
// and no error means that the loop goes on.
func (l *talking) ended(r model.Response) (*think.Execution, error) {
	v, err := read[report](l.talk, r, nil)
	if err != nil {
		if l.unread || r.Stop == model.StopRefuse {
			return nil, l.unusable(r, err)
		}
		l.unread = true
		l.idle++
		l.sendBackTurn(r, err)
		return nil, nil
	}
	l.unread = false
	if v.Status == message.Completed && l.calls == 0 && !l.doubted && !l.in.Task.ReadOnly {
		l.doubted = true
		l.idle++
		l.sendBackTurn(r, errors.New("you have called no tool in this attempt, so nothing was done or seen. Do the task now; or, if there really is nothing to do, report that again"))
		return nil, nil
	}
	return v.execution(), nil
}

// sendBackTurn tells the model what was wrong, tools still in hand.
func (l *talking) sendBackTurn(r model.Response, why error) {
	r.Calls = nil
	l.sendBack(r, why)
	l.req.Turns[len(l.req.Turns)-1].Text = fmt.Sprintf(
		"That is neither a tool call nor a report that can be used: %s. Go on with tool calls, or report with one JSON object that fits the schema above.", reason(why))
}

func (v report) execution() *think.Execution {
	done := think.Execution{Status: v.Status, Output: textOf(v.Output), Reason: strings.TrimSpace(v.Reason)}
	if infeasible := strings.TrimSpace(v.Infeasible); infeasible != "" && v.Status != message.Completed {
		done.Infeasible = infeasible
	}
	if v.Status != message.Completed && done.Reason == "" {
		done.Reason = firstLine(done.Output)
	}
	return &done
}

// textOf is a text as it is, and anything else as JSON.
func textOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}
