package playbook

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"orch/blackboard/message"
	"orch/roles/think"
)

// maxOutputBytes bounds what of the steps' output becomes the task's output.
const maxOutputBytes = 16 << 10

// Execute runs the steps of the task's action, in order, through the tools. A
// step that fails or is refused ends the attempt, unless it may fail. An error
// is returned only when the machinery failed.
func (b *Backend) Execute(ctx context.Context, in think.ExecuteInput, tools think.Tools) (think.Execution, error) {
	a, err := DecodeAction(in.Task.Action)
	if err != nil {
		return think.Execution{}, err
	}
	facts := b.opt.Facts(in.Workspace)
	if a.Dir != "" {
		facts = facts.Sub(a.Dir)
	}
	// What began goes on: what it has done may be why the facts are others now.
	began := len(in.Done) > 0
	if ok, why := a.When.Holds(facts, a.values()); !ok && !began {
		return think.Execution{Status: message.Failed, Class: message.Environmental,
			Infeasible: fmt.Sprintf("%s does not apply any more: %s", a.Approach, why), Reason: why}, nil
	}
	n := max(in.Attempt-in.CutOffs, 1) - 1
	if n >= len(a.Variants) {
		if in.Correction == nil || in.Correction.FailureClass != message.Environmental {
			return exhausted(a, in.Correction), nil
		}
		// The world was in the way, perhaps a permission that has been given
		// since: that says nothing against the last variant.
		n = len(a.Variants) - 1
	}
	if a.WaitMS > 0 && n == 0 && !began {
		if err := b.opt.Sleep(ctx, time.Duration(a.WaitMS)*time.Millisecond); err != nil {
			return think.Execution{}, fmt.Errorf("wait before %s: %w", a.Approach, err)
		}
	}
	return runSteps(ctx, a, a.Variants[n], tools, ended(in.Done))
}

// exhausted is the honest end of an approach that has no other parameters: to
// run the same again would only repeat what was seen.
func exhausted(a Action, c *message.CorrectionSignal) think.Execution {
	evidence := "the attempts before it failed"
	if c != nil {
		evidence = c.WhatWasWrong
	}
	return think.Execution{Status: message.Failed, Class: message.Logical, Reason: evidence, Exhausted: true,
		Infeasible: fmt.Sprintf("%s on %s has no further variant: %s", a.Approach, a.Target, evidence)}
}

// runSteps runs the steps behind those that are done. The order of steps is
// fixed, so the calls on record are the first ones of them.
func runSteps(ctx context.Context, a Action, v ActionVariant, tools think.Tools, done []think.Done) (think.Execution, error) {
	if len(done) > len(v.Steps) {
		return otherSteps(a, "their end", done), nil
	}
	var outputs, ran []string
	picked := ""
	for i, s := range v.Steps {
		if err := ctx.Err(); err != nil {
			return think.Execution{}, err
		}
		res, err := behind(ctx, tools, s, i < len(done))
		if errors.Is(err, errOtherSteps) {
			return otherSteps(a, what(s), done), nil
		}
		if err != nil {
			return think.Execution{}, fmt.Errorf("%s of %s: %w", s.Name, a.Approach, err)
		}
		text := strings.TrimSpace(res.Output)
		if res.Exit != 0 && res.Denied == "" && s.ContinueOnError { // or the output of a task that is done reads as if it had failed
			text = strings.TrimSpace(fmt.Sprintf("%s exited with %d, which it may; what counts was judged after it.\n\n%s", what(s), res.Exit, text))
		}
		outputs, ran = append(outputs, text), append(ran, what(s))
		if s.Name == a.Output || a.Output == "" || a.Output == outputLast {
			picked = text
		}
		if res.Denied != "" || res.Exit != 0 && !s.ContinueOnError {
			return stepFailed(a, s, res, outputs), nil
		}
	}
	if a.Output == outputAll {
		picked = strings.Join(outputs, "\n\n")
	}
	if strings.TrimSpace(picked) == "" {
		picked = "ran " + strings.Join(ran, ", then ") // a silent success says at least what it was
	}
	return think.Execution{Status: message.Completed, Output: tail(picked)}, nil
}

// ended leaves out the calls in doubt. What became of them was for the checks to
// see, and they see work to do.
func ended(done []think.Done) []think.Done {
	return slices.DeleteFunc(slices.Clone(done), func(d think.Done) bool { return d.Doubt })
}

var errOtherSteps = errors.New("the record does not fit the steps")

// behind takes a step that is done from the record and makes any other.
func behind(ctx context.Context, tools think.Tools, s ActionStep, isDone bool) (think.ToolResult, error) {
	if !isDone {
		return call(ctx, tools, s)
	}
	if record, ok := tools.(think.Recorder); ok {
		if done, known := record.Recall(s.Tool, s.Input); known {
			return done.Result(), nil
		}
	}
	return think.ToolResult{}, errOtherSteps
}

// otherSteps ends an attempt that can not tell where to go on.
func otherSteps(a Action, where string, done []think.Done) think.Execution {
	return think.Execution{Status: message.Failed, Class: message.Environmental, Reason: fmt.Sprintf(
		"%s was cut off, and what is on record does not fit its steps at %s, so nothing was made again. Done before: %s", a.Approach, where, cmp.Or(think.Effects(done), "nothing with an effect"))}
}

// call passes on what the playbook's author declares: that a step may be run
// again when its process died in the middle of it.
func call(ctx context.Context, tools think.Tools, s ActionStep) (think.ToolResult, error) {
	if declared, ok := tools.(think.DeclaredTools); ok && s.Idempotent {
		return declared.DoIdempotent(ctx, s.Tool, s.Input)
	}
	return tools.Do(ctx, s.Tool, s.Input)
}

func stepFailed(a Action, s ActionStep, res think.ToolResult, outputs []string) think.Execution {
	e := think.Execution{Status: message.Failed, Output: tail(strings.Join(outputs, "\n\n")), Class: res.Class}
	if res.Denied != "" {
		e.Class = message.Environmental
		e.Reason = fmt.Sprintf("%s: %s was refused: %s", a.Approach, what(s), res.Denied)
		return e
	}
	if e.Class == "" {
		e.Class = message.Logical
	}
	e.Reason = fmt.Sprintf("%s: %s exited with %d: %s", a.Approach, what(s), res.Exit, lastLines(res.Output, 20))
	return e
}

// what names a step for a person: the command, or the tool.
func what(s ActionStep) string {
	var input struct {
		Command string `json:"command"`
	}
	if err := json.Unmarshal(s.Input, &input); err == nil && input.Command != "" {
		return "`" + cut(input.Command, 80) + "`"
	}
	return s.Tool
}

func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return strings.Join(lines, "\n")
}

// tail keeps the end of a long output.
func tail(s string) string {
	if len(s) <= maxOutputBytes {
		return s
	}
	return "…\n" + strings.ToValidUTF8(s[len(s)-maxOutputBytes:], "")
}

var (
	_ think.Perceiver = (*Backend)(nil)
	_ think.Planner   = (*Backend)(nil)
	_ think.Executor  = (*Backend)(nil)
	_ think.Merger    = (*Backend)(nil)
)
