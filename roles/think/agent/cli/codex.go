package cli

import "encoding/json"

// codex reads `codex exec --json`: thread, turn and item events. The answer is
// the last agent_message; turn.completed or turn.failed ends it.
type codex struct{ *Seen }

func newCodex(s *Seen) Parser { return codex{s} }

type codexEvent struct {
	Type   string          `json:"type"`
	Thread string          `json:"thread_id"`
	Text   string          `json:"message"`
	Error  json.RawMessage `json:"error"`
	Usage  struct {
		Input  int64 `json:"input_tokens"`
		Cached int64 `json:"cached_input_tokens"`
		Output int64 `json:"output_tokens"`
	} `json:"usage"`
	Item *codexItem `json:"item"`
}

type codexItem struct {
	ID      string          `json:"id"`
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	Command string          `json:"command"`
	Output  string          `json:"aggregated_output"`
	Exit    *int            `json:"exit_code"`
	Status  string          `json:"status"`
	Server  string          `json:"server"`
	Tool    string          `json:"tool"`
	Args    json.RawMessage `json:"arguments"`
	Query   string          `json:"query"`
	Changes json.RawMessage `json:"changes"`
}

func (c codex) Line(line []byte) {
	var e codexEvent
	if !c.jsonLine(line, &e) {
		return
	}
	switch e.Type {
	case "thread.started":
		c.Begin(e.Thread, "", "")
	case "item.started", "item.updated", "item.completed":
		if e.Item != nil {
			c.item(*e.Item, e.Type == "item.completed")
		}
	case "turn.completed":
		c.Usage.InputTokens, c.Usage.CachedTokens, c.Usage.OutputTokens = e.Usage.Input, e.Usage.Cached, e.Usage.Output
		c.Usage.ModelCalls = max(c.Usage.ModelCalls, 1)
		c.Finish("")
	case "turn.failed":
		c.Finish(first(textOf(e.Error), c.Failed, "it says that it failed"))
	case "error":
		c.Fail(e.Text, 0) // may be a retry that succeeds; the turn's end decides
	case "turn.started":
	default:
		c.Unknown++
	}
}

func (c codex) item(i codexItem, ended bool) {
	use := ToolUse{ID: i.ID, Name: i.Type}
	switch i.Type {
	case "agent_message":
		if ended {
			c.Say(i.Text)
		}
		return
	case "reasoning":
		c.Think(i.Text)
		return
	case "command_execution":
		use.Input = mustJSON(map[string]any{"command": i.Command})
	case "mcp_tool_call":
		use.Name, use.Input = i.Server+"."+i.Tool, i.Args
	case "web_search":
		use.Input = mustJSON(map[string]any{"query": i.Query})
	case "file_change":
		use.Input = i.Changes
	case "error", "todo_list":
		return
	default:
		c.Unknown++
		return
	}
	c.Call(use)
	if !ended {
		return
	}
	failed := i.Status == "failed" || i.Exit != nil && *i.Exit != 0
	c.Return(i.ID, use.Name, i.Output, failed)
	if i.Status == "declined" {
		c.Deny(Denial{Tool: use.Name, Input: use.Input})
	}
}
