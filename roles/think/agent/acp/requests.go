package acp

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	protocol "github.com/coder/acp-go-sdk"

	"orch/roles/think/agent/cli"
)

// handle answers a request of the agent.
func (r *run) handle(ctx context.Context, method string, params json.RawMessage) (any, *protocol.RequestError) {
	switch method {
	case "session/request_permission":
		return r.permission(params)
	case "fs/read_text_file", "fs/write_text_file", "terminal/create", "terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release":
		if r.task.Tools != nil {
			return r.serve(ctx, method, params)
		}
	}
	return nil, protocol.NewMethodNotFound(method)
}

type permissionRequest struct {
	Call struct {
		ID        string          `json:"toolCallId"`
		Title     string          `json:"title"`
		Kind      string          `json:"kind"`
		Input     json.RawMessage `json:"rawInput"`
		Locations []struct {
			Path string `json:"path"`
		} `json:"locations"`
		Content []struct {
			Path string `json:"path"`
		} `json:"content"`
	} `json:"toolCall"`
	Options []struct {
		ID   string `json:"optionId"`
		Kind string `json:"kind"`
	} `json:"options"`
}

// permission answers by the task's contract: leave is given once, never for good.
func (r *run) permission(params json.RawMessage) (any, *protocol.RequestError) {
	var q permissionRequest
	if err := json.Unmarshal(params, &q); err != nil {
		return nil, protocol.NewInvalidParams(map[string]any{"error": err.Error()})
	}
	asked := cli.Permission{Tool: named(q.Call.Kind, q.Call.Title), Title: q.Call.Title, Kind: q.Call.Kind, Input: q.Call.Input}
	for _, l := range q.Call.Locations {
		asked.Paths = append(asked.Paths, l.Path)
	}
	for _, c := range q.Call.Content {
		if c.Path != "" {
			asked.Paths = append(asked.Paths, c.Path)
		}
	}
	want := []string{"reject_once", "reject_always"}
	if r.permits(asked) {
		want = []string{"allow_once", "allow_always"}
	} else {
		r.mu.Lock()
		r.seen.Deny(cli.Denial{Tool: asked.Tool, Input: asked.Input, Reason: asked.Title})
		r.mu.Unlock()
	}
	for _, kind := range want {
		for _, o := range q.Options {
			if o.Kind == kind {
				return map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": o.ID}}, nil
			}
		}
	}
	return map[string]any{"outcome": map[string]any{"outcome": "cancelled"}}, nil
}

// permits is the contract. Without a word of the task it is what the access
// says; to delete needs more than a workspace.
func (r *run) permits(p cli.Permission) bool {
	if r.access() == cli.Full {
		return true
	}
	look := slices.Contains([]string{"read", "search", "think", "fetch", "switch_mode"}, p.Kind)
	if r.access() == cli.Read {
		return look && p.Kind != "switch_mode"
	}
	if r.task.Permit != nil {
		return r.task.Permit(p)
	}
	if look {
		return true
	}
	switch p.Kind {
	case "edit", "move", "execute", "other", "":
		return !slices.ContainsFunc(p.Paths, func(path string) bool { return !r.inside(path) })
	}
	return false
}

func (r *run) inside(path string) bool {
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.task.Dir, path)
	}
	for _, dir := range append([]string{r.task.Dir, r.scratch}, r.task.Writable...) {
		rel, err := filepath.Rel(dir, path)
		if err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return true
		}
	}
	return false
}
