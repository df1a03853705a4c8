package step

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/act/check"
	"orch/roles/act/tool"
	"orch/roles/act/tool/gate"
	"orch/roles/think"
)

// tailChars bounds what a ToolCall shows of an output; the whole is kept aside.
const tailChars = 120

// Journalled is the tool layer as a backend sees it. Each call is in the log
// on both sides: its start, durable before it acts, and what it did.
type Journalled struct {
	env      *Env
	task     message.SubTask
	mustNot  think.Constraints
	fatal    error
	mu       sync.Mutex // over what follows: an agent's calls are noted while it runs
	changed  bool       // something may have changed the workspace since the failures the bans are about
	refused  map[message.Pair]bool
	calls    []message.ToolCall
	record   record // of the calls that had an end
	doubts   doubts // of the goal
	observed int
}

// Tools journals calls for one task. changed tells whether the workspace has
// changed since earlier rounds failed: a ban on a target alone forbids to
// repeat what failed on an unchanged workspace, not to look again after a fix.
func (e *Env) Tools(task message.SubTask, mustNot think.Constraints, changed bool) *Journalled {
	return &Journalled{env: e, task: task, mustNot: mustNot, changed: changed, refused: map[message.Pair]bool{}}
}

// Calls lists what was called so far.
func (j *Journalled) Calls() []message.ToolCall {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.calls)
}

// Fatal is the error after which no further call is made; nil if there is none.
func (j *Journalled) Fatal() error { return j.fatal }

// Do runs one call. An error is about the journal or the machinery and ends
// the step; what the tool itself made of it is in the result.
func (j *Journalled) Do(ctx context.Context, name string, input json.RawMessage) (think.ToolResult, error) {
	if j.fatal != nil {
		return think.ToolResult{}, j.fatal
	}
	return j.once(ctx, tool.Call{Tool: tool.Name(name), Input: input}, false)
}

// DoIdempotent runs a call that its author declares harmless to run again.
func (j *Journalled) DoIdempotent(ctx context.Context, name string, input json.RawMessage) (think.ToolResult, error) {
	if j.fatal != nil {
		return think.ToolResult{}, j.fatal
	}
	return j.once(ctx, tool.Call{Tool: tool.Name(name), Input: input}, true)
}

func (j *Journalled) once(ctx context.Context, c tool.Call, declared bool) (think.ToolResult, error) {
	r, err := j.do(ctx, c, declared)
	if err != nil {
		j.fatal = err
	}
	return r, err
}

func (j *Journalled) do(ctx context.Context, c tool.Call, declared bool) (think.ToolResult, error) {
	started, err := j.start(ctx, c, declared)
	if err != nil {
		return think.ToolResult{}, err
	}
	before, err := j.settings()
	if err != nil {
		return think.ToolResult{}, err
	}
	result := j.run(ctx, c, started)
	if ctx.Err() != nil {
		// Cut off in the middle: how far it came is unknown, so its end stays
		// unsaid and the next attempt decides what that means.
		return think.ToolResult{}, context.Cause(ctx)
	}
	after, err := j.settings()
	if err != nil {
		return think.ToolResult{}, err
	}
	ended, err := j.end(ctx, started, result, result)
	if err != nil {
		return think.ToolResult{}, err
	}
	if before != after {
		return think.ToolResult{}, j.drifted(ctx, started.Call)
	}
	if result.Denial != nil && result.Denial.Kind == tool.DeniedGate {
		if err := j.ask(ctx, c, result.Denial); err != nil {
			return think.ToolResult{}, err
		}
		if result.Denial.Needs.Action == gate.Again {
			return think.ToolResult{}, &HeldBackError{result.Denial.Reason}
		}
	}
	j.sawChange(!j.env.Box.Idempotent(c) && result.Denied == "")
	return think.ToolResult{
		Exit: result.Exit, Output: Cut(string(result.Output), j.env.Config.Limits.ModelOutput),
		Denied: result.Denied, Class: ended.Class, Kind: ended.Kind,
	}, nil
}

