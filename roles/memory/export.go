package memory

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"orch/blackboard/message"
)

// Known is what is known about a pair, and from how many entries.
type Known struct {
	Pair      Pair
	Entries   int
	Potential message.Potential
}

// Pairs calls each with every pair about which something counts, in a fixed
// order.
func (s *Store) Pairs(ctx context.Context, each func(Known) error) error {
	d := &dreamer{s: s}
	return d.pairs(ctx, func(_ context.Context, t tally) error {
		return each(Known{t.pair, t.count, s.o.Params.potential(t.pair.message(), t.known)})
	})
}

const exportHead = `# What this project has learned: its rules, and the pairs that are not forgotten.
# Written by "orch memory export"; what is changed here is not read back.
`

// Export writes memory.yaml: every rule, and the potentials of every pair that
// is not forgotten, as of now. The same log and the same time give the same bytes.
func (s *Store) Export(ctx context.Context, to io.Writer) error {
	w := &yamlWriter{w: bufio.NewWriter(to)}
	w.line(strings.TrimSuffix(exportHead, "\n"))
	w.line("as_of: " + s.o.Now().UTC().Format(time.RFC3339))
	w.line("rules:")
	d := &dreamer{s: s}
	err := d.pairs(ctx, func(_ context.Context, t tally) error { return s.exportRules(w, t) })
	if err != nil {
		return fmt.Errorf("export the memory: %w", err)
	}
	w.line("potentials:")
	err = s.Pairs(ctx, func(k Known) error {
		if !s.o.Params.fades(k.Potential.Attention) {
			w.potential(k)
		}
		return w.err
	})
	if err != nil {
		return fmt.Errorf("export the memory: %w", err)
	}
	if err := w.w.Flush(); err != nil {
		return fmt.Errorf("export the memory: %w", err)
	}
	return nil
}

func (s *Store) exportRules(w *yamlWriter, t tally) error {
	for _, r := range slices.SortedFunc(slices.Values(t.rules), newestFirst) {
		e, err := s.Get(r.id)
		if err != nil {
			return err
		}
		w.rule(e)
	}
	return w.err
}

// yamlWriter writes lines until one fails. Strings are written as JSON, which
// is YAML too.
type yamlWriter struct {
	w   *bufio.Writer
	err error
}

func (w *yamlWriter) line(parts ...string) {
	for _, p := range append(parts, "\n") {
		if w.err == nil {
			_, w.err = w.w.WriteString(p)
		}
	}
}

func (w *yamlWriter) quoted(v any) string {
	b, err := json.Marshal(v)
	if err != nil && w.err == nil {
		w.err = err
	}
	return string(b)
}

func (w *yamlWriter) pair(p Pair) {
	w.line("  - space: ", w.quoted(p.Space))
	w.line("    entity: ", w.quoted(p.Entity))
}

func (w *yamlWriter) rule(e Entry) {
	m := e.Megram
	w.pair(e.Pair())
	w.line("    id: ", w.quoted(m.ID))
	w.line("    lesson: ", w.quoted(m.Content.Lesson))
	w.line("    category: ", w.quoted(m.Content.Category))
	if len(m.Content.Tags) > 0 {
		w.line("    tags: ", w.quoted(m.Content.Tags))
	}
	w.line("    f: ", number(e.Weights.F))
	w.line("    sigma: ", number(e.Weights.Sigma))
	w.line("    created_at: ", m.CreatedAt.UTC().Format(time.RFC3339))
	if !e.Recalled.IsZero() {
		w.line("    last_recalled_at: ", e.Recalled.UTC().Format(time.RFC3339))
	}
}

func (w *yamlWriter) potential(k Known) {
	w.pair(k.Pair)
	w.line("    entries: ", strconv.Itoa(k.Entries))
	w.line("    attention: ", number(k.Potential.Attention))
	w.line("    decision: ", number(k.Potential.Decision))
	w.line("    action: ", k.Potential.Action)
}

// number has four places at most: what changes below is no news in a diff.
func number(x float64) string {
	s := strings.TrimRight(strconv.FormatFloat(x, 'f', 4, 64), "0")
	if s = strings.TrimSuffix(s, "."); s == "-0" {
		return "0"
	}
	return s
}
