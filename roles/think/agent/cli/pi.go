package cli

import "encoding/json"

// pi reads `pi --mode json`. It exits with 0 whatever happens: the stopReason
// of the last turn decides, once the agent has settled.
type pi struct {
	*Seen
	last string // stopReason
	why  string
}

func newPi(s *Seen) Parser { return &pi{Seen: s} }

type piEvent struct {
	Type    string          `json:"type"`
	ID      string          `json:"id"`
	CallID  string          `json:"toolCallId"`
	Tool    string          `json:"toolName"`
	Args    json.RawMessage `json:"args"`
	Result  json.RawMessage `json:"result"`
	IsError bool            `json:"isError"`
	Message *struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
		Model   string          `json:"model"`
		Stop    string          `json:"stopReason"`
		Error   string          `json:"errorMessage"`
		Usage   struct {
			Input  int64 `json:"input"`
			Output int64 `json:"output"`
			Read   int64 `json:"cacheRead"`
			Write  int64 `json:"cacheWrite"`
			Cost   struct {
				Total float64 `json:"total"`
			} `json:"cost"`
		} `json:"usage"`
	} `json:"message"`
}

func (p *pi) Line(line []byte) {
	var e piEvent
	if !p.jsonLine(line, &e) {
		return
	}
	switch e.Type {
	case "session":
		p.Begin(e.ID, "", "")
	case "tool_execution_start":
		p.Call(ToolUse{ID: e.CallID, Name: e.Tool, Input: e.Args})
	case "tool_execution_end":
		p.Return(e.CallID, e.Tool, textOf(e.Result), e.IsError)
	case "turn_end":
		p.turn(e)
	case "agent_settled":
		p.settled()
	case "agent_start", "turn_start", "message_start", "message_update", "message_end", "tool_execution_update",
		"agent_end", "auto_retry_start", "auto_retry_end":
	default:
		p.Unknown++
	}
}

func (p *pi) turn(e piEvent) {
	if e.Message == nil || e.Message.Role != "assistant" {
		return
	}
	m := e.Message
	p.last, p.why = m.Stop, m.Error
	p.Usage.Model = first(m.Model, p.Usage.Model)
	p.Usage.InputTokens += m.Usage.Input + m.Usage.Read + m.Usage.Write
	p.Usage.CachedTokens += m.Usage.Read
	p.Usage.OutputTokens += m.Usage.Output
	p.Usage.ModelCalls++
	sum := m.Usage.Cost.Total
	if p.Cost != nil {
		sum += *p.Cost
	}
	if sum > 0 {
		p.Cost = &sum
	}
	var parts []claudePart
	if json.Unmarshal(m.Content, &parts) != nil {
		return
	}
	for _, part := range parts {
		if part.Type == "text" {
			p.Say(part.Text)
		}
	}
}

func (p *pi) settled() {
	switch p.last {
	case "stop", "endTurn", "end_turn":
		p.Finish("")
	default:
		p.Finish(first(p.why, "its last turn ended with "+first(p.last, "nothing")))
	}
}
