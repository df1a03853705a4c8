package anthropic

import (
	"encoding/json"

	"orch/roles/think/endpoint"
)

// What goes over the wire, as far as it is used.
// https://docs.anthropic.com/en/api/messages

type request struct {
	Model      string      `json:"model"`
	MaxTokens  int64       `json:"max_tokens"`
	Tools      []tool      `json:"tools,omitempty"`
	ToolChoice *toolChoice `json:"tool_choice,omitempty"`
	System     []block     `json:"system,omitempty"`
	Messages   []message   `json:"messages"`
	Stream     bool        `json:"stream,omitempty"`
}

type tool struct {
	Name        string                     `json:"name"`
	Description string                     `json:"description,omitempty"`
	Input       map[string]json.RawMessage `json:"input_schema"`
	Cache       *cacheMark                 `json:"cache_control,omitempty"`
}

type toolChoice struct {
	Type    string `json:"type"`
	Name    string `json:"name,omitempty"`
	OnlyOne bool   `json:"disable_parallel_tool_use,omitempty"`
}

type cacheMark struct {
	Type string `json:"type"`
}

type message struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

// block is a part of a message, in a request or in an answer.
type block struct {
	Type string `json:"type"`

	Text endpoint.Text `json:"text,omitempty"` // of text

	Thinking  *endpoint.Text `json:"thinking,omitempty"` // of thinking, and there also when empty
	Signature *endpoint.Text `json:"signature,omitempty"`
	Data      endpoint.Text  `json:"data,omitempty"` // of redacted_thinking

	ID    endpoint.Text   `json:"id,omitempty"` // of tool_use
	Name  endpoint.Text   `json:"name,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`

	ToolUseID string  `json:"tool_use_id,omitempty"` // of tool_result
	Content   []block `json:"content,omitempty"`
	IsError   bool    `json:"is_error,omitempty"`

	Cache *cacheMark `json:"cache_control,omitempty"`
}

// answer is an answer in one piece, or what a stream says first.
type answer struct {
	Content    []block         `json:"content"`
	StopReason endpoint.Text   `json:"stop_reason"`
	Usage      usage           `json:"usage"`
	Error      json.RawMessage `json:"error"`
}

// event is one event of a stream.
type event struct {
	Type    string         `json:"type"`
	Index   endpoint.Count `json:"index"`
	Message answer         `json:"message"`       // of message_start
	Block   block          `json:"content_block"` // of content_block_start
	Delta   struct {
		Text       endpoint.Text `json:"text"`
		Thinking   endpoint.Text `json:"thinking"`
		Signature  endpoint.Text `json:"signature"`
		Input      endpoint.Text `json:"partial_json"`
		StopReason endpoint.Text `json:"stop_reason"` // of message_delta
	} `json:"delta"`
	Usage usage `json:"usage"` // of message_delta
}

// usage is what the server counts. Its input leaves the cache out.
type usage struct {
	Input   endpoint.Count  `json:"input_tokens"`
	Read    endpoint.Count  `json:"cache_read_input_tokens"`
	Written endpoint.Count  `json:"cache_creation_input_tokens"`
	Output  *endpoint.Count `json:"output_tokens"`
}
