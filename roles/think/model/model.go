// Package model says what a chat model is to a role: one request, one answer,
// typed failures. The packages that speak to a server or drive an agent
// implement Client; the packages that think use it.
//
// It owns the shapes only, and does no I/O. A Client promises that it never
// hangs: a connection that yields nothing for its idle limit fails, and every
// failure is an *Error that says whether waiting, another account or nothing
// at all would help.
package model

import (
	"context"
	"encoding/json"

	"orch/blackboard/message"
)

// Client is one model behind one account. It may be used from several
// goroutines.
type Client interface {
	// Complete sends one request and returns the whole answer. The usage of
	// every try it made is in the answer, or in the *Error it returns.
	Complete(context.Context, Request) (Response, error)
	// Model is the name the records carry, such as "anthropic:claude-sonnet-4-5".
	Model() string
	// Account tells accounts apart for limits: two clients with the same
	// account are paused together. It never contains a secret.
	Account() string
}

// Speaker says who said a turn.
type Speaker string

// Speakers.
const (
	User      Speaker = "user"
	Assistant Speaker = "assistant"
	ToolSays  Speaker = "tool"
)

// Request is one question. Stable parts come first so that a provider's cache
// hits: System, then Tools, then Turns.
type Request struct {
	System          string
	Turns           []Turn
	Tools           []Tool
	Schema          *Schema // the wanted shape of the answer; nil for prose
	MaxOutputTokens int     // 0 means the client's default

	// Bounded says that MaxOutputTokens must reach the server: the answer is paid
	// for up to there.
	Bounded bool
	// Tried is told of each try that failed, before the next one: what it took,
	// whether it may have been billed for more, and whether it is tried again. An
	// error ends the question. Nil: nobody is to be told.
	Tried func(took message.Usage, doubtful, again bool) error

	// Role and Input are for programs that play a role: who is asked, and the
	// JSON the texts were made from. A model is not sent them.
	Role  string
	Input json.RawMessage
}

// Turn is one message of a conversation.
type Turn struct {
	By      Speaker
	Text    string
	Calls   []Call   // of the assistant
	Results []Result // by ToolSays, one for each call of the turn before
	// Echo is the Response.Echo this turn of the assistant came with. Some
	// providers refuse the turn after a tool call without it.
	Echo json.RawMessage
}

// Tool is something the model may ask for.
type Tool struct {
	Name        string
	Description string
	Input       json.RawMessage // JSON Schema of an object
}

// Call is a tool call a model asks for. Input may be malformed.
type Call struct {
	ID    string
	Name  string
	Input json.RawMessage
}

// Result answers a Call.
type Result struct {
	CallID string
	Text   string
	Failed bool
}

// Schema is a JSON Schema with a name.
type Schema struct {
	Name string
	JSON json.RawMessage
}

// Stop says why an answer ended.
type Stop string

// Stops.
const (
	StopEnd    Stop = "end"    // the model was done
	StopTools  Stop = "tools"  // it asks for tool calls
	StopLength Stop = "length" // cut off by a limit
	StopRefuse Stop = "refuse" // the provider or the model declined
)

// Response is one whole answer.
type Response struct {
	Text  string // without reasoning blocks the provider marks as such
	Calls []Call
	Stop  Stop
	// Usage sums every try. InputTokens counts all input, CachedTokens the part
	// of it that came from the provider's cache.
	Usage message.Usage
	Cost  *float64 // US dollars, when the server or agent states it
	// Echo is what the provider wants back with this turn, such as signed
	// reasoning; hand it on unread in Turn.Echo.
	Echo json.RawMessage
	// Session is the agent's own session id, for the record; empty for plain models.
	Session string
}
