package steptest

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"orch/blackboard/message"
	"orch/roles/act/tool"
	"orch/roles/act/tool/gate"
	"orch/roles/think"
)

// Perceiver answers with what it is told to, and remembers what it was asked.
type Perceiver struct {
	Say   func(think.PerceiveInput) (think.Perception, error) // nil repeats the words
	Asked []think.PerceiveInput
}

// Perceive implements think.Perceiver.
func (p *Perceiver) Perceive(_ context.Context, in think.PerceiveInput) (think.Perception, error) {
	p.Asked = append(p.Asked, in)
	if p.Say == nil {
		return think.Perception{Intent: in.Input.Text}, nil
	}
	return p.Say(in)
}

// Planner proposes what it is told to, and remembers what it was asked.
type Planner struct {
	Pairs   []message.Pair
	Propose func(think.PlanInput) (think.Proposal, error)
	Wake    func(think.WakeInput) (think.WakeAnswer, error) // nil fails
	Asked   []think.PlanInput
	Woken   []think.WakeInput
}

// Answer implements think.Waker.
func (p *Planner) Answer(_ context.Context, in think.WakeInput) (think.WakeAnswer, error) {
	p.Woken = append(p.Woken, in)
	if p.Wake == nil {
		return think.WakeAnswer{}, errors.New("nobody said what to answer")
	}
	return p.Wake(in)
}

// Candidates implements think.Planner.
func (p *Planner) Candidates(context.Context, think.PlanInput) ([]message.Pair, error) {
	return p.Pairs, nil
}

// Plan implements think.Planner.
func (p *Planner) Plan(_ context.Context, in think.PlanInput) (think.Proposal, error) {
	p.Asked = append(p.Asked, in)
	return p.Propose(in)
}

// Executor does what it is told to, and remembers what it was asked.
type Executor struct {
	Act   func(context.Context, think.ExecuteInput, think.Tools) (think.Execution, error) // nil completes
	Asked []think.ExecuteInput
}

// Execute implements think.Executor.
func (x *Executor) Execute(ctx context.Context, in think.ExecuteInput, tools think.Tools) (think.Execution, error) {
	x.Asked = append(x.Asked, in)
	if x.Act == nil {
		return think.Execution{Status: message.Completed, Output: "done by " + in.Task.Approach}, leave(in)
	}
	return x.Act(ctx, in, tools)
}

// Judge judges as it is told to, and remembers what it was asked.
type Judge struct {
	Say   func(think.JudgeInput) (think.Judgement, error) // nil passes with a quote of the first record
	Asked []think.JudgeInput
}

// Judge implements think.Judge.
func (j *Judge) Judge(_ context.Context, in think.JudgeInput) (think.Judgement, error) {
	j.Asked = append(j.Asked, in)
	if j.Say == nil {
		return Pass(in, "it is there"), nil
	}
	return j.Say(in)
}

// Pass is a pass that quotes the first line of the first record, if there is one.
func Pass(in think.JudgeInput, evidence string) think.Judgement {
	j := think.Judgement{Pass: true, Evidence: evidence}
	if len(in.Records) > 0 {
		j.Record = in.Records[0].Name
		j.Quote, _, _ = strings.Cut(in.Records[0].Text, "\n")
	}
	return j
}

// Box runs shell commands by looking them up. A command it does not know
// succeeds without output. Commands that begin with "read" are idempotent.
type Box struct {
	mu      sync.Mutex
	Results map[string]tool.Result
	During  func(command string) // called while a command runs
	Ran     []string
	Permits bool     // every permission is given
	Rules   []string // ids of the rules that are given
}

// Command is the shell command of a call.
func Command(c tool.Call) string {
	var in tool.ShellInput
	if err := json.Unmarshal(c.Input, &in); err != nil {
		return string(c.Input)
	}
	return in.Command
}

// Do implements step.Box.
func (b *Box) Do(_ context.Context, c tool.Call) tool.Result {
	command := Command(c)
	b.mu.Lock()
	b.Ran = append(b.Ran, command)
	b.mu.Unlock()
	if b.During != nil {
		b.During(command)
	}
	r := b.Results[command]
	if r.Head == "" && r.Tail == "" {
		r.Head, r.Tail = string(r.Output), string(r.Output)
	}
	return r
}

// Idempotent implements step.Box.
func (b *Box) Idempotent(c tool.Call) bool { return strings.HasPrefix(Command(c), "read") }

// May implements step.Box: everything passes but what begins with rm.
func (b *Box) May(c tool.Call) bool { return !strings.HasPrefix(Command(c), "rm ") }

// Target implements step.Box.
func (b *Box) Target(c tool.Call) (approach, target string) {
	program, _, _ := strings.Cut(Command(c), " ")
	return "shell:" + program, Command(c)
}

// Writes implements step.Box: a command that begins with write changes the paths
// that follow.
func (b *Box) Writes(c tool.Call) []string {
	words := strings.Fields(Command(c))
	if len(words) == 0 || words[0] != "write" {
		return nil
	}
	return words[1:]
}

// Permit implements step.Box.
func (b *Box) Permit(action gate.Action, target, why string) *tool.Denial {
	needs := gate.ExactRule(action, target)
	if b.Permits || slices.Contains(b.Rules, needs.ID) {
		return nil
	}
	return &tool.Denial{Kind: tool.DeniedGate, Reason: why, Hint: "orch allow " + needs.ID, Needs: needs}
}

// Answer is an Act that leaves a file in the workspace, as an agent program
// would, and says the same each time.
func Answer(done think.Execution) func(context.Context, think.ExecuteInput, think.Tools) (think.Execution, error) {
	return func(_ context.Context, in think.ExecuteInput, _ think.Tools) (think.Execution, error) {
		return done, leave(in)
	}
}

// Talk is an Act that does nothing and says the same each time.
func Talk(done think.Execution) func(context.Context, think.ExecuteInput, think.Tools) (think.Execution, error) {
	return func(context.Context, think.ExecuteInput, think.Tools) (think.Execution, error) {
		return done, nil
	}
}

// leave writes the file that shows the work on a task.
func leave(in think.ExecuteInput) error {
	return os.WriteFile(filepath.Join(in.Workspace, string(in.Task.ID)+".md"), []byte("what was made of "+string(in.Task.ID)+"\n"), 0o644)
}

// Call is an Act that runs shell commands one after the other, and completes
// if none of them failed.
func Call(commands ...string) func(context.Context, think.ExecuteInput, think.Tools) (think.Execution, error) {
	return func(ctx context.Context, _ think.ExecuteInput, tools think.Tools) (think.Execution, error) {
		for _, command := range commands {
			r, err := tools.Do(ctx, string(tool.Shell), Shell(command))
			if err != nil {
				return think.Execution{}, err
			}
			if r.Exit != 0 || r.Denied != "" {
				return think.Execution{Status: message.Failed, Reason: command + " failed"}, nil
			}
		}
		return think.Execution{Status: message.Completed, Output: "done"}, nil
	}
}
