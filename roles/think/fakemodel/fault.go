package fakemodel

import (
	"cmp"
	"net"
	"net/http"
	"sync"
	"time"
)

// exchange is one request being answered.
type exchange struct {
	h      *Handler
	w      http.ResponseWriter
	r      *http.Request
	api    API
	stream bool
	fault  Fault
}

// send writes an answer, or as much of it as its fault lets through. Errors of
// writing mean that the client left, which is its right.
func (x exchange) send(a answer) {
	switch x.fault.Kind {
	case Status:
		writeError(x.w, x.api, x.fault)
		return
	case StreamError:
		if !x.stream {
			writeError(x.w, x.api, x.fault)
			return
		}
	case Hangup:
		x.cut()
		return
	case Refuse:
		if x.h.refuse != nil {
			x.h.refuse()
		}
		x.cut()
		return
	case Silent:
		x.wait(0)
		return
	}
	for k, v := range x.fault.Header {
		x.w.Header().Set(k, v)
	}
	if x.stream {
		x.w.Header().Set("Content-Type", "text/event-stream")
	} else {
		x.w.Header().Set("Content-Type", "application/json")
	}
	switch x.fault.Kind {
	case Empty:
		x.w.WriteHeader(http.StatusOK)
		return
	case Garbage:
		x.write([]byte("<html><body>\x00\xff\xfe not a model {{{ data: \"\n\ndata: {]\n\n</body></html>"))
		return
	}
	x.parts(x.cutUp(a))
}

// cutUp is the answer as the parts it is sent in.
func (x exchange) cutUp(a answer) [][]byte {
	var parts [][]byte
	if x.stream {
		for _, e := range a.events {
			parts = append(parts, e.bytes())
		}
		return parts
	}
	for _, p := range pieces(string(a.whole), 2*piecesPerText) {
		parts = append(parts, []byte(p))
	}
	return parts
}

func (x exchange) parts(parts [][]byte) {
	before := max(0, cmp.Or(x.fault.Events, 1))
	delay := time.Duration(cmp.Or(x.fault.DelayMS, 100)) * time.Millisecond
	for i, p := range parts {
		if i == before {
			switch x.fault.Kind {
			case Reset:
				x.cut()
				return
			case SilentMiddle:
				x.wait(0)
				return
			case Half:
				x.write(p[:len(p)/2])
				return
			case StreamError:
				x.write(errorEvent(x.api, x.fault).bytes())
				return
			case Endless:
				for x.wait(delay) {
					x.write(x.filler())
				}
				return
			}
		}
		if x.fault.Kind == Drip && !x.wait(delay) {
			return
		}
		x.write(p)
	}
}

// filler is bytes that say nothing in either form.
func (x exchange) filler() []byte {
	if x.stream {
		return []byte(": still here\n\n")
	}
	return []byte("\n")
}

func (x exchange) write(b []byte) {
	if _, err := x.w.Write(b); err == nil {
		_ = http.NewResponseController(x.w).Flush()
	}
}

// wait waits, for ever when d is 0, and tells whether the client is still there.
func (x exchange) wait(d time.Duration) bool {
	var passed <-chan time.Time
	if d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		passed = t.C
	}
	select {
	case <-passed:
		return true
	case <-x.r.Context().Done():
	case <-x.h.done:
	}
	return false
}

// cut ends the connection at once; on TCP with a reset.
func (x exchange) cut() {
	conn, _, err := http.NewResponseController(x.w).Hijack()
	if err != nil {
		// HTTP/2 has no connection to hijack; this ends the stream as hard.
		panic(http.ErrAbortHandler)
	}
	if t, ok := conn.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	_ = conn.Close()
}

// errorTypes names an error status in the words of the Messages protocol.
var errorTypes = sync.OnceValue(func() map[int]string {
	return map[int]string{
		400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error",
		404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error", 500: "api_error", 529: "overloaded_error",
	}
})

func errorBody(api API, f Fault) object {
	message := cmp.Or(f.Message, http.StatusText(f.Status), "an error")
	kind := cmp.Or(f.Type, errorTypes()[f.Status], "api_error")
	switch api {
	case Messages:
		return object{"type": "error", "error": object{"type": kind, "message": message}}
	case Gemini:
		return object{"error": object{"code": f.Status, "message": message, "status": kind}}
	}
	return object{"error": object{"message": message, "type": kind, "param": nil, "code": kind}}
}

func errorEvent(api API, f Fault) event {
	body := errorBody(api, f)
	switch api {
	case Messages:
		return event{"error", encode(body)}
	case Responses:
		return event{"response.failed", encode(object{"type": "response.failed",
			"response": object{"id": "resp_failed", "status": "failed", "error": body["error"]}})}
	}
	return event{"", encode(body)}
}

func writeError(w http.ResponseWriter, api API, f Fault) {
	w.Header().Set("Content-Type", "application/json")
	for k, v := range f.Header {
		w.Header().Set(k, v)
	}
	if f.RetryAfter != "" {
		w.Header().Set("Retry-After", f.RetryAfter)
	}
	w.WriteHeader(f.Status)
	_, _ = w.Write(encode(errorBody(api, f))) // a client that left early needs no answer
}
