package cli

import (
	"encoding/json"
	"strings"
)

// claude reads the stream of Claude Code, and of Qwen Code, which speaks the
// same: system, assistant, user and result events. "success" as a subtype says
// nothing; is_error does.
type claude struct {
	*Seen
	whole bool // input_tokens holds what came from the cache as well
	turn  *turn
}

// turn is the message whose events come now: each repeats what it took so far.
type turn struct {
	id   string
	took claudeUsage
}

func newClaude(s *Seen) Parser { return claude{Seen: s, turn: &turn{}} }
func newQwen(s *Seen) Parser   { return claude{Seen: s, whole: true, turn: &turn{}} }

type claudeEvent struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	Session string `json:"session_id"`

	Model       string `json:"model"`
	Version     string `json:"claude_code_version"`
	QwenVersion string `json:"qwen_code_version"`

	Message *struct {
		ID      string          `json:"id"`
		Content json.RawMessage `json:"content"`
		Usage   claudeUsage     `json:"usage"`
	} `json:"message"`

	IsError     bool            `json:"is_error"`
	Result      string          `json:"result"`
	Structured  json.RawMessage `json:"structured_output"`
	Error       json.RawMessage `json:"error"`
	Errors      []string        `json:"errors"`
	Status      int             `json:"api_error_status"`
	RetryStatus int             `json:"error_status"`
	Cost        *float64        `json:"total_cost_usd"`
	Turns       int             `json:"num_turns"`
	Usage       claudeUsage     `json:"usage"`
	Denials     []struct {
		Tool  string          `json:"tool_name"`
		Input json.RawMessage `json:"tool_input"`
	} `json:"permission_denials"`
	Limit struct {
		Status   string `json:"status"`
		ResetsAt int64  `json:"resetsAt"`
	} `json:"rate_limit_info"`
}

type claudeUsage struct {
	Input   int64 `json:"input_tokens"`
	Output  int64 `json:"output_tokens"`
	Read    int64 `json:"cache_read_input_tokens"`
	Created int64 `json:"cache_creation_input_tokens"`
}

// input counts all input.
func (c claude) input(u claudeUsage) int64 {
	if c.whole {
		return u.Input
	}
	return u.Input + u.Read + u.Created
}

// count adds what a message took to what is known before the result says it all.
func (c claude) count(id string, now claudeUsage) {
	before := c.turn.took
	if id == "" || id != c.turn.id {
		before = claudeUsage{}
	}
	c.turn.id, c.turn.took = id, now
	c.Usage.InputTokens += max(0, c.input(now)-c.input(before))
	c.Usage.OutputTokens += max(0, now.Output-before.Output)
	c.Usage.CachedTokens += max(0, now.Read-before.Read)
}

type claudePart struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	Think   string          `json:"thinking"`
	ID      string          `json:"id"`
	Name    string          `json:"name"`
	Input   json.RawMessage `json:"input"`
	UseID   string          `json:"tool_use_id"`
	Content json.RawMessage `json:"content"`
	IsError bool            `json:"is_error"`
}

func (c claude) Line(line []byte) {
	var e claudeEvent
	if !c.jsonLine(line, &e) {
		return
	}
	switch e.Type {
	case "system":
		c.system(e)
	case "assistant", "user":
		c.message(e)
	case "rate_limit_event":
		if e.Limit.Status == "rejected" {
			c.ResetUnix = e.Limit.ResetsAt
		}
	case "result":
		c.result(e)
	case "stream_event":
	default:
		c.Unknown++
	}
}

func (c claude) system(e claudeEvent) {
	switch e.Subtype {
	case "init":
		c.Begin(e.Session, e.Model, first(e.Version, e.QwenVersion))
	case "api_retry":
		c.Status = e.RetryStatus
	}
}

func (c claude) message(e claudeEvent) {
	if e.Message == nil {
		return
	}
	if e.Type == "assistant" {
		c.count(e.Message.ID, e.Message.Usage)
	}
	var parts []claudePart
	if json.Unmarshal(e.Message.Content, &parts) != nil {
		return // a user's turn may be plain text
	}
	for _, p := range parts {
		switch p.Type {
		case "text":
			if e.Type == "assistant" {
				c.Say(p.Text)
			}
		case "thinking":
			c.Think(p.Think)
		case "tool_use":
			c.Call(ToolUse{ID: p.ID, Name: p.Name, Input: p.Input})
		case "tool_result":
			c.Return(p.UseID, "", textOf(p.Content), p.IsError)
		}
	}
}

func (c claude) result(e claudeEvent) {
	c.Session = first(e.Session, c.Session)
	c.Cost = e.Cost
	c.Usage.InputTokens = c.input(e.Usage)
	c.Usage.CachedTokens, c.Usage.OutputTokens = e.Usage.Read, e.Usage.Output
	c.Usage.ModelCalls = max(e.Turns, 1)
	for _, d := range e.Denials {
		c.Deny(Denial{Tool: d.Tool, Input: d.Input})
	}
	c.Status = e.Status
	if !e.IsError && strings.HasPrefix(first(e.Subtype, "success"), "success") {
		c.Say(e.Result)
		if len(e.Structured) > 0 && string(e.Structured) != "null" {
			c.Say(string(e.Structured))
		}
		c.Finish("")
		return
	}
	c.Finish(first(e.Result, textOf(e.Error), strings.Join(e.Errors, "; "), e.Subtype, "it says that it failed"))
}

// textOf is the text in any of the shapes tools and errors come in: a string,
// an object with a message or a text, or a list of those.
func textOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var o struct {
		Message, Text, Content string
		Error                  json.RawMessage
	}
	if json.Unmarshal(raw, &o) == nil {
		if t := first(o.Message, o.Text, o.Content); t != "" {
			return t
		}
		if len(o.Error) > 0 {
			return textOf(o.Error)
		}
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return ""
	}
	var out []string
	for _, part := range list {
		if t := textOf(part); t != "" {
			out = append(out, t)
		}
	}
	return strings.Join(out, "\n")
}
