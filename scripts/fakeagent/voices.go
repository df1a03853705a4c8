//go:build unix

package main

// voice is how one CLI words its events.
type voice interface {
	begin() []any
	called(command string) []any
	returned(output string, failed bool) []any
	retry(status int) []any
	failed(text string, status int) []any
	done(text string, denied []string) []any
}

var voices = map[string]voice{"claude": claude{}, "codex": codex{}, "text": text{}, "json": text{asJSON: true}}

type m = map[string]any

type claude struct{}

func (claude) begin() []any {
	return []any{m{"type": "system", "subtype": "init", "session_id": "s-1", "model": "fake-1", "claude_code_version": "1.2.3"}}
}

func (claude) called(command string) []any {
	return []any{m{"type": "assistant", "message": m{"content": []any{m{"type": "text", "text": "I will write it."},
		m{"type": "tool_use", "id": "t1", "name": "Bash", "input": m{"command": command}}}}}}
}

func (claude) returned(output string, failed bool) []any {
	return []any{m{"type": "user", "message": m{"content": []any{m{"type": "tool_result", "tool_use_id": "t1", "content": output, "is_error": failed}}}}}
}

func (claude) retry(status int) []any {
	return []any{m{"type": "system", "subtype": "api_retry", "error_status": status}}
}

func (claude) failed(text string, status int) []any {
	r := m{"type": "result", "subtype": "success", "is_error": true, "result": text, "session_id": "s-1"}
	if status > 0 {
		r["api_error_status"] = status
	}
	return []any{r}
}

func (claude) done(text string, denied []string) []any {
	denials := []any{}
	for _, d := range denied {
		denials = append(denials, m{"tool_name": d, "tool_input": m{"command": "rm -rf /"}})
	}
	return []any{m{"type": "result", "subtype": "success", "is_error": false, "result": text, "session_id": "s-1", "num_turns": 2,
		"total_cost_usd": 0.25, "usage": m{"input_tokens": 20, "cache_read_input_tokens": 5, "output_tokens": 7}, "permission_denials": denials}}
}

type codex struct{}

func (codex) begin() []any {
	return []any{m{"type": "thread.started", "thread_id": "s-1"}, m{"type": "turn.started"}}
}

func (codex) called(command string) []any {
	return []any{m{"type": "item.started", "item": m{"id": "i1", "type": "command_execution", "command": command, "status": "in_progress"}}}
}

func (codex) returned(output string, failed bool) []any {
	exit := 0
	if failed {
		exit = 1
	}
	return []any{m{"type": "item.completed", "item": m{"id": "i1", "type": "command_execution", "aggregated_output": output, "exit_code": exit, "status": "completed"}}}
}

func (codex) retry(int) []any {
	return []any{m{"type": "error", "message": "Reconnecting... 1/5 (exceeded retry limit, last status: 429 Too Many Requests)"}}
}

func (codex) failed(text string, _ int) []any {
	return []any{m{"type": "turn.failed", "error": m{"message": text}}}
}

func (codex) done(text string, denied []string) []any {
	var out []any
	for _, d := range denied {
		out = append(out, m{"type": "item.completed", "item": m{"id": "d", "type": "command_execution", "command": d, "status": "declined"}})
	}
	if text != "" {
		out = append(out, m{"type": "item.completed", "item": m{"id": "i2", "type": "agent_message", "text": text}})
	}
	return append(out, m{"type": "turn.completed", "usage": m{"input_tokens": 25, "cached_input_tokens": 5, "output_tokens": 7}})
}

// text is a command of a person's own, with or without JSON around its answer.
type text struct{ asJSON bool }

func (text) begin() []any                { return nil }
func (text) called(string) []any         { return nil }
func (text) returned(string, bool) []any { return nil }
func (text) retry(int) []any             { return nil }

func (t text) failed(s string, status int) []any {
	if !t.asJSON {
		return []any{"error: " + s}
	}
	kind := map[int]string{429: "limit", 401: "auth", 403: "auth", 529: "overloaded", 500: "server"}[status]
	return []any{m{"error": m{"kind": kind, "detail": s}}}
}

func (t text) done(s string, _ []string) []any {
	switch {
	case s == "":
		return nil
	case t.asJSON:
		return []any{m{"text": s, "usage": m{"input_tokens": 25, "cached_tokens": 5, "output_tokens": 7, "model_calls": 1}, "cost_usd": 0.25, "session": "s-1"}}
	}
	return []any{s}
}
