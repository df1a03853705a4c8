package acp

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"

	"orch/blackboard/lazyregexp"
	"orch/roles/think/agent/cli"
	"orch/roles/think/model"
)

// line takes one line of the agent's output. Updates are read here, in their
// order and at the agent's pace; the protocol library, which gives up on an
// agent that sends many faster than they are handled, gets requests and answers.
func (r *run) line(line []byte, conn io.Writer) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	if len(bytes.TrimSpace(line)) == 0 {
		return
	}
	hasID := false
	if json.Unmarshal(line, &m) == nil {
		hasID = len(m.ID) > 0 && string(m.ID) != "null"
	}
	switch {
	case m.Method == "session/update":
		r.mu.Lock()
		r.update(m.Params)
		r.mu.Unlock()
	case hasID:
		_, _ = conn.Write(append(bytes.Clone(line), '\n')) // a closed connection is the end of the talk, which says so
	default: // another notification, or no message at all
		r.mu.Lock()
		r.seen.Unknown++
		r.mu.Unlock()
	}
}

// update is one session/update, read without insisting on anything: fields and
// kinds come and go between versions of agents.
type update struct {
	Update struct {
		Kind    string          `json:"sessionUpdate"`
		Content json.RawMessage `json:"content"`
		ID      string          `json:"toolCallId"`
		Title   string          `json:"title"`
		Tool    string          `json:"kind"`
		Status  string          `json:"status"`
		Input   json.RawMessage `json:"rawInput"`
		Output  json.RawMessage `json:"rawOutput"`
		Cost    *struct {
			Amount   float64 `json:"amount"`
			Currency string  `json:"currency"`
		} `json:"cost"`
		Meta struct {
			Usage *usage `json:"usage"`
		} `json:"_meta"`
	} `json:"update"`
}

func (r *run) update(params json.RawMessage) {
	var p update
	if json.Unmarshal(params, &p) != nil {
		r.seen.Unknown++
		return
	}
	u := p.Update
	switch u.Kind {
	case "agent_message_chunk":
		if u.Meta.Usage != nil {
			u.Meta.Usage.add(r.seen)
			model.WatchOf(r.ctx)(r.seen.Usage, r.seen.Cost)
		}
		if t := textIn(u.Content); t != "" {
			if !r.part {
				r.seen.Text, r.part = "", true
			}
			r.seen.Add(t)
		}
	case "agent_thought_chunk":
		r.seen.Think(textIn(u.Content))
	case "tool_call", "tool_call_update":
		r.tool(p)
	case "usage_update":
		if u.Cost != nil && (u.Cost.Currency == "USD" || u.Cost.Currency == "") {
			cost := u.Cost.Amount
			r.seen.Cost = &cost
		}
	case "plan", "available_commands_update", "current_mode_update", "user_message_chunk", "config_option_update", "session_info_update":
	default:
		r.seen.Unknown++
	}
}

// tool follows a tool call. An agent may update a call it never announced.
func (r *run) tool(p update) {
	u := p.Update
	r.part = false
	input := u.Input
	if len(input) == 0 && u.Title != "" {
		input, _ = json.Marshal(map[string]string{"title": u.Title}) // a string always encodes
	}
	r.seen.Call(cli.ToolUse{ID: u.ID, Name: named(u.Tool, u.Title), Input: input})
	switch u.Status {
	case "completed", "failed":
		out := textIn(u.Content)
		if out == "" {
			out = textIn(u.Output)
		}
		r.seen.Return(u.ID, u.Tool, out, u.Status == "failed")
	}
}

func named(kind, title string) string {
	if kind != "" {
		return kind
	}
	word, _, _ := strings.Cut(title, " ")
	return word
}

// textIn is the text of a content block, of a list of them, or of a raw output.
func textIn(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var block struct {
		Text    string          `json:"text"`
		Output  string          `json:"output"`
		Content json.RawMessage `json:"content"`
	}
	if json.Unmarshal(raw, &block) == nil {
		switch {
		case block.Text != "":
			return block.Text
		case len(block.Content) > 0:
			return textIn(block.Content)
		}
		return block.Output
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return ""
	}
	var out []string
	for _, item := range list {
		if t := textIn(item); t != "" {
			out = append(out, t)
		}
	}
	return strings.Join(out, "\n")
}

// usage is in one of the shapes agents use.
type usage struct {
	Input  int64 `json:"inputTokens"`
	Output int64 `json:"outputTokens"`
	Read   int64 `json:"cachedReadTokens"`
	Write  int64 `json:"cachedWriteTokens"`
	Total  int64 `json:"totalTokens"`
}

// add counts a usage. Some count cached tokens as input, some beside it: the
// total tells.
func (u usage) add(s *cli.Seen) {
	in := u.Input
	if u.Total >= u.Input+u.Output+u.Read+u.Write {
		in += u.Read + u.Write
	}
	s.Usage.InputTokens += in
	s.Usage.OutputTokens += u.Output
	s.Usage.CachedTokens += u.Read
	s.Usage.ModelCalls++
}

// promptAnswer ends a prompt.
type promptAnswer struct {
	Stop  string `json:"stopReason"`
	Usage *usage `json:"usage"`
	Meta  struct {
		Quota *struct {
			Tokens struct {
				Input  int64 `json:"input_tokens"`
				Output int64 `json:"output_tokens"`
			} `json:"token_count"`
		} `json:"quota"`
	} `json:"_meta"`
}

// apiError begins the answer of agents that report an error of their provider
// as if the model had said it, and end the turn well.
var apiError = lazyregexp.New(`^\s*\[?(API Error|unexpected status \d{3}|exceeded retry limit|stream (error|disconnected)|Failed to authenticate|You've (hit|reached) your|Error: \d{3}|http \d{3}|Internal error)`)

func (a promptAnswer) into(s *cli.Seen, tellsUse bool) {
	switch {
	case a.Usage != nil && (a.Usage.Total > 0 || a.Usage.Input+a.Usage.Output > 0):
		s.Usage.InputTokens, s.Usage.OutputTokens, s.Usage.CachedTokens, s.Usage.ModelCalls = 0, 0, 0, 0
		a.Usage.add(s)
	case a.Meta.Quota != nil:
		s.Usage.InputTokens, s.Usage.OutputTokens = a.Meta.Quota.Tokens.Input, a.Meta.Quota.Tokens.Output
	}
	s.Usage.ModelCalls = max(s.Usage.ModelCalls, s.Calls+1)
	switch {
	case a.Stop == "refusal":
		s.Finish("refusal: it declined")
	case a.Stop != "end_turn":
		s.Finish("it stopped early: " + a.Stop)
	case apiError.MatchString(s.Text) && len(s.Text) < 4000:
		s.Prose = s.Usage.OutputTokens > 0 // a model answered, so that these may be its words
		s.Finish(s.Text)
	case tellsUse && s.Usage.OutputTokens == 0:
		s.Finish("no model answered; it said: " + s.Text)
	default:
		s.Finish("")
	}
}
