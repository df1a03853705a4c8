package cli

import (
	"bytes"
	"encoding/json"
	"strings"

	"orch/roles/think/model"
)

// Parser follows the output of one run and keeps what it saw in the Seen it was made with.
type Parser interface {
	// Line takes one line of standard output, without its end.
	Line([]byte)
	// Exit is told how the process ended by itself, after the last line.
	Exit(code int)
}

// Seen is what the stream of a run has shown.
type Seen struct {
	Result
	Done   bool       // the terminal event came
	Failed string     // what the agent calls its failure; empty if it claims success
	Status int        // HTTP status of the failure, if it names one
	Kind   model.Kind // of the failure, if it names one
	Prose  bool       // the failure is no typed error: it is in what a command wrote

	ResetUnix int64 // when its account is free again, if it said so by event

	emit func(Event)
	open map[string]int // tool calls by id, as index of Tools
}

// NewSeen follows nothing yet. emit may be nil.
func NewSeen(emit func(Event)) *Seen {
	if emit == nil {
		emit = func(Event) {}
	}
	return &Seen{emit: emit, open: map[string]int{}}
}

// Exit changes nothing: an exit code means nothing by itself.
func (s *Seen) Exit(int) {}

// Begin notes that the agent is up.
func (s *Seen) Begin(session, model, version string) {
	s.Session = first(session, s.Session)
	s.Usage.Model = first(model, s.Usage.Model)
	s.Version = first(version, s.Version)
	s.emit(Event{Kind: Began, Text: s.Session})
}

// Say takes a whole text as the answer so far: the last one counts.
func (s *Seen) Say(text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	s.Text = bound(text, MaxTextBytes)
	s.emit(Event{Kind: Said, Text: s.Text})
}

// Add takes a piece of a text.
func (s *Seen) Add(piece string) {
	if room := MaxTextBytes - len(s.Text); room > 0 {
		s.Text += bound(piece, room)
	}
	s.emit(Event{Kind: Said, Text: piece})
}

// Think notes a piece of reasoning; it is never part of the answer.
func (s *Seen) Think(text string) { s.emit(Event{Kind: Thought, Text: text}) }

// Call notes that a tool was called. A call that is known is filled in.
func (s *Seen) Call(t ToolUse) {
	if len(t.Input) > MaxInputBytes {
		t.Input = mustJSON(map[string]any{"begins": bound(string(t.Input), MaxInputBytes/4), "bytes": len(t.Input)})
	}
	if i, ok := s.open[t.ID]; ok && t.ID != "" {
		known := &s.Tools[i]
		known.Name = first(known.Name, t.Name)
		if len(known.Input) == 0 {
			known.Input = t.Input
		}
		return
	}
	s.Calls++
	if len(s.Tools) >= MaxTools {
		s.forget(MaxTools / 2)
	}
	s.Tools = append(s.Tools, t)
	if t.ID != "" {
		s.open[t.ID] = len(s.Tools) - 1
	}
	s.emit(Event{Kind: Called, Tool: &t})
}

// forget drops the oldest call after the first half that are kept.
func (s *Seen) forget(at int) {
	s.Tools = append(s.Tools[:at], s.Tools[at+1:]...)
	for id, i := range s.open {
		switch {
		case i == at:
			delete(s.open, id)
		case i > at:
			s.open[id] = i - 1
		}
	}
}

// Return notes that a call ended. A call nobody announced counts as well.
func (s *Seen) Return(id, name, output string, failed bool) {
	i, ok := s.open[id]
	if !ok || id == "" {
		s.Call(ToolUse{ID: id, Name: name})
		if i = len(s.Tools) - 1; i < 0 {
			return
		}
	}
	delete(s.open, id)
	t := &s.Tools[i]
	t.Output, t.Failed = bound(output, MaxInputBytes), failed
	ended := *t
	s.emit(Event{Kind: Returned, Tool: &ended})
}

// Deny notes a refused call.
func (s *Seen) Deny(d Denial) {
	if len(s.Denials) < MaxDenials {
		s.Denials = append(s.Denials, d)
	}
	s.emit(Event{Kind: Refused, Text: d.Reason, Tool: &ToolUse{Name: d.Tool, Input: d.Input}})
}

// Finish notes the terminal event. An empty failure means that the agent
// claims success.
func (s *Seen) Finish(failure string) {
	if s.Done {
		return
	}
	s.Done, s.Failed = true, strings.TrimSpace(failure)
	s.emit(Event{Kind: Done, Text: s.Failed})
}

// Fail notes a failure that ends nothing by itself.
func (s *Seen) Fail(failure string, status int) {
	if f := strings.TrimSpace(failure); f != "" {
		s.Failed = bound(f, MaxInputBytes)
	}
	if status != 0 {
		s.Status = status
	}
}

// jsonLine decodes one line into v, or counts it as unknown.
func (s *Seen) jsonLine(line []byte, v any) bool {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return false
	}
	if line[0] != '{' || json.Unmarshal(line, v) != nil {
		s.Unknown++
		return false
	}
	return true
}

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// bound cuts a text at a byte count, on a character's border.
func bound(s string, limitBytes int) string {
	if len(s) <= limitBytes {
		return s
	}
	return strings.ToValidUTF8(s[:max(limitBytes, 0)], "")
}

// mustJSON encodes what always can be encoded: maps of strings and numbers.
func mustJSON(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage(`null`)
	}
	return raw
}
