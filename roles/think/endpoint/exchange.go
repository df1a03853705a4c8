package endpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

var (
	// ErrNoStream is what Stream returns for an answer in one piece.
	ErrNoStream = errors.New("the server does not stream")

	// ErrNoEnd is for a client whose stream ended before the answer did.
	ErrNoEnd = errors.New("the answer ends in the middle")
)

// Whole sends a request and returns the body of the answer.
func (e *Endpoint) Whole(ctx context.Context, request any) ([]byte, error) {
	res, err := e.post(ctx, request)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	return io.ReadAll(res.Body)
}

// Stream sends a request and hands each event of the answer on, until take
// fails, the stream ends, or the server says that it is [DONE].
func (e *Endpoint) Stream(ctx context.Context, request any, take func(Event) error) error {
	res, err := e.post(ctx, request)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	events := newEvents(res.Body, int(e.wholeBytes()))
	for n := 0; ; n++ {
		event, err := events.next()
		switch {
		case err == io.EOF && n == 0 && isJSON(res.Header):
			return ErrNoStream
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case bytes.HasPrefix(event.Data, []byte("[DONE]")):
			return nil
		}
		if err := take(event); err != nil {
			return err
		}
	}
}

// post sends a request. An answer with an error status is an error; its body
// was kept for Ask by the transport.
func (e *Endpoint) post(ctx context.Context, request any) (*http.Response, error) {
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false) // code is full of < and &
	if err := enc.Encode(request); err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, &body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "orch")
	res, err := e.client.Do(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode >= 300 {
		_ = res.Body.Close()
		return nil, fmt.Errorf("the server answers %s", res.Status)
	}
	return res, nil
}

func isJSON(h http.Header) bool {
	return strings.Contains(strings.ToLower(h.Get("Content-Type")), "json")
}
