package think

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

const onRecord = "[on record: this call was made before the attempt was cut off. It was not made again; make it once more only if it is meant to happen twice]\n"

// Once makes a call for a backend that decides by itself what to call. A call
// with an effect that is on record from before the backend began is answered
// from the record the first time: who was told of it and calls it all the same
// most likely does what was done already.
func Once(ctx context.Context, tools Tools, tool string, input json.RawMessage) (ToolResult, error) {
	if record, ok := tools.(Recorder); ok {
		if done, known := record.Recall(tool, input); known && !done.Idempotent {
			r := done.Result()
			r.Output = onRecord + r.Output
			return r, nil
		}
	}
	return tools.Do(ctx, tool, input)
}

// GoOn is what a backend that is told in words is told of the calls on record.
const GoOn = "An earlier try at this was cut off. The calls below were made: what ended has had its effect, so do not make it again, go on behind it. Where the end is unknown, look first whether it took effect."

// Told lists calls as they would have stood in a conversation.
func Told(done []Done) string {
	var b strings.Builder
	for _, d := range done {
		fmt.Fprintf(&b, "$ %s\n", short(d.Name(), 300))
		if d.Doubt {
			b.WriteString("[its end is unknown]\n")
		} else {
			fmt.Fprintf(&b, "[exit %d]\n%s\n", d.Exit, short(d.Output, 600))
		}
		for _, call := range d.Seen {
			fmt.Fprintf(&b, "  seen: %s\n", short(call, 200))
		}
		b.WriteString("\n")
	}
	return strings.TrimSpace(b.String())
}

// short keeps the head and the tail of a text.
func short(s string, most int) string {
	r := []rune(strings.TrimSpace(s))
	if len(r) <= most {
		return string(r)
	}
	return string(r[:most/2]) + " […] " + string(r[len(r)-most/2:])
}
