package cli

import (
	"encoding/json"
	"fmt"
)

// copilot reads `copilot --output-format json`: the answer is the last
// assistant.message, result ends it. Ended by a signal it reports an exit code
// of 0, so an abort before the result is a failure.
type copilot struct {
	*Seen
	aborted string
	began   bool
}

func newCopilot(s *Seen) Parser { return &copilot{Seen: s} }

type copilotEvent struct {
	Type    string `json:"type"`
	Session string `json:"sessionId"`
	Exit    int    `json:"exitCode"`
	Data    struct {
		Content string          `json:"content"`
		Model   string          `json:"model"`
		Reason  string          `json:"reason"`
		Message string          `json:"message"`
		Status  int             `json:"statusCode"`
		CallID  string          `json:"toolCallId"`
		Tool    string          `json:"toolName"`
		Args    json.RawMessage `json:"arguments"`
		Success *bool           `json:"success"`
		Error   json.RawMessage `json:"error"`
		Result  struct {
			Content string `json:"content"`
			Kind    string `json:"kind"`
		} `json:"result"`
		Text string `json:"errorMessage"`
	} `json:"data"`
}

func (c *copilot) Line(line []byte) {
	var e copilotEvent
	if !c.jsonLine(line, &e) {
		return
	}
	switch e.Type {
	case "assistant.turn_start":
		if !c.began {
			c.began = true
			c.Begin("", e.Data.Model, "")
		}
	case "assistant.message":
		c.Usage.Model = first(e.Data.Model, c.Usage.Model)
		c.Usage.ModelCalls++
		c.Say(e.Data.Content)
	case "tool.execution_start":
		c.Call(ToolUse{ID: e.Data.CallID, Name: e.Data.Tool, Input: e.Data.Args})
	case "tool.execution_complete":
		failed := e.Data.Success != nil && !*e.Data.Success
		c.Return(e.Data.CallID, e.Data.Tool, first(e.Data.Result.Content, textOf(e.Data.Error)), failed)
	case "permission.completed":
		if k := e.Data.Result.Kind; len(k) > 6 && k[:6] == "denied" {
			c.Deny(Denial{Tool: e.Data.CallID, Reason: k})
		}
	case "model.call_failure":
		c.Status = e.Data.Status
	case "session.error":
		c.Fail(first(e.Data.Message, "it says that it failed"), e.Data.Status)
	case "abort":
		c.aborted = first(e.Data.Reason, "aborted")
	case "result":
		c.result(e)
	}
}

func (c *copilot) result(e copilotEvent) {
	c.Session = first(e.Session, c.Session)
	switch {
	case c.aborted != "":
		c.Finish("it was aborted: " + c.aborted)
	case e.Exit != 0:
		c.Finish(first(c.Failed, fmt.Sprintf("its result says exit code %d", e.Exit)))
	default:
		c.Failed = ""
		c.Finish("")
	}
}

// copilotUsage reads the file of --usage-output-file.
func copilotUsage(raw []byte, s *Seen) {
	var f struct {
		Models []struct {
			ID      string `json:"modelId"`
			Metrics struct {
				Requests struct {
					Count int `json:"count"`
				} `json:"requests"`
				Usage struct {
					Input  int64 `json:"inputTokens"`
					Output int64 `json:"outputTokens"`
					Read   int64 `json:"cacheReadTokens"`
				} `json:"usage"`
			} `json:"metrics"`
		} `json:"providerModelMetrics"`
	}
	if json.Unmarshal(raw, &f) != nil {
		return
	}
	var calls int
	s.Usage.InputTokens, s.Usage.OutputTokens, s.Usage.CachedTokens = 0, 0, 0
	for _, m := range f.Models {
		calls += m.Metrics.Requests.Count
		s.Usage.InputTokens += m.Metrics.Usage.Input
		s.Usage.OutputTokens += m.Metrics.Usage.Output
		s.Usage.CachedTokens += m.Metrics.Usage.Read
		s.Usage.Model = first(s.Usage.Model, m.ID)
	}
	s.Usage.ModelCalls = max(s.Usage.ModelCalls, calls)
}
