package anthropic

import (
	"errors"
	"strconv"
	"sync"

	"orch/blackboard/lazyregexp"
	"orch/roles/think/endpoint"
	"orch/roles/think/model"
)

// terms are how a server is spoken to. The zero value is the whole protocol.
type terms struct {
	whole     bool  // no streaming
	noCache   bool  // no cache_control
	noForce   bool  // the answer's tool is offered, not forced
	noTool    bool  // the schema goes into the prompt, and no tool for it
	maxTokens int64 // what the server says is its most; 0: it did not say
}

// dialect is what a client learned about its server.
type dialect struct {
	mu sync.Mutex
	terms
}

func newDialect(o endpoint.Options) *dialect { return &dialect{terms: terms{whole: o.Whole}} }

func (d *dialect) now() terms {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.terms
}

// most finds the number in messages such as "max_tokens: 9000 > 4096, which is
// the maximum allowed".
var most = lazyregexp.New(`(?:> |at most |maximum of |maximum is |<= ?)(\d+)`)

// drop leaves out what the server's error names, and tells whether that
// changes anything for this request. Each part is dropped once, so it comes to
// an end.
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
	switch {
	case f.Names("max_tokens") && d.maxTokens == 0:
		n, ok := limitIn(f.Find(most))
		d.maxTokens = n
		return ok
	case f.Names("cache_control") && !d.noCache:
		d.noCache = true
	case r.Schema != nil && !d.noForce && f.Names("tool_choice", "forces tool use", "tool use forc"):
		d.noForce = true
	case r.Schema != nil && !d.noTool && f.Names("tool", "input_schema", "schema"):
		d.noTool = true
	case !d.whole && f.Names("stream"):
		d.whole = true
	default:
		return false
	}
	return true
}

func limitIn(found []string) (int64, bool) {
	if len(found) < 2 {
		return 0, false
	}
	n, err := strconv.ParseInt(found[1], 10, 64)
	return n, err == nil && n > 0
}
