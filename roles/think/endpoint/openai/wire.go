package openai

import (
	"encoding/json"

	"orch/roles/think/endpoint"
)

// What goes over the wire, as far as it is used.
// https://platform.openai.com/docs/api-reference/chat

type request struct {
	Messages            []message       `json:"messages"`
	Model               string          `json:"model"`
	MaxCompletionTokens int64           `json:"max_completion_tokens,omitempty"`
	MaxTokens           int64           `json:"max_tokens,omitempty"`
	ResponseFormat      *responseFormat `json:"response_format,omitempty"`
	Tools               []tool          `json:"tools,omitempty"`
	Stream              bool            `json:"stream,omitempty"`
	StreamOptions       *streamOptions  `json:"stream_options,omitempty"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type responseFormat struct {
	Type       string      `json:"type"`
	JSONSchema *jsonSchema `json:"json_schema,omitempty"`
}

type jsonSchema struct {
	Name   string          `json:"name"`
	Strict bool            `json:"strict,omitempty"`
	Schema json.RawMessage `json:"schema"`
}

type tool struct {
	Type     string      `json:"type"`
	Function description `json:"function"`
}

type description struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

// message is one of a request.
type message struct {
	Content    *string    `json:"content,omitempty"` // an assistant that only calls tools has none
	ToolCallID string     `json:"tool_call_id,omitempty"`
	ToolCalls  []toolCall `json:"tool_calls,omitempty"`
	Role       string     `json:"role"`
	Reasoning  string     `json:"reasoning_content,omitempty"`
}

// toolCall is a call in a request or in an answer, or a part of one in a chunk.
type toolCall struct {
	Index    endpoint.Count  `json:"index,omitempty"` // in chunks
	ID       endpoint.Text   `json:"id"`
	Function function        `json:"function"`
	Type     string          `json:"type"`
	Extra    json.RawMessage `json:"extra_content,omitempty"` // Google's signature
}

type function struct {
	Arguments endpoint.Text `json:"arguments"`
	Name      endpoint.Text `json:"name"`
}

// answer is an answer in one piece, or a chunk of a streamed one.
type answer struct {
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type choice struct {
	Message said          `json:"message"` // in one piece
	Delta   said          `json:"delta"`   // in a chunk
	Finish  endpoint.Text `json:"finish_reason"`
}

type said struct {
	Content   endpoint.Text `json:"content"`
	Refusal   endpoint.Text `json:"refusal"`
	Reasoning endpoint.Text `json:"reasoning_content"`
	ToolCalls []toolCall    `json:"tool_calls"`
}

// usage is what the server counts. DeepSeek names its cache its own way, and
// OpenRouter adds a price.
type usage struct {
	Prompt     endpoint.Count `json:"prompt_tokens"`
	Completion endpoint.Count `json:"completion_tokens"`
	Details    struct {
		Cached endpoint.Count `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CacheHit endpoint.Count `json:"prompt_cache_hit_tokens"`
	Cost     *float64       `json:"cost"`
}
