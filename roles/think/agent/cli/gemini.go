package cli

import (
	"encoding/json"
	"strings"

	"orch/blackboard/lazyregexp"
)

// gemini reads `gemini -o stream-json`: init, message, tool and result events.
// Killed by a signal it exits with 0 and no result.
type gemini struct {
	*Seen
	part bool // Text is being added to
}

func newGemini(s *Seen) Parser { return &gemini{Seen: s} }

type geminiEvent struct {
	Type    string          `json:"type"`
	Session string          `json:"session_id"`
	Model   string          `json:"model"`
	Role    string          `json:"role"`
	Content string          `json:"content"`
	Delta   bool            `json:"delta"`
	Tool    string          `json:"tool_name"`
	ToolID  string          `json:"tool_id"`
	Params  json.RawMessage `json:"parameters"`
	Status  string          `json:"status"`
	Output  string          `json:"output"`
	Message string          `json:"message"`
	Error   json.RawMessage `json:"error"`
	Stats   struct {
		Input  int64 `json:"input_tokens"`
		Output int64 `json:"output_tokens"`
		Cached int64 `json:"cached"`
		Tools  int   `json:"tool_calls"`
	} `json:"stats"`
}

func (g *gemini) Line(line []byte) {
	var e geminiEvent
	if !g.jsonLine(line, &e) {
		return
	}
	switch e.Type {
	case "init":
		g.Begin(e.Session, e.Model, "")
	case "message":
		g.message(e)
	case "tool_use":
		g.part = false
		g.Call(ToolUse{ID: e.ToolID, Name: e.Tool, Input: e.Params})
	case "tool_result":
		g.returned(e)
	case "error":
		g.Fail(first(e.Message, textOf(e.Error)), 0)
	case "result":
		g.Usage.InputTokens, g.Usage.OutputTokens, g.Usage.CachedTokens = e.Stats.Input, e.Stats.Output, e.Stats.Cached
		g.Usage.ModelCalls = e.Stats.Tools + 1
		if e.Status == "success" {
			g.Finish("")
			return
		}
		g.Finish(first(textOf(e.Error), g.Failed, "it says that it failed: "+e.Status))
	default:
		g.Unknown++
	}
}

func (g *gemini) message(e geminiEvent) {
	switch {
	case e.Role != "assistant":
	case !e.Delta:
		g.part = false
		g.Say(e.Content)
	default:
		if !g.part {
			g.Text, g.part = "", true
		}
		g.Add(e.Content)
	}
}

var geminiDenied = lazyregexp.New(`(?i)denied|not permitted|requires? (user )?(approval|confirmation)|blocked by policy|not available in|tool execution.*cancel`)

func (g *gemini) returned(e geminiEvent) {
	failed := e.Status != "success"
	output := strings.TrimSpace(e.Output + "\n" + textOf(e.Error))
	i, known := g.open[e.ToolID]
	var name string
	var input json.RawMessage
	if known {
		name, input = g.Tools[i].Name, g.Tools[i].Input
	}
	g.Return(e.ToolID, e.Tool, output, failed)
	if failed && geminiDenied.MatchString(output) {
		g.Deny(Denial{Tool: first(name, e.Tool), Input: input, Reason: bound(output, 500)})
	}
}
