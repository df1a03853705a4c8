package memory

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"testing"
	"time"

	"orch/blackboard/message"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

const day = 24 * time.Hour

// tb is what testing.T and rapid.T have in common.
type tb interface {
	Helper()
	Fatalf(format string, args ...any)
}

// world is a log in memory, a clock, and a store of it.
type world struct {
	t   tb
	dir string
	now time.Time
	log []message.Message
	s   *Store
	ids int
	o   Options
}

func newWorld(t testing.TB) *world {
	w := openWorld(t, t.TempDir())
	t.Cleanup(func() { w.close() })
	return w
}

func openWorld(t tb, dir string) *world {
	w := &world{t: t, dir: filepath.Join(dir, "memory"), now: noon}
	w.o = Options{Now: func() time.Time { return w.now }, NewID: w.id, bufferBytes: 64 << 10}
	w.open()
	return w
}

func (w *world) id() string {
	w.ids++
	return fmt.Sprintf("id-%03d", w.ids)
}

func (w *world) open() {
	w.t.Helper()
	s, err := Open(w.dir, w.o)
	w.must(err)
	w.s = s
}

func (w *world) close() {
	w.t.Helper()
	w.must(w.s.Close())
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatalf("%v", err)
	}
}

// write puts a message into the log only.
func (w *world) write(from message.Role, body message.Body) message.Message {
	m := message.Message{Seq: uint64(len(w.log) + 1), TS: w.now, ID: message.ID(w.id()), From: from, Body: body}
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", m.Seq, m.ID))
	m.Hash = hex.EncodeToString(sum[:])
	w.log = append(w.log, m)
	return m
}

// say puts it into the store too.
func (w *world) say(from message.Role, body message.Body) message.Message {
	w.t.Helper()
	m := w.write(from, body)
	w.must(w.s.Apply(context.Background(), []message.Message{m}))
	return m
}

func (w *world) read(from uint64) iter.Seq2[message.Message, error] {
	return func(yield func(message.Message, error) bool) {
		for _, m := range w.log {
			if m.Seq >= from && !yield(m, nil) {
				return
			}
		}
	}
}

// megram is what the controller writes about a pair.
func (w *world) megram(p Pair, f, sigma, k float64) message.Megram {
	w.t.Helper()
	m := message.Megram{
		ID: w.id(), Level: LevelM, CreatedAt: w.now, Space: p.Space, Entity: p.Entity,
		Content: message.MegramContent{Lesson: "lesson of " + p.String(), Tags: []string{"t"}, Category: categoryProcedure},
		F:       f, Sigma: sigma, K: k, Ordinal: 1,
	}
	w.say(message.GGS, m)
	return m
}

func (w *world) dream(phases ...Phase) Dreamt {
	w.t.Helper()
	did, err := w.s.Dream(context.Background(), Pass{Phases: phases, Say: w.sayIt})
	w.must(err)
	return did
}

func (w *world) sayIt(ctx context.Context, b message.Body) error {
	w.write(message.Memory, b)
	return w.s.CatchUp(ctx, w.read)
}

func (w *world) rebuild() {
	w.t.Helper()
	s, _, err := Rebuild(context.Background(), w.dir, w.o, w.read)
	w.must(err)
	w.s = s
}

func (w *world) export() string {
	w.t.Helper()
	var b bytes.Buffer
	w.must(w.s.Export(context.Background(), &b))
	return b.String()
}

func (w *world) potential(p Pair) message.Potential {
	w.t.Helper()
	got, err := w.s.QueryMK(p.Space, p.Entity)
	w.must(err)
	return got
}

func (w *world) rules(p Pair) []message.SOPRecord {
	w.t.Helper()
	got, err := w.s.QueryC(p.Space, p.Entity)
	w.must(err)
	return got
}

var (
	pairA  = Pair{"tool:a", "path:x"}
	pairB  = Pair{"tool:b", "path:x"}
	intent = Pair{"intent:make_the_tests", "env:local"}
)

var errStop = errors.New("stop")