// start says that a tool is about to act; it is durable when this returns.
func (j *Journalled) start(ctx context.Context, c tool.Call, declared bool) (message.ToolStarted, error) {
	id, err := j.env.NewID()
	if err != nil {
		return message.ToolStarted{}, err
	}
	approach, target := j.env.Box.Target(c)
	input, err := j.loggable(c.Input)
	if err != nil {
		return message.ToolStarted{}, err
	}
	s := message.ToolStarted{
		Call: message.CallID(id), Tool: string(c.Tool), Input: input, Approach: approach, Target: shortName(target),
		Idempotent: declared || j.env.Box.Idempotent(c),
	}
	said, err := j.env.Say(ctx, s)
	if err != nil {
		return s, err
	}
	j.env.Heart.Beat("started " + approach)
	return s, j.env.Board.Barrier(ctx, said.Seq)
}

func (j *Journalled) run(ctx context.Context, c tool.Call, s message.ToolStarted) tool.Result {
	if ban, forbidden := j.forbidden(s.Approach, s.Target); forbidden {
		reason := fmt.Sprintf("[denied] the plan must not use %s (%s: %s)", banned(ban), ban.Source, ban.Because)
		return tool.Result{Exit: -1, Output: []byte(reason), Denied: reason,
			Denial: &tool.Denial{Kind: tool.DeniedMustNot, Reason: reason, Hint: "choose another approach"}}
	}
	if path := j.outside(c); path != "" {
		reason := fmt.Sprintf("[denied] %s is outside the scope of the goal: %s", path, strings.Join(j.mustNot.Scope, ", "))
		return tool.Result{Exit: -1, Output: []byte(reason), Denied: reason,
			Denial: &tool.Denial{Kind: tool.DeniedMustNot, Reason: reason, Hint: "change only what is in scope"}}
	}
	if d := j.doubted(s); d != nil {
		return refusal(d)
	}
	if d := j.madeMaybe(s); d != nil {
		return refusal(d)
	}
	return j.env.Box.Do(ctx, c)
}

func refusal(d *tool.Denial) tool.Result {
	reason := "[denied] " + d.Reason
	return tool.Result{Exit: -1, Output: []byte(reason + "\nhint: " + d.Hint), Denied: reason, Denial: d}
}

// doubted asks a person before an approach of which the memory is of two minds
// has an effect. What can be run again without harm needs no yes.
func (j *Journalled) doubted(s message.ToolStarted) *tool.Denial {
	pair := message.Pair{Tool: j.task.Approach, Target: j.task.Target}
	if s.Idempotent || !slices.Contains(j.mustNot.AskFirst, pair) {
		return nil
	}
	name := pair.Tool + " on " + pair.Target
	return j.env.Box.Permit(gate.Caution, name, "the memory is of two minds about "+name+": it worked and it failed")
}

// sawChange notes that something may have changed the workspace.
func (j *Journalled) sawChange(changed bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.changed = j.changed || changed
}

// forbidden applies MUST NOT to a call that is to be made, and remembers that
// it was refused.
func (j *Journalled) forbidden(approach, target string) (think.Ban, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	ban, forbidden := j.banOn(approach, target)
	if forbidden {
		j.refused[message.Pair{Tool: approach, Target: target}] = true
	}
	return ban, forbidden
}

// banOn applies MUST NOT to one call: to what the call is by itself, and to
// the call as a step of the task's approach. It is called under mu.
func (j *Journalled) banOn(approach, target string) (think.Ban, bool) {
	for _, b := range j.mustNot.Binding(j.task.Slot) {
		if b.Approach == "" && j.changed {
			continue // the workspace is no longer the one it failed on
		}
		if b.Forbids(j.task.Slot, approach, target) || b.Forbids(j.task.Slot, j.task.Approach, target) {
			return b, true
		}
	}
	return think.Ban{}, false
}

func banned(b think.Ban) string {
	switch {
	case b.Target == "":
		return b.Approach
	case b.Approach == "":
		return b.Target
	}
	return b.Approach + " on " + b.Target
}

