package openai

import (
	"errors"
	"net/url"
	"strings"
	"sync"

	"orch/roles/think/endpoint"
	"orch/roles/think/model"
)

// terms are how a server is spoken to. The zero value is the whole protocol.
type terms struct {
	whole        bool // no streaming
	noUsage      bool // no stream_options
	oldMaxTokens bool // max_tokens in place of max_completion_tokens
	noMaxTokens  bool
	noStrict     bool // a schema as a wish
	jsonOnly     bool // JSON of any shape; the schema goes into the prompt
	noFormat     bool // no response_format at all; the schema goes into the prompt
	toolsInText  bool // tools described in the prompt, and calls read from the text
	noSystem     bool // the system text leads the first turn
}

// dialect is what a client learned about its server.
type dialect struct {
	mu      sync.Mutex
	swapped bool // the other name for the limit was tried
	terms
}

func newDialect(o endpoint.Options) *dialect {
	d := &dialect{}
	d.whole = o.Whole
	// OpenAI's newer models refuse the old name; many other servers ignore the
	// new one, which would leave the answer without a limit.
	if u, err := url.Parse(o.BaseURL); err != nil || !strings.HasSuffix(u.Hostname(), ".openai.com") {
		d.oldMaxTokens = true
	}
	return d
}

func (d *dialect) now() terms {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.terms
}

// drop leaves out what the server's error names, and tells whether that
// changes anything for this request. Each part is dropped once, so it comes to
// an end. The order goes from the most to the least telling name.
func (d *dialect) drop(f endpoint.Refusal, r model.Request) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if errors.Is(f.Err, endpoint.ErrNoStream) && !d.whole {
		d.whole = true
		return true
	}
	if f.Status < 400 {
		return false
	}
	limit := f.Names("max_completion_tokens", "max_tokens") && !d.noMaxTokens
	switch {
	case f.Names("stream_options") && !d.whole && !d.noUsage:
		d.noUsage = true
	case limit && !d.swapped && f.Names("unsupported", "not supported", "unrecognized", "unknown", "extra", "unexpected", "not permitted", "instead"):
		d.oldMaxTokens, d.swapped = !d.oldMaxTokens, true
	case limit && r.Bounded:
		return false
	case limit:
		d.noMaxTokens = true
	case r.Schema != nil && !d.noFormat && f.Names("response_format", "json_schema", "json schema", "structured", "guided", "grammar", "strict", "additionalproperties"):
		d.dropFormat()
	case len(r.Tools) > 0 && !d.toolsInText && f.Names("tool", "function"):
		d.toolsInText = true
	case r.System != "" && !d.noSystem && f.Names("system role", "'system'", "\"system\"", "system message", "developer instruction", "roles must alternate"):
		d.noSystem = true
	case !d.whole && f.Names("stream"):
		d.whole = true
	default:
		return false
	}
	return true
}

// dropFormat asks for a little less than before.
func (d *dialect) dropFormat() {
	switch {
	case !d.noStrict:
		d.noStrict = true
	case !d.jsonOnly:
		d.jsonOnly = true
	default:
		d.noFormat = true
	}
}
