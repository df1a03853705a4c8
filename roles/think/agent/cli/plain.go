package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"orch/blackboard/message"
	"orch/roles/think/model"
)

// plain is any command: what it writes is the answer, and since it has no
// events, exit code 0 with an answer is its terminal event.
type plain struct {
	*Seen
	all  []byte
	json bool
}

func newText(s *Seen) Parser { return &plain{Seen: s} }
func newJSON(s *Seen) Parser { return &plain{Seen: s, json: true} }

func (p *plain) Line(line []byte) {
	if room := MaxTextBytes - len(p.all); len(line)+1 > room {
		p.Fail("its answer is too large", 0)
		return
	}
	p.all = append(append(p.all, line...), '\n')
	p.emit(Event{Kind: Said, Text: string(line)})
}

// ResultEnv names the file a command may put its answer in, instead of writing
// it to standard output.
const ResultEnv = "ORCH_RESULT"

// Answer takes the answer from elsewhere than the output.
func (p *plain) Answer(raw []byte) { p.all, p.Failed = append([]byte{}, raw...), "" }

func (p *plain) Exit(code int) {
	if p.json {
		p.decode(code)
	} else {
		p.Text = string(bytes.TrimRight(p.all, "\n"))
	}
	p.Usage.ModelCalls = max(p.Usage.ModelCalls, 1)
	p.Prose = p.Kind == ""
	switch {
	case p.Failed != "":
		p.Finish(p.Failed)
	case code == 0 && len(bytes.TrimSpace(p.all)) > 0:
		p.Finish("")
	}
}

// Request is what a command with format json gets on standard input.
type Request struct {
	Version int             `json:"version"` // 1
	Role    string          `json:"role,omitempty"`
	Prompt  string          `json:"prompt"`           // all texts in one
	System  string          `json:"system,omitempty"` // the part that stays the same over calls
	Input   json.RawMessage `json:"input,omitempty"`  // what the texts were made from
	Schema  json.RawMessage `json:"schema,omitempty"` // JSON Schema of the wanted answer
	Dir     string          `json:"dir"`              // where to work
	Access  Access          `json:"access"`           // read, workspace or full
}

// Reply is what such a command writes. An object that has none of text, answer
// and error, or keys beside those of a reply, is taken as the answer itself.
type Reply struct {
	Text    string          `json:"text,omitempty"`
	Answer  json.RawMessage `json:"answer,omitempty"` // as JSON, instead of text
	Usage   *message.Usage  `json:"usage,omitempty"`
	Cost    *float64        `json:"cost_usd,omitempty"`
	Session string          `json:"session,omitempty"`
	Error   *ReplyError     `json:"error,omitempty"`
}

// ReplyError is a failure a command reports.
type ReplyError struct {
	Kind   model.Kind `json:"kind"` // such as limit or auth
	Until  time.Time  `json:"until,omitzero"`
	Detail string     `json:"detail"`
}

// begin is the beginning of an output, for a message about it.
func begin(output []byte) string {
	const shownBytes = 200
	output = bytes.TrimSpace(output)
	if len(output) > shownBytes {
		return strings.ToValidUTF8(string(output[:shownBytes]), "") + " […]"
	}
	return string(output)
}

func (p *plain) decode(code int) {
	var r Reply
	var keys map[string]json.RawMessage
	if json.Unmarshal(p.all, &keys) != nil || json.Unmarshal(p.all, &r) != nil {
		if len(bytes.TrimSpace(p.all)) > 0 && !json.Valid(p.all) {
			if code == 0 {
				p.Kind = model.Unreadable // it did its work; what it did not end may be cut off
			}
			p.Fail("its output is not JSON: "+begin(p.all), 0)
		}
		p.Text = string(bytes.TrimSpace(p.all))
		return
	}
	if !isReply(keys) {
		p.Text = string(bytes.TrimSpace(p.all))
		return
	}
	p.Text, p.Cost, p.Session = r.Text, r.Cost, r.Session
	if len(r.Answer) > 0 {
		p.Text = string(r.Answer)
	}
	if r.Usage != nil {
		p.Usage = *r.Usage
	}
	if r.Error != nil {
		p.Kind = r.Error.Kind
		if !r.Error.Until.IsZero() {
			p.ResetUnix = r.Error.Until.Unix()
		}
		p.Fail(first(r.Error.Detail, string(r.Error.Kind), "it says that it failed"), 0)
	}
}

// isReply tells a reply from an answer that stands for itself, which may have
// keys of the same names: a reply says something, and has no other keys.
func isReply(keys map[string]json.RawMessage) bool {
	says := false
	for k := range keys {
		switch k {
		case "text", "answer", "error":
			says = true
		case "version", "usage", "cost_usd", "session":
		default:
			return false
		}
	}
	return says
}
