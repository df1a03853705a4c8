package step

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"orch/blackboard/message"
	"orch/roles/act/tool"
	"orch/roles/think"
)

var _ think.Actor = (*Journalled)(nil)

// maxObserved bounds the observed calls of one task that are put into the log.
const maxObserved = 300

// Act frames the run of an agent that acts by itself: its start is durable
// before it begins, its end says what came of it, and a change of orch's own
// configuration in between suspends the goal. Cut off in its middle, its end
// stays unsaid, as with any call.
func (j *Journalled) Act(ctx context.Context, name string, input json.RawMessage, run func(context.Context) think.Acted) (think.ToolResult, error) {
	if j.fatal != nil {
		return think.ToolResult{}, j.fatal
	}
	r, err := j.act(ctx, name, input, run)
	if err != nil {
		j.fatal = err
	}
	return r, err
}

func (j *Journalled) act(ctx context.Context, name string, input json.RawMessage, run func(context.Context) think.Acted) (think.ToolResult, error) {
	id, err := j.env.NewID()
	if err != nil {
		return think.ToolResult{}, err
	}
	logged, err := j.loggable(input)
	if err != nil {
		return think.ToolResult{}, err
	}
	s := message.ToolStarted{Call: message.CallID(id), Tool: name, Input: logged, Approach: name, Target: shortName(j.task.Target), Idempotent: j.task.ReadOnly}
	said, err := j.env.Say(ctx, s)
	if err != nil {
		return think.ToolResult{}, err
	}
	if d := j.doubted(s); d != nil {
		return j.heldBack(ctx, s, d)
	}
	if err := j.env.Board.Barrier(ctx, said.Seq); err != nil {
		return think.ToolResult{}, err
	}
	before, err := j.settings()
	if err != nil {
		return think.ToolResult{}, err
	}
	began := j.env.Clock.Now()
	acted := run(ctx)
	if ctx.Err() != nil {
		return think.ToolResult{}, context.Cause(ctx)
	}
	after, err := j.settings()
	if err != nil {
		return think.ToolResult{}, err
	}
	r := actedResult(acted, j.env.Clock.Now().Sub(began).Milliseconds())
	ended, err := j.end(ctx, s, r, tool.Result{Exit: r.Exit, Infra: r.Infra})
	if err != nil {
		return think.ToolResult{}, err
	}
	if before != after {
		return think.ToolResult{}, j.drifted(ctx, s.Call)
	}
	j.sawChange(!j.task.ReadOnly)
	return think.ToolResult{Exit: acted.Exit, Output: Cut(acted.Output, j.env.Config.Limits.ModelOutput), Class: ended.Class, Kind: ended.Kind}, nil
}

// heldBack ends a run that did not begin because a person is to be asked first.
func (j *Journalled) heldBack(ctx context.Context, s message.ToolStarted, d *tool.Denial) (think.ToolResult, error) {
	reason := "[denied] " + d.Reason
	output := reason + "\nhint: " + d.Hint
	r := tool.Result{Exit: -1, Output: []byte(output), Head: reason, Tail: output, Denied: reason, Denial: d}
	ended, err := j.end(ctx, s, r, r)
	if err != nil {
		return think.ToolResult{}, err
	}
	if err := j.ask(ctx, tool.Call{Tool: tool.Name(s.Tool), Input: s.Input}, d); err != nil {
		return think.ToolResult{}, err
	}
	return think.ToolResult{Exit: -1, Output: output, Denied: reason, Class: ended.Class, Kind: ended.Kind}, nil
}

func actedResult(a think.Acted, tookMS int64) tool.Result {
	r := tool.Result{Exit: a.Exit, Output: []byte(a.Output), DurationMS: tookMS, Infra: a.Failed}
	if a.Failed != "" {
		r.Output = append(r.Output, "\n[no result: "+a.Failed+"]"...)
	}
	text := strings.TrimSpace(string(r.Output))
	first, _, _ := strings.Cut(text, "\n")
	r.Head, r.Tail = firstChars(first, tailChars), lastChars(text, tailChars)
	return r
}

// Observe puts a call into the log that an agent made by itself. One that the
// plan must not make comes back as a *think.MustNotError.
func (j *Journalled) Observe(ctx context.Context, o think.Observed) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	wrong := j.violation(o)
	if j.observed++; j.observed > maxObserved {
		return wrong // the run's own output has them
	}
	id, err := j.env.NewID()
	if err != nil {
		return err
	}
	input, err := j.loggable(o.Input)
	if err != nil {
		return err
	}
	exit := map[bool]int{true: 1}[o.Failed]
	text := strings.TrimSpace(o.Output)
	head, _, _ := strings.Cut(text, "\n")
	c := message.ToolCall{
		Call: message.CallID(id), Tool: o.Tool, Input: input, Approach: o.Tool, Target: shortName(observedTarget(o.Input)), Exit: exit,
		Head: firstChars(head, tailChars), Tail: lastChars(text, tailChars), Denied: o.Denied, Observed: true,
	}
	if _, err := j.env.Say(ctx, c); err != nil {
		return fmt.Errorf("note a call of the agent: %w", err)
	}
	j.calls = append(j.calls, c)
	return wrong
}

// violation holds a command that an agent ran by itself against MUST NOT. One
// that was refused, and that the agent then reports as failed, did nothing.
func (j *Journalled) violation(o think.Observed) error {
	if o.Denied != "" {
		return nil
	}
	if o.Command == "" {
		if path := wrote(o, j.env.Workspace); !o.Failed && path != "" && j.mustNot.OutOfScope(path) {
			return j.leftScope(path)
		}
		j.changed = j.changed || !j.task.ReadOnly // who knows
		return nil
	}
	raw, err := json.Marshal(tool.ShellInput{Command: o.Command})
	if err != nil {
		return fmt.Errorf("read a command of the agent: %w", err)
	}
	call := tool.Call{Tool: tool.Shell, Input: raw}
	approach, target := j.env.Box.Target(call)
	target = shortName(target)
	ban, forbidden := j.banOn(approach, target)
	j.changed = j.changed || !j.env.Box.Idempotent(call)
	if path := j.outside(call); path != "" && !o.Failed {
		return j.leftScope(path)
	}
	if !forbidden || o.Failed && j.refused[message.Pair{Tool: approach, Target: target}] {
		return nil
	}
	return &think.MustNotError{What: firstChars(o.Command, tailChars), Ban: ban}
}

// observedTarget is the command or path of a call, where it is called so.
func observedTarget(input json.RawMessage) string {
	var in map[string]any
	if json.Unmarshal(input, &in) == nil {
		for _, key := range []string{"command", "cmd", "file_path", "path", "filePath", "pattern", "query", "url", "title"} {
			if s, ok := in[key].(string); ok && s != "" {
				return s
			}
		}
	}
	return firstChars(string(input), tailChars)
}

// May asks MUST NOT and the gate about a call without making it.
func (j *Journalled) May(name string, input json.RawMessage) bool {
	call := tool.Call{Tool: tool.Name(name), Input: input}
	approach, target := j.env.Box.Target(call)
	if _, forbidden := j.forbidden(approach, shortName(target)); forbidden {
		return false
	}
	return j.fatal == nil && j.env.Box.May(call)
}
