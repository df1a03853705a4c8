package fakemodel

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"orch/blackboard/lazyregexp"
)

// API is a protocol.
type API string

// Protocols.
const (
	Chat      API = "chat"
	Messages  API = "messages"
	Responses API = "responses"
	Gemini    API = "gemini"
)

func (a API) check() error {
	switch a {
	case "", Chat, Messages, Responses, Gemini:
		return nil
	}
	return fmt.Errorf("unknown api %q", a)
}

// Request is what a request says, whatever its protocol.
type Request struct {
	N      int // counts from 1 over all requests
	API    API
	Path   string
	Model  string
	System string
	Turns  []Turn
	Tools  []string
	Schema bool
	Stream bool
	Header http.Header
	Body   []byte
}

// Turn is one turn of a request.
type Turn struct {
	Role string // user, assistant, tool
	Text string // text, tool inputs and tool results, one below the other
}

// Last is the last turn, or the zero Turn.
func (r Request) Last() Turn {
	if len(r.Turns) == 0 {
		return Turn{}
	}
	return r.Turns[len(r.Turns)-1]
}

// Turn is 1 + the number of turns the assistant already had.
func (r Request) Turn() int {
	n := 1
	for i, t := range r.Turns {
		// Some clients send one turn of the assistant as several messages.
		if t.Role == "assistant" && (i == 0 || r.Turns[i-1].Role != "assistant") {
			n++
		}
	}
	return n
}

func (r Request) has(text string) bool {
	if strings.Contains(r.System, text) {
		return true
	}
	return slices.ContainsFunc(r.Turns, func(t Turn) bool { return strings.Contains(t.Text, text) })
}

// Word stands in a reply for the word that the question wants repeated.
const Word = "{{word}}"

var asksWord = lazyregexp.New(`## The word of this question\s+(\w+)`)

// word is what a judge is asked to repeat; empty for other questions.
func (r Request) word() (word string) {
	for _, t := range r.Turns {
		for _, found := range asksWord.FindAllStringSubmatch(t.Text, -1) {
			word = found[1]
		}
	}
	return word
}

// repeating is the reply with the question's word in it.
func (p Reply) repeating(word string) Reply {
	p.Text, p.Reasoning, p.Refusal = strings.ReplaceAll(p.Text, Word, word), strings.ReplaceAll(p.Reasoning, Word, word), strings.ReplaceAll(p.Refusal, Word, word)
	if p.JSON != nil && p.Text == "" {
		p.Text = strings.ReplaceAll(string(encode(p.JSON)), Word, word)
	}
	calls := make([]Call, len(p.Calls))
	for i, c := range p.Calls {
		if c.Raw == "" && c.Input != nil {
			c.Raw = string(encode(c.Input))
		}
		c.Raw = strings.ReplaceAll(c.Raw, Word, word)
		calls[i] = c
	}
	p.Calls = calls
	return p
}

// meets tells whether all conditions but Nth hold.
func (w When) meets(r Request) bool {
	for _, text := range w.Contains {
		if !r.has(text) {
			return false
		}
	}
	if slices.ContainsFunc(w.Absent, r.has) {
		return false
	}
	for k, v := range w.Header {
		if r.Header.Get(k) != v {
			return false
		}
	}
	return (w.API == "" || w.API == r.API) &&
		(w.Model == "" || w.Model == r.Model) &&
		strings.Contains(r.System, w.System) &&
		strings.Contains(r.Last().Text, w.Last) &&
		(w.Turn == 0 || w.Turn == r.Turn()) &&
		(w.Tool == "" || slices.Contains(r.Tools, w.Tool)) &&
		(w.Tools == nil || *w.Tools == (len(r.Tools) > 0)) &&
		(w.Schema == nil || *w.Schema == r.Schema) &&
		(w.Stream == nil || *w.Stream == r.Stream)
}

// choice is the reply for a request, and the rule it came from.
type choice struct {
	reply Reply
	rule  string
}

// tally counts how often each rule met a request and answered one.
type tally struct{ met, used []int }

// choose picks the reply and counts it.
func (s Script) choose(r Request, t *tally) choice {
	for len(t.met) < len(s.Rules) {
		t.met, t.used = append(t.met, 0), append(t.used, 0)
	}
	found := -1
	for i, rule := range s.Rules {
		if !rule.When.meets(r) {
			continue
		}
		t.met[i]++
		if found >= 0 || rule.When.Nth > 0 && rule.When.Nth != t.met[i] || rule.Times > 0 && t.used[i] >= rule.Times {
			continue
		}
		found = i
	}
	if found < 0 {
		if s.Default != nil {
			return choice{*s.Default, "default"}
		}
		return choice{Reply{Fault: Fault{Kind: Status, Status: http.StatusBadRequest, Message: "no rule of the script matches"}}, "none"}
	}
	rule := s.Rules[found]
	t.used[found]++
	name := rule.Name
	if name == "" {
		name = fmt.Sprintf("rule %d", found+1)
	}
	switch {
	case rule.Func != nil:
		return choice{rule.Func(r), name}
	case rule.Reply != nil && (t.used[found] == 1 || len(rule.Replies) == 0):
		return choice{*rule.Reply, name}
	case rule.Reply != nil:
		return choice{rule.Replies[min(t.used[found]-2, len(rule.Replies)-1)], name}
	}
	return choice{rule.Replies[min(t.used[found]-1, len(rule.Replies)-1)], name}
}