// end says what a call did and keeps its whole output. proof is what of the
// result says why it failed: the words of an agent do not.
func (j *Journalled) end(ctx context.Context, s message.ToolStarted, r, proof tool.Result) (message.ToolCall, error) {
	c := message.ToolCall{
		Call: s.Call, Tool: s.Tool, Input: s.Input, Approach: s.Approach, Target: s.Target, Exit: r.Exit,
		Head: firstChars(r.Head, tailChars), Tail: lastChars(r.Tail, tailChars), Denied: r.Denied, DurationMS: r.DurationMS,
	}
	c.Class, c.Kind = classify(proof)
	if len(r.Output) > tailChars {
		sha, err := j.env.Board.PutBlob(j.env.Goal, r.Output)
		if err != nil {
			return c, err
		}
		c.Blob = sha
	}
	if _, err := j.env.Say(ctx, c); err != nil {
		return c, err
	}
	j.note(c, s.Idempotent, string(r.Output))
	j.env.Heart.Beat(fmt.Sprintf("ended %s with %d", s.Approach, r.Exit))
	return c, nil
}

// classify promotes to environmental on unmistakable evidence only.
func classify(r tool.Result) (message.FailureClass, string) {
	switch {
	case r.Denial != nil && r.Denial.Kind == tool.DeniedRepeat:
		return message.Logical, "" // nobody forbade it: it is pointless
	case r.Denied != "":
		return message.Environmental, string(check.KindPermission)
	case r.Infra != "":
		return message.Environmental, string(check.KindTool)
	case r.Exit == 0:
		return "", ""
	}
	class, kind := check.Classify(r.Exit, string(r.Output))
	if kind == check.KindNone {
		kind = ""
	}
	return message.FailureClass(class), string(kind)
}

// ask puts a refused call before a person, once a goal: an answer that did not
// let it pass is not asked for again.
func (j *Journalled) ask(ctx context.Context, c tool.Call, d *tool.Denial) error {
	rule, err := json.Marshal(d.Needs)
	if err != nil {
		return fmt.Errorf("write the rule that %s needs: %w", c.Tool, err)
	}
	input, err := j.loggable(c.Input)
	if err != nil {
		return err
	}
	_, err = j.env.Board.AppendFunc(ctx, func(s *blackboard.State) (message.Message, error) {
		id, free := requestID(s.Approvals(), j.env.Goal, d.Needs.ID)
		if !free {
			return message.Message{}, errAsked
		}
		return j.env.message(j.env.Key.Role, message.DefaultTo(message.ApprovalRequest{}.Type()), j.env.Key.Cause, message.ApprovalRequest{
			Request: id, Task: j.task.ID, Tool: string(c.Tool), Input: input, Reason: d.Reason, Rule: rule,
		}), nil
	})
	if err != nil && !errors.Is(err, errAsked) {
		return fmt.Errorf("ask for permission: %w", err)
	}
	return nil
}

var errAsked = errors.New("this was asked before")

// requestID is the rule's own id, or with a number if another goal used it.
func requestID(made []blackboard.Approval, goal message.GoalID, rule string) (id string, free bool) {
	taken := map[string]bool{}
	for _, a := range made {
		taken[a.Request] = true
		if a.Goal == goal && (a.Request == rule || strings.HasPrefix(a.Request, rule+"-")) {
			return "", false
		}
	}
	id = rule
	for n := 2; taken[id]; n++ {
		id = fmt.Sprintf("%s-%d", rule, n)
	}
	return id, true
}

func (j *Journalled) settings() (string, error) {
	if j.env.Settings == nil {
		return "", nil
	}
	return j.env.Settings()
}

// drifted suspends the goal: a tool changed what governs orch itself.
func (j *Journalled) drifted(ctx context.Context, call message.CallID) error {
	_, err := j.env.Say(ctx, message.CheckpointReached{
		Name: "settings-changed", Reason: fmt.Sprintf("files of orch's own configuration in .orch, .orch itself, or what git runs, changed during call %s", call),
	})
	if err != nil {
		return err
	}
	return &DriftError{Call: call}
}
