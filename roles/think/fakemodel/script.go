// Package fakemodel is a model server for tests. It speaks the Chat
// Completions, Messages, Responses and Gemini protocols, streamed and whole,
// answers from a script, and misbehaves on request.
//
// It owns the script, the four protocols and the faults. It promises that the
// same requests in the same order get the same answers, that a request no rule
// matches fails loudly, and that Close ends every answer it still sends. It is
// for tests only: it checks no key unless the script names one, and it never
// calls out.
package fakemodel

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"gopkg.in/yaml.v3"
)

// Script says how the server answers: the first rule that matches and is not
// used up wins; Default answers what no rule matches.
type Script struct {
	// Key, when set, is the only key that is let in; others get a 401.
	Key string `yaml:"key"`
	// Models is what the model list names.
	Models []string `yaml:"models"`
	// Default answers what no rule matches; without it that is a 400 that says so.
	Default *Reply `yaml:"default"`
	Rules   []Rule `yaml:"rules"`
}

// Rule gives replies to the requests it matches.
type Rule struct {
	Name string `yaml:"name"`
	When When   `yaml:"when"`
	// Times bounds how often the rule is used; 0 is for ever.
	Times int `yaml:"times"`
	// Reply answers each match. With Replies, the first match gets the first
	// one and so on; the last one is repeated.
	Reply   *Reply  `yaml:"reply"`
	Replies []Reply `yaml:"replies"`
	// Func computes the reply; for tests in Go only.
	Func func(Request) Reply `yaml:"-"`
}

// When is a set of conditions that must all hold. The zero When matches all.
type When struct {
	API      API               `yaml:"api"`      // chat, messages, responses, gemini
	Model    string            `yaml:"model"`    // exactly
	Contains []string          `yaml:"contains"` // each somewhere in the system text or the turns
	Absent   []string          `yaml:"absent"`   // none anywhere in them
	System   string            `yaml:"system"`   // in the system text
	Last     string            `yaml:"last"`     // in the last turn
	Header   map[string]string `yaml:"header"`   // values, exactly
	Turn     int               `yaml:"turn"`     // 1 + the assistant's turns in the request
	Nth      int               `yaml:"nth"`      // the nth request that meets the other conditions
	Tool     string            `yaml:"tool"`     // a tool of this name is offered
	Tools    *bool             `yaml:"tools"`    // whether any tool is offered
	Schema   *bool             `yaml:"schema"`   // whether a JSON schema is asked for
	Stream   *bool             `yaml:"stream"`
}

// Reply is one answer, or one fault. Word in its texts and calls is replaced by
// the word that the question asks a judge to repeat.
type Reply struct {
	Text      string `yaml:"text"`
	JSON      any    `yaml:"json"` // instead of Text: a value to send as JSON
	Reasoning string `yaml:"reasoning"`
	Refusal   string `yaml:"refusal"`
	Calls     []Call `yaml:"calls"`
	// Stop is end, tools, length or refuse; it follows from the rest when empty.
	Stop  string   `yaml:"stop"`
	Usage Usage    `yaml:"usage"`
	Cost  *float64 `yaml:"cost"` // US dollars, as some servers state it
	Fault Fault    `yaml:"fault"`
}

// Call is a tool call of an answer.
type Call struct {
	ID    string         `yaml:"id"`
	Name  string         `yaml:"name"`
	Input map[string]any `yaml:"input"`
	Raw   string         `yaml:"raw"` // instead of Input: text that may be no JSON
}

// Usage is what an answer says it consumed; Input includes Cached.
type Usage struct {
	Input  int64 `yaml:"input"`
	Output int64 `yaml:"output"`
	Cached int64 `yaml:"cached"`
}

// FaultKind names a way to misbehave.
type FaultKind string

