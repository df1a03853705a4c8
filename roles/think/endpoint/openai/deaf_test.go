package openai_test

import (
	"io"
	"net/http"
	"strings"
)

// deaf is an HTTP client for a server that does not hear the wish to stream.
func deaf() *http.Client { return &http.Client{Transport: deafTransport{&http.Transport{}}} }

type deafTransport struct{ *http.Transport }

func (d deafTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	body := strings.Replace(string(b), `"stream":true`, `"stream":false`, 1)
	r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	return d.Transport.RoundTrip(r)
}
