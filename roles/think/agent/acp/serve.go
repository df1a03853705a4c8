package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	protocol "github.com/coder/acp-go-sdk"
	"mvdan.cc/sh/v3/syntax"

	"orch/blackboard/crash"
	"orch/roles/think"
)

// terminals are the agent's commands, each run by our shell tool.
type terminals struct {
	mu   sync.Mutex // over the map
	one  sync.Mutex // tools run one call at a time
	next int
	all  map[string]*terminal
	wait sync.WaitGroup
}

type terminal struct {
	done chan struct{}
	res  think.ToolResult
	err  error
}

// close waits for what still runs: a call cut off in its middle would leave
// its end unknown, and each call has its own limits.
func (t *terminals) close() { t.wait.Wait() }

// serve does what the agent asks of its client, through the task's tools.
func (r *run) serve(ctx context.Context, method string, params json.RawMessage) (any, *protocol.RequestError) {
	var p struct {
		Path     string                         `json:"path"`
		Line     int                            `json:"line"`
		Limit    int                            `json:"limit"`
		Content  string                         `json:"content"`
		Command  string                         `json:"command"`
		Args     []string                       `json:"args"`
		Cwd      string                         `json:"cwd"`
		Env      []struct{ Name, Value string } `json:"env"`
		Terminal string                         `json:"terminalId"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, protocol.NewInvalidParams(map[string]any{"error": err.Error()})
	}
	switch method {
	case "fs/read_text_file":
		res, err := r.tool1(ctx, "read_file", map[string]any{"path": p.Path, "offset": p.Line, "limit": p.Limit})
		if err != nil {
			return nil, err
		}
		return map[string]any{"content": res.Output}, nil
	case "fs/write_text_file":
		_, err := r.tool1(ctx, "write_file", map[string]any{"path": p.Path, "content": p.Content})
		return map[string]any{}, err
	case "terminal/create":
		line, err := commandLine(p.Command, p.Args)
		if err != nil || len(p.Env) > 0 {
			return nil, protocol.NewInvalidParams(map[string]any{"error": "the command can not be written as a shell line, or brings an environment"})
		}
		return map[string]any{"terminalId": r.start(line, p.Cwd)}, nil
	}
	return r.terminal(ctx, method, p.Terminal)
}

// tool1 runs one call and makes a failure of it an error.
func (r *run) tool1(ctx context.Context, name string, input map[string]any) (think.ToolResult, *protocol.RequestError) {
	raw, err := json.Marshal(input)
	if err != nil {
		return think.ToolResult{}, protocol.NewInvalidParams(map[string]any{"error": err.Error()})
	}
	r.terminals.one.Lock()
	defer r.terminals.one.Unlock()
	res, err := think.Once(ctx, r.task.Tools, name, raw)
	switch {
	case err != nil:
		return res, protocol.NewInternalError(map[string]any{"error": err.Error()})
	case res.Denied != "":
		return res, protocol.NewInternalError(map[string]any{"error": res.Denied})
	case res.Exit != 0:
		return res, protocol.NewInternalError(map[string]any{"error": res.Output})
	}
	return res, nil
}

// commandLine quotes an argv for the shell tool. A command alone may be a
// whole line already.
func commandLine(command string, args []string) (string, error) {
	if len(args) == 0 {
		return command, nil
	}
	words := []string{}
	for _, w := range append([]string{command}, args...) {
		q, err := syntax.Quote(w, syntax.LangBash)
		if err != nil {
			return "", fmt.Errorf("quote %q: %w", w, err)
		}
		words = append(words, q)
	}
	return strings.Join(words, " "), nil
}

func (r *run) start(line, dir string) string {
	t := &r.terminals
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all == nil {
		t.all = map[string]*terminal{}
	}
	t.next++
	id := fmt.Sprintf("term-%d", t.next)
	one := &terminal{done: make(chan struct{})}
	t.all[id] = one
	input := map[string]any{"command": line}
	if dir != "" {
		input["dir"] = dir
	}
	raw, err := json.Marshal(input)
	t.wait.Add(1)
	crash.Go(func() {
		defer t.wait.Done()
		defer close(one.done)
		t.one.Lock()
		defer t.one.Unlock()
		if err == nil {
			one.res, err = think.Once(r.ctx, r.task.Tools, "shell", raw)
		}
		one.err = err
	})
	return id
}

func (r *run) terminal(ctx context.Context, method, id string) (any, *protocol.RequestError) {
	r.terminals.mu.Lock()
	one := r.terminals.all[id]
	r.terminals.mu.Unlock()
	if one == nil {
		return nil, protocol.NewInvalidParams(map[string]any{"error": "there is no terminal " + id})
	}
	switch method {
	case "terminal/release":
		return map[string]any{}, nil
	case "terminal/kill":
		return nil, protocol.NewInternalError(map[string]any{"error": "a command here ends by itself or at its time limit"})
	case "terminal/wait_for_exit":
		select {
		case <-one.done:
		case <-ctx.Done():
			return nil, protocol.NewRequestCancelled(nil)
		}
		return one.exit(), nil
	}
	select {
	case <-one.done:
		text := one.res.Output
		if one.err != nil {
			text += one.err.Error()
		}
		return map[string]any{"output": text, "truncated": false, "exitStatus": one.exit()}, nil
	default:
		return map[string]any{"output": "", "truncated": false}, nil
	}
}

func (t *terminal) exit() map[string]any {
	if t.err != nil {
		return map[string]any{"exitCode": 1}
	}
	return map[string]any{"exitCode": max(t.res.Exit, 0) + map[bool]int{true: 1}[t.res.Exit < 0]}
}
