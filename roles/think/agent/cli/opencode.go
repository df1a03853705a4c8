package cli

import (
	"encoding/json"
	"strings"
)

// opencode reads `opencode run --format json`. There is no terminal event: it
// is done when it exits with 0 after a step that ended with "stop".
type opencode struct {
	*Seen
	stopped bool
}

func newOpencode(s *Seen) Parser { return &opencode{Seen: s} }

type opencodeEvent struct {
	Type    string          `json:"type"`
	Session string          `json:"sessionID"`
	Error   json.RawMessage `json:"error"`
	Part    struct {
		Text   string   `json:"text"`
		Tool   string   `json:"tool"`
		CallID string   `json:"callID"`
		Reason string   `json:"reason"`
		Cost   *float64 `json:"cost"`
		Tokens struct {
			Input  int64 `json:"input"`
			Output int64 `json:"output"`
			Think  int64 `json:"reasoning"`
			Cache  struct{ Read, Write int64 }
		} `json:"tokens"`
		State struct {
			Status string          `json:"status"`
			Input  json.RawMessage `json:"input"`
			Output string          `json:"output"`
			Error  string          `json:"error"`
			Meta   struct {
				Exit *int `json:"exit"`
			} `json:"metadata"`
		} `json:"state"`
	} `json:"part"`
}

func (o *opencode) Line(line []byte) {
	var e opencodeEvent
	if !o.jsonLine(line, &e) {
		return
	}
	if e.Session != "" && o.Session == "" {
		o.Begin(e.Session, "", "")
	}
	switch e.Type {
	case "step_start":
		o.stopped = false
	case "text":
		o.Say(e.Part.Text)
	case "reasoning":
		o.Think(e.Part.Text)
	case "tool_use":
		o.tool(e)
	case "step_finish":
		o.step(e)
	case "error":
		o.fail(e.Error)
	default:
		o.Unknown++
	}
}

func (o *opencode) tool(e opencodeEvent) {
	st := e.Part.State
	o.Call(ToolUse{ID: e.Part.CallID, Name: e.Part.Tool, Input: st.Input})
	if st.Status != "completed" && st.Status != "error" {
		return
	}
	failed := st.Status == "error" || st.Meta.Exit != nil && *st.Meta.Exit != 0
	o.Return(e.Part.CallID, e.Part.Tool, first(st.Output, st.Error), failed)
	if strings.Contains(st.Error, "rejected permission") || strings.Contains(st.Error, "prevents you from using") {
		o.Deny(Denial{Tool: e.Part.Tool, Input: st.Input, Reason: bound(st.Error, 500)})
	}
}

func (o *opencode) step(e opencodeEvent) {
	t := e.Part.Tokens
	o.Usage.InputTokens += t.Input + t.Cache.Read + t.Cache.Write
	o.Usage.CachedTokens += t.Cache.Read
	o.Usage.OutputTokens += t.Output + t.Think
	o.Usage.ModelCalls++
	if e.Part.Cost != nil && *e.Part.Cost > 0 { // 0 where no price is configured
		sum := *e.Part.Cost
		if o.Cost != nil {
			sum += *o.Cost
		}
		o.Cost = &sum
	}
	o.stopped = e.Part.Reason == "stop"
}

func (o *opencode) fail(raw json.RawMessage) {
	var err struct {
		Name string `json:"name"`
		Data struct {
			Message string `json:"message"`
			Status  int    `json:"statusCode"`
		} `json:"data"`
	}
	_ = json.Unmarshal(raw, &err) // another shape is read below
	o.Fail(first(strings.TrimSpace(err.Name+" "+err.Data.Message), textOf(raw), "it says that it failed"), err.Data.Status)
}

func (o *opencode) Exit(code int) {
	if o.Failed != "" {
		o.Finish(o.Failed)
	} else if code == 0 && o.stopped {
		o.Finish("")
	}
}