// Kinds of fault.
const (
	Status       FaultKind = "status"        // an error status with the protocol's error body
	Hangup       FaultKind = "hangup"        // the connection ends before any byte
	Refuse       FaultKind = "refuse"        // as Hangup, and later connections are refused
	Reset        FaultKind = "reset"         // the connection is reset in the middle of the answer
	Silent       FaultKind = "silent"        // nothing ever comes
	SilentMiddle FaultKind = "silent-middle" // nothing comes after the first events
	Garbage      FaultKind = "garbage"       // status 200 and bytes of no protocol
	Half         FaultKind = "half"          // the answer ends in the middle of an event
	Huge         FaultKind = "huge"          // an answer of Bytes bytes
	Drip         FaultKind = "drip"          // DelayMS between events
	Endless      FaultKind = "endless"       // as Drip, with comments that never end before the last event
	Empty        FaultKind = "empty"         // status 200 and nothing
	StreamError  FaultKind = "stream-error"  // the protocol's error event after the first events
)

// Fault is how a reply misbehaves; the zero Fault is none.
type Fault struct {
	Kind       FaultKind         `yaml:"kind"`
	Status     int               `yaml:"status"`      // for status and stream-error
	Type       string            `yaml:"type"`        // the error's type or code; follows from Status when empty
	Message    string            `yaml:"message"`     // the error's text
	RetryAfter string            `yaml:"retry_after"` // that header's value
	Header     map[string]string `yaml:"header"`
	Bytes      int               `yaml:"bytes"`    // for huge; default 10 MB
	Events     int               `yaml:"events"`   // sent before it goes wrong; default 1, below zero none
	DelayMS    int               `yaml:"delay_ms"` // for drip and endless; default 100
}

// MaxScriptBytes bounds a script file.
const MaxScriptBytes = 16 << 20

// Load reads a script file. YAML and JSON are both fine.
func Load(path string) (Script, error) {
	f, err := os.Open(path)
	if err != nil {
		return Script{}, fmt.Errorf("reading the model script: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, MaxScriptBytes+1))
	if err != nil {
		return Script{}, fmt.Errorf("reading the model script: %w", err)
	}
	if len(b) > MaxScriptBytes {
		return Script{}, fmt.Errorf("reading the model script: %s is larger than %d bytes", path, MaxScriptBytes)
	}
	return Parse(b)
}

// Parse reads a script. Unknown fields and faults are refused, since a
// misspelt condition would match everything.
func Parse(b []byte) (Script, error) {
	var s Script
	d := yaml.NewDecoder(bytes.NewReader(b))
	d.KnownFields(true)
	if err := d.Decode(&s); err != nil && !errors.Is(err, io.EOF) {
		return s, fmt.Errorf("reading the model script: %w", err)
	}
	return s, s.check()
}

func (s Script) check() error {
	for i, r := range s.Rules {
		if r.Reply == nil && len(r.Replies) == 0 && r.Func == nil {
			return fmt.Errorf("rule %d (%q) of the model script has no reply", i+1, r.Name)
		}
		if err := r.When.API.check(); err != nil {
			return fmt.Errorf("rule %d (%q) of the model script: %w", i+1, r.Name, err)
		}
		replies := r.Replies
		if r.Reply != nil {
			replies = append([]Reply{*r.Reply}, replies...)
		}
		for _, p := range replies {
			if err := p.Fault.check(); err != nil {
				return fmt.Errorf("rule %d (%q) of the model script: %w", i+1, r.Name, err)
			}
		}
	}
	return nil
}

func (f Fault) check() error {
	switch f.Kind {
	case "", Hangup, Refuse, Reset, Silent, SilentMiddle, Garbage, Half, Huge, Drip, Endless, Empty:
		return nil
	case Status, StreamError:
		if f.Status < 300 || f.Status > 599 {
			return fmt.Errorf("fault %q needs a status from 300 to 599, not %d", f.Kind, f.Status)
		}
		return nil
	}
	return fmt.Errorf("unknown fault %q", f.Kind)
}
