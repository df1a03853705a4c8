// Package endpoint is what every client of a model server over HTTP shares:
// patience with a bound, retries that honour what the server asks for, and the
// classification of everything that can go wrong.
//
// It owns the limits, the transport, the stream of events and the retry loop;
// the packages openai and anthropic own their protocols. It promises that Ask returns within the
// wall limit, that a connection that yields nothing for the idle limit fails,
// that an answer beyond the size limit is dropped as it comes, that redirects
// are not followed (a key would travel with them), and that no secret it was
// given appears in an error. It never reads the environment.
package endpoint

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"orch/blackboard/lazyregexp"
)

// Options say where a model is and how patient to be. Numbers that are zero
// take the default named beside them.
type Options struct {
	BaseURL string            // of the API, such as https://api.openai.com/v1; empty: the provider's own
	Key     string            // empty for servers that need none
	KeyName string            // where the key came from, such as OPENAI_API_KEY; for names and hints
	Model   string            // as the provider calls it
	Account string            // what is paused together; derived from the host and KeyName when empty
	Headers map[string]string // sent with every request; treated as secrets

	Whole           bool  // ask for the answer in one piece instead of a stream
	MaxOutputTokens int   // when a request names none; 0: the protocol's default
	IdleMS          int64 // a connection that yields nothing; 120,000
	WallMS          int64 // one question with all its tries; 900,000
	Retries         int   // after the first try, for passing failures; 3, and none below zero
	BackoffMS       int64 // before the first retry, doubled for each; 1,000
	MaxWaitMS       int64 // longest wait before a retry; who asks for more gets a Limit at once; 10,000
	MaxAnswerBytes  int64 // of one answer's text and tool inputs; 4 MiB

	HTTP   *http.Client                               // its Transport is used; nil: one with the standard settings
	Now    func() time.Time                           // nil: time.Now
	Sleep  func(context.Context, time.Duration) error // nil: a timer
	Jitter func() float64                             // from 0 to below 1; nil: random
}

// OptionError says which option is wrong.
type OptionError struct{ Name, Problem string }

func (e *OptionError) Error() string { return "option " + e.Name + " " + e.Problem }

// Hint names where options are set.
func (e *OptionError) Hint() string { return "options are set under models in .orch/config.yaml" }

// Set sets one option as the configuration writes it: base_url, stream,
// max_output_tokens, backoff_ms, max_answer_bytes, or header.NAME. What it
// does not know, it says.
func (o *Options) Set(name, value string) error {
	number := func(least, most int64) (int64, error) {
		v, err := strconv.ParseInt(value, 10, 64)
		if err != nil || v < least || v > most {
			return 0, &OptionError{name, fmt.Sprintf("is %q, allowed: a number from %d to %d", value, least, most)}
		}
		return v, nil
	}
	var err error
	var n int64
	switch name {
	case "base_url":
		o.BaseURL = value
		_, err = parseBase(value)
	case "stream":
		stream, bad := strconv.ParseBool(value)
		if bad != nil {
			return &OptionError{name, fmt.Sprintf("is %q, allowed: true or false", value)}
		}
		o.Whole = !stream
	case "max_output_tokens":
		n, err = number(1, 10_000_000)
		o.MaxOutputTokens = int(n)
	case "backoff_ms":
		o.BackoffMS, err = number(1, 60_000)
	case "max_answer_bytes":
		o.MaxAnswerBytes, err = number(1_024, 256<<20)
	default:
		header, ok := strings.CutPrefix(name, "header.")
		if !ok || header == "" {
			return &OptionError{name, "is unknown; known: base_url, stream, max_output_tokens, backoff_ms, max_answer_bytes, header.NAME"}
		}
		if o.Headers == nil {
			o.Headers = map[string]string{}
		}
		o.Headers[header] = value
	}
	return err
}

func parseBase(base string) (*url.URL, error) {
	u, err := url.Parse(base)
	switch {
	case err != nil:
		// The parser's error repeats the whole URL, which may hold a password.
		return nil, &OptionError{"base_url", "is no URL"}
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, &OptionError{"base_url", "is no URL that begins with http:// or https:// and a host"}
	case u.User != nil || u.RawQuery != "":
		return nil, &OptionError{"base_url", "holds a user or a query; put secrets in the key or in a header"}
	}
	return u, nil
}

// Endpoint is one model behind one account. It may be used from several
// goroutines.
type Endpoint struct {
	o       Options
	name    string
	url     string // requests go here
	client  *http.Client
	secrets []string
}

// Protocol is what differs between protocols before anything is said.
type Protocol struct {
	Name    string                                // begins the names of its models
	BaseURL string                                // when the options name none
	Path    string                                // of requests, below the base URL
	Auth    func(key string) (name, value string) // the header a key travels in
	Headers map[string]string                     // that every request needs
}

// New checks the options.
func New(p Protocol, o Options) (*Endpoint, error) {
	if o.Model == "" {
		return nil, &OptionError{"name", "is missing: which model?"}
	}
	o.BaseURL = strings.TrimRight(cmp.Or(o.BaseURL, p.BaseURL), "/")
	u, err := parseBase(o.BaseURL)
	if err != nil {
		return nil, err
	}
	o.Account = cmp.Or(o.Account, strings.TrimSuffix(u.Host+"/"+o.KeyName, "/"))
	o.IdleMS = cmp.Or(o.IdleMS, 120_000)
	o.WallMS = cmp.Or(o.WallMS, 900_000)
	o.Retries = cmp.Or(o.Retries, 3)
	o.BackoffMS = cmp.Or(o.BackoffMS, 1_000)
	o.MaxWaitMS = cmp.Or(o.MaxWaitMS, 10_000)
	o.MaxAnswerBytes = cmp.Or(o.MaxAnswerBytes, 4<<20)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	if o.Jitter == nil {
		o.Jitter = rand.Float64
	}
	e := &Endpoint{o: o, name: p.Name + ":" + o.Model, url: o.BaseURL + p.Path, secrets: []string{o.Key}}
	headers := http.Header{}
	for name, v := range p.Headers {
		headers.Set(name, v)
	}
	if o.Key != "" {
		headers.Set(p.Auth(o.Key))
	}
	for name, v := range o.Headers {
		headers.Set(name, v)
		e.secrets = append(e.secrets, v)
	}
	e.client = e.patientClient(o.HTTP, headers)
	return e, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Options are the options with their defaults filled in.
func (e *Endpoint) Options() Options { return e.o }

// Model is the name the records carry.
func (e *Endpoint) Model() string { return e.name }

// Account tells accounts apart for limits.
func (e *Endpoint) Account() string { return e.o.Account }

// Close drops idle connections. The endpoint may still be used afterwards.
func (e *Endpoint) Close() { e.client.CloseIdleConnections() }

// keyShape is what keys of the common providers look like, also masked.
var keyShape = lazyregexp.New(`\b(sk|pk|rk|gsk|xai|AIza)[-_][A-Za-z0-9_*.-]{4,}|(?i)\bbearer\s+\S+`)

// clean makes a text from outside fit for an error: one line, bounded, and
// without the secrets of this endpoint.
func (e *Endpoint) clean(s string) string {
	const limit = 400
	for _, secret := range e.secrets {
		// Shorter values are too likely to be part of ordinary words.
		if len(secret) >= 4 {
			s = strings.ReplaceAll(s, secret, "[secret]")
		}
	}
	s = keyShape.ReplaceAllString(s, "[secret]")
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f }), " ")
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "") + "…"
	}
	return strings.ToValidUTF8(s, "�")
}
