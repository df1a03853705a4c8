package playbook

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// actionVersion is the version of the JSON of an Action.
const actionVersion = 1

// Action is what a task's approach runs, with every value put in: all an
// executor needs. It travels in SubTask.Action; its shape is documented in
// docs/playbooks.md.
type Action struct {
	Version  int             `json:"version"`
	Playbook string          `json:"playbook"` // name@hash
	Slot     string          `json:"slot"`
	Approach string          `json:"approach"`
	Target   string          `json:"target"`
	When     When            `json:"when"`          // must still hold when it runs
	Dir      string          `json:"dir,omitempty"` // where; empty: the workspace
	WaitMS   int64           `json:"wait_ms,omitempty"`
	Variants []ActionVariant `json:"variants"` // the first runs at attempt 1, the next after a correction
	Output   string          `json:"output"`
	Inputs   string          `json:"inputs,omitempty"` // digest of the files the result rests on

	Params  map[string]string `json:"params"`            // the values the plan was made with
	Seconds int               `json:"seconds,omitempty"` // what it usually takes
}

// ActionVariant is one set of steps.
type ActionVariant struct {
	Name  string       `json:"name"`
	Steps []ActionStep `json:"steps"`
}

// ActionStep is one tool call.
type ActionStep struct {
	Name            string          `json:"name"`
	Tool            string          `json:"tool"`
	Input           json.RawMessage `json:"input"`
	Idempotent      bool            `json:"idempotent"`
	ContinueOnError bool            `json:"continue_on_error"`
}

const (
	shellTool  = "shell"
	outputLast = "last"
	outputAll  = "all"
)

// DecodeAction reads the action of a task.
func DecodeAction(data json.RawMessage) (Action, error) {
	var a Action
	if len(data) == 0 {
		return a, errors.New("the task has no action: it was not planned by a playbook")
	}
	if err := json.Unmarshal(data, &a); err != nil {
		return a, fmt.Errorf("read the action of the task: %w", err)
	}
	if a.Version != actionVersion {
		return a, fmt.Errorf("the action has version %d, want %d", a.Version, actionVersion)
	}
	if len(a.Variants) == 0 {
		return a, errors.New("the action has no variant")
	}
	return a, nil
}

// values are the parameters as conditions see them.
func (a Action) values() Values {
	v := make(Values, len(a.Params))
	for name, text := range a.Params {
		v[name] = Value{Text: text}
	}
	return v
}

// renderStep puts the values into one step, whose command runs in a directory if
// one is given.
func renderStep(a Approach, s Step, i int, dir string, v Values) (ActionStep, error) {
	name := s.Name
	if name == "" {
		name = fmt.Sprintf("step %d", i+1)
	}
	tool := s.Tool
	if tool == "" {
		tool = a.Tool
	}
	if tool == "" || s.Run != "" {
		tool = shellTool
	}
	input := map[string]any{}
	if s.Run != "" {
		input["command"] = v.shell(s.Run)
		if dir != "" {
			input["command"] = "cd " + quote(dir) + " || exit 1; " + v.shell(s.Run)
		}
	} else if m, ok := v.render(map[string]any(s.Input)).(map[string]any); ok {
		input = m
	}
	if s.Timeout > 0 && tool == shellTool {
		input["timeout_ms"] = time.Duration(s.Timeout).Milliseconds()
	}
	data, err := json.Marshal(input)
	if err != nil {
		return ActionStep{}, fmt.Errorf("write the input of %s: %w", name, err)
	}
	return ActionStep{Name: name, Tool: tool, Input: data, Idempotent: s.Idempotent, ContinueOnError: s.ContinueOnError}, nil
}
