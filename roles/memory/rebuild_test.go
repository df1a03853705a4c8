package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"orch/blackboard/message"
)

// lived is a store that has seen everything there is, in several tables.
func lived(t testing.TB) *world {
	w := newWorld(t)
	w.o.bufferBytes = 4 << 10
	w.close()
	w.open()
	for i := range 12 {
		w.megram(pairA, 0.9, 1, 0.05)
		w.megram(Pair{fmt.Sprintf("tool:%d", i), "path:y"}, 0.85, -1, 0.05)
		w.megram(pairB, 0.3, 0, 0.2)
	}
	fact := w.say(message.Human, message.MemoryFact{Text: "use yarn", Tags: []string{"t"}})
	w.dream()
	rule := w.rules(pairA)[0]
	w.say(message.Memory, message.MemoryAnswer{Recalled: []string{rule.ID, string(fact.ID)}})
	w.now = w.now.Add(30 * day)
	w.say(message.Planner, message.NegativeFeedback{RuleID: rule.ID, Content: "it failed"})
	w.say(message.Planner, message.NegativeFeedback{RuleID: string(fact.ID), Content: "we use npm"})
	for range 40 {
		w.megram(intent, 0.8, 1, 0.05)
		w.megram(Pair{"tool:gone", "path:gone"}, 0.1, 0.5, 0.5)
	}
	w.now = w.now.Add(6 * day)
	w.dream()
	w.say(message.Human, message.MemoryForget{IDs: []string{w.log[1].Body.(message.Megram).ID}})
	return w
}

// answers is everything a store can be asked, in bytes.
func (w *world) answers() (string, error) {
	q := message.MemoryQuery{Space: intent.Space, Entity: intent.Entity, Tags: []string{"t"}, Candidates: []message.Pair{pairA.message(), pairB.message()}}
	answer, err := w.s.Answer(q)
	if err != nil {
		return "", err
	}
	recent, err := w.s.Recent(context.Background(), "", true, 1000)
	if err != nil {
		return "", err
	}
	tagged, err := w.s.QueryByTags([]string{"t"})
	if err != nil {
		return "", err
	}
	b, err := json.Marshal([]any{answer, recent, tagged})
	if err != nil {
		return "", err
	}
	var yaml writes
	if err := w.s.Export(context.Background(), &yaml); err != nil {
		return "", err
	}
	return string(b) + "\n" + string(yaml), nil
}

type writes []byte

func (w *writes) Write(p []byte) (int, error) { *w = append(*w, p...); return len(p), nil }

func TestRebuiltFromNothingItAnswersTheSame(t *testing.T) {
	w := lived(t)
	want, err := w.answers()
	w.must(err)
	w.close()
	w.rebuild()
	if got, err := w.answers(); err != nil || got != want {
		t.Errorf("%v\ngot  %s\nwant %s", err, got, want)
	}
	if _, err := os.Stat(w.dir + asideSuffix); err != nil {
		t.Errorf("the old one is not aside: %v", err)
	}
	w.close()
	w.must(os.RemoveAll(w.dir))
	w.open()
	w.must(w.s.CatchUp(context.Background(), w.read))
	if got, err := w.answers(); err != nil || got != want {
		t.Errorf("after deleting: %v\ngot  %s\nwant %s", err, got, want)
	}
}

// Whatever happens to a file of the store, it answers the same or says that it
// is damaged, and rebuilt it answers the same.
func TestDamageIsNoticedOrHarmless(t *testing.T) {
	w := lived(t)
	want, err := w.answers()
	w.must(err)
	w.close()
	healthy := w.dir + ".healthy"
	w.must(os.Rename(w.dir, healthy))
	files, err := os.ReadDir(healthy)
	w.must(err)
	tables, noticed, n := 0, 0, 0
	for _, f := range files {
		if filepath.Ext(f.Name()) == ".ldb" {
			tables++
		}
		whole, err := os.ReadFile(filepath.Join(healthy, f.Name()))
		w.must(err)
		for what, damaged := range damages(whole) {
			if n++; raced && n%5 != 0 {
				continue
			}
			w.must(os.CopyFS(w.dir, os.DirFS(healthy)))
			path := filepath.Join(w.dir, f.Name())
			if damaged == nil {
				w.must(os.Remove(path))
			} else {
				w.must(os.WriteFile(path, damaged, 0o644))
			}
			if w.survive(fmt.Sprintf("%s %s", f.Name(), what), want) {
				noticed++
			}
			w.must(os.RemoveAll(w.dir))
		}
	}
	if tables < 2 || noticed == 0 {
		t.Errorf("%d tables, damage noticed %d times: this test shows nothing", tables, noticed)
	}
	w.open() // for the clean-up
}

func damages(whole []byte) map[string][]byte {
	list := map[string][]byte{"removed": nil, "emptied": {}}
	for i := range 8 {
		at := len(whole) * i / 8
		list[fmt.Sprintf("cut at %d", at)] = whole[:at:at]
		if len(whole) > 0 {
			flipped := append([]byte{}, whole...)
			flipped[at] ^= 0x10
			list[fmt.Sprintf("flipped at %d", at)] = flipped
			zeroed := append([]byte{}, whole...)
			clear(zeroed[at:])
			list[fmt.Sprintf("zeroed from %d", at)] = zeroed
		}
	}
	return list
}

// survive opens a damaged store as a caller does, and tells whether it was noticed.
func (w *world) survive(what, want string) (noticed bool) {
	w.t.Helper()
	s, err := Open(w.dir, w.o)
	var got string
	if err == nil {
		w.s = s
		if err = s.CatchUp(context.Background(), w.read); err == nil {
			got, err = w.answers()
		}
		if closing := s.Close(); err == nil {
			err = closing
		}
	}
	var corrupt *CorruptError
	if errors.As(err, &corrupt) {
		noticed = true
		w.rebuild()
		got, err = w.answers()
		w.close()
	}
	if err != nil {
		w.t.Fatalf("%s: %v", what, err)
	}
	if got != want {
		w.t.Fatalf("%s: noticed %v\ngot  %s\nwant %s", what, noticed, got, want)
	}
	return noticed
}

func TestARebuildThatIsKilledIsGoneOnWith(t *testing.T) {
	w := lived(t)
	want, err := w.answers()
	w.must(err)
	w.close()
	ctx, stop := context.WithCancel(context.Background())
	o, flushes := w.o, 0
	o.hook = func(string) {
		if flushes++; flushes == 5 {
			stop()
		}
	}
	if _, _, err := Rebuild(ctx, w.dir, o, w.read); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	w.open()
	if at := w.s.At().Seq; at == 0 || at >= uint64(len(w.log)) {
		t.Fatalf("at %d of %d", at, len(w.log))
	}
	w.must(w.s.CatchUp(context.Background(), w.read))
	if got, err := w.answers(); err != nil || got != want {
		t.Errorf("%v\ngot  %s\nwant %s", err, got, want)
	}
}
