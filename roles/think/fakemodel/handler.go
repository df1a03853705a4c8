package fakemodel

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// MaxRequestBytes bounds what the server reads of one request.
const MaxRequestBytes = 64 << 20

// Handler answers requests from a script. It may be used from several
// goroutines.
type Handler struct {
	script Script
	log    io.Writer // nil for none
	refuse func()    // stops listening; nil when there is no listener of ours
	done   chan struct{}
	once   sync.Once

	mu       sync.Mutex
	tally    tally
	requests []Request
}

// NewHandler returns a handler for a script. Each request is written to log as
// one line of JSON, before it is answered; log may be nil.
func NewHandler(s Script, log io.Writer) (*Handler, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	return &Handler{script: s, log: log, done: make(chan struct{})}, nil
}

// Stop ends every answer that is still being sent. It may be called twice.
func (h *Handler) Stop() { h.once.Do(func() { close(h.done) }) }

// Requests returns the requests to a model so far, in the order they came.
func (h *Handler) Requests() []Request {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]Request(nil), h.requests...)
}

// protocol is a request body that knows its request and its answer.
type protocol interface {
	request() Request
	answer(n int, p Reply) answer
}

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodHead || r.Method == http.MethodOptions {
		return
	}
	if h.listing(w, r) {
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxRequestBytes))
	if err != nil {
		writeError(w, Chat, Fault{Status: http.StatusRequestEntityTooLarge, Message: err.Error()})
		return
	}
	if strings.HasSuffix(r.URL.Path, "/count_tokens") {
		fmt.Fprintf(w, `{"input_tokens":%d}`, len(body)/4)
		return
	}
	if strings.HasSuffix(r.URL.Path, ":countTokens") {
		fmt.Fprintf(w, `{"totalTokens":%d}`, len(body)/4)
		return
	}
	p, api, err := h.decode(r, body)
	switch {
	case p == nil:
		writeError(w, api, Fault{Status: http.StatusNotFound, Message: "no such path: " + r.URL.Path})
		return
	case err != nil:
		writeError(w, api, Fault{Status: http.StatusBadRequest, Message: "the body is not what the protocol says: " + err.Error()})
		return
	}
	req := p.request()
	req.Path, req.Header, req.Body = r.URL.Path, r.Header.Clone(), body
	c, n, err := h.take(req, keyOf(r))
	if err != nil {
		writeError(w, api, Fault{Status: http.StatusInternalServerError, Message: err.Error()})
		return
	}
	reply := c.reply.settled(n)
	x := exchange{h: h, w: w, r: r, api: api, stream: req.Stream, fault: reply.Fault}
	x.send(p.answer(n, reply))
}

func (h *Handler) decode(r *http.Request, body []byte) (protocol, API, error) {
	path := strings.TrimSuffix(r.URL.Path, "/")
	switch {
	case strings.HasSuffix(path, "/chat/completions"):
		var b chatBody
		err := json.Unmarshal(body, &b)
		return b, Chat, err
	case strings.HasSuffix(path, "/messages"):
		var b messagesBody
		err := json.Unmarshal(body, &b)
		return b, Messages, err
	case strings.HasSuffix(path, "/responses"):
		var b responsesBody
		err := json.Unmarshal(body, &b)
		return b, Responses, err
	}
	if model, action, ok := geminiPath(path); ok {
		var b geminiBody
		err := json.Unmarshal(body, &b)
		b.model, b.stream = model, action == "streamGenerateContent"
		return b, Gemini, err
	}
	return nil, Chat, nil
}

// take counts a request, chooses its reply and logs both.
func (h *Handler) take(req Request, key string) (choice, int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	req.N = len(h.requests) + 1
	h.requests = append(h.requests, req)
	c := choice{Reply{Fault: Fault{Kind: Status, Status: http.StatusUnauthorized, Message: "invalid key " + key}}, "key"}
	if h.script.Key == "" || key == h.script.Key {
		c = h.script.choose(req, &h.tally)
		c.reply = c.reply.repeating(req.word())
	}
	return c, req.N, h.record(req, c, key)
}

// record writes the log line of a request. Keys are not written, only whether
// there was one.
func (h *Handler) record(req Request, c choice, key string) error {
	if h.log == nil {
		return nil
	}
	line := encode(object{"n": req.N, "api": req.API, "path": req.Path, "model": req.Model, "stream": req.Stream,
		"turn": req.Turn(), "tools": req.Tools, "schema": req.Schema, "key": key != "", "rule": c.rule,
		"fault": c.reply.Fault.Kind, "body": json.RawMessage(req.Body)})
	if _, err := h.log.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("writing the request log: %w", err)
	}
	return nil
}

// keyOf is the key of a request, wherever its protocol puts it.
func keyOf(r *http.Request) string {
	if _, key, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok {
		return key
	}
	for _, name := range []string{"x-api-key", "x-goog-api-key"} {
		if key := r.Header.Get(name); key != "" {
			return key
		}
	}
	return r.URL.Query().Get("key")
}

// listing answers what clients ask before they ask a model.
func (h *Handler) listing(w http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodGet {
		return false
	}
	models := h.script.Models
	if models == nil {
		models = []string{"fake-model"}
	}
	list := func(entry func(string) object) []any {
		out := []any{}
		for _, m := range models {
			out = append(out, entry(m))
		}
		return out
	}
	var v object
	switch {
	case strings.HasSuffix(r.URL.Path, "/api/tags"): // as Ollama
		v = object{"models": list(func(m string) object { return object{"name": m, "model": m} })}
	case strings.HasSuffix(r.URL.Path, "/api/version"):
		v = object{"version": "0.0.0-fake"}
	case strings.HasSuffix(r.URL.Path, "/v1beta/models"):
		v = object{"models": list(func(m string) object { return object{"name": "models/" + m} })}
	case strings.HasSuffix(r.URL.Path, "/models"):
		v = object{"object": "list", "has_more": false, "data": list(func(m string) object {
			return object{"id": m, "object": "model", "type": "model", "display_name": m, "owned_by": "fake", "created": 1_700_000_000}
		})}
	default:
		return false
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(encode(v)) // a client that left early needs no answer
	return true
}
