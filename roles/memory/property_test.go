package memory

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"orch/blackboard/message"
	"orch/roles/loop"
)

// matrix are the rows of the specification that are written about pairs.
var matrix = []struct{ f, sigma, k float64 }{
	{0.95, -1, 0.05}, {0.90, 1, 0.05}, {0.85, -1, 0.05}, {0.80, 1, 0.05}, {0.75, 1, 0.05}, {0.30, 0, 0.2}, {0.10, 0.5, 0.5},
}

var somePairs = []Pair{pairA, pairB, intent, {"tool:a", "path:x:y"}, {"tool:a:path", "x"}, {"tool:检查", "path:世界"}}

// Whatever a store goes through, it says what a scan of the whole log says.
func TestTheStoreSaysWhatTheLogSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "memory")
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		}()
		w := openWorld(t, dir)
		defer func() { w.must(w.s.Close()) }()
		pairs := slices.Clone(somePairs)
		pair := func() Pair { return rapid.SampledFrom(pairs).Draw(t, "pair") }
		anyID := func() string {
			all := append(replay(w.log).all, &remembered{Megram: message.Megram{ID: "nobody"}})
			return rapid.SampledFrom(all).Draw(t, "id").ID
		}
		t.Repeat(map[string]func(*rapid.T){
			"learn": func(t *rapid.T) {
				row, p := rapid.SampledFrom(matrix).Draw(t, "row"), pair()
				for range rapid.IntRange(1, 8).Draw(t, "times") {
					w.megram(p, row.f, row.sigma, row.k)
				}
			},
			"declare": func(t *rapid.T) {
				text := rapid.SampledFrom([]string{"use yarn", "never use a:b", "世界"}).Draw(t, "text")
				w.say(message.Human, message.MemoryFact{Text: text, Tags: []string{"f"}})
				if p := (Pair{loop.FactSpace(text), "env:local"}); !slices.Contains(pairs, p) {
					pairs = append(pairs, p)
				}
			},
			"declare a rule": func(t *rapid.T) {
				p := pair()
				w.say(message.GGS, message.Megram{ID: w.id(), Level: LevelC, CreatedAt: w.now, Space: p.Space, Entity: p.Entity,
					F: 0.9, Sigma: rapid.SampledFrom([]float64{-1, 1}).Draw(t, "sigma")})
			},
			"feedback": func(t *rapid.T) { w.say(message.Planner, message.NegativeFeedback{RuleID: anyID(), Content: "no"}) },
			"recall":   func(t *rapid.T) { w.say(message.Memory, message.MemoryAnswer{Recalled: []string{anyID(), anyID()}}) },
			"forget":   func(t *rapid.T) { w.say(message.Human, message.MemoryForget{IDs: []string{anyID()}}) },
			"other":    func(t *rapid.T) { w.say(message.Human, message.HumanNote{}) },
			"wait": func(t *rapid.T) {
				w.now = w.now.Add(time.Duration(rapid.IntRange(1, 40*24).Draw(t, "hours")) * time.Hour)
			},
			"dream": func(t *rapid.T) {
				w.dream(rapid.SampledFrom([][]Phase{nil, {Forget}, {Bankrupt}, {Consolidate}, {Contradict}}).Draw(t, "phases")...)
			},
			"begin anew": func(t *rapid.T) {
				switch rapid.SampledFrom([]string{"reopen", "crash", "rebuild"}).Draw(t, "how") {
				case "reopen":
					w.close()
					w.open()
				case "crash":
					w.crash()
				case "rebuild":
					w.close()
					w.rebuild()
				}
			},
			"fall behind": func(t *rapid.T) {
				p := pair()
				w.write(message.GGS, message.Megram{ID: w.id(), Level: LevelM, CreatedAt: w.now, Space: p.Space, Entity: p.Entity, F: 0.85, Sigma: -1, K: 0.05})
				w.must(w.s.CatchUp(context.Background(), w.read))
			},
			"": func(t *rapid.T) {
				truth := replay(w.log)
				for _, p := range pairs {
					attention, decision := truth.potentials(p, w.now)
					got := w.potential(p)
					if math.Abs(got.Attention-attention) > 1e-8 || math.Abs(got.Decision-decision) > 1e-8 {
						t.Fatalf("%s: %v %v, want %v %v", p, got.Attention, got.Decision, attention, decision)
					}
					var ids []string
					for _, r := range w.rules(p) {
						ids = append(ids, r.ID)
					}
					if want := truth.rules(p); !slices.Equal(ids, want) {
						t.Fatalf("%s: rules %v, want %v", p, ids, want)
					}
				}
			},
		})
	})
}

// crash goes on with what the files hold now: nothing is flushed and nothing
// said goodbye. The copy is not of one moment, so it may be one that must be
// rebuilt; real kills are in kill_test.go.
func (w *world) crash() {
	w.t.Helper()
	image := w.dir + ".image"
	for { // a file may go while it is copied
		err := os.CopyFS(image, os.DirFS(w.dir))
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) {
			w.t.Fatalf("%v", err)
		}
		w.must(os.RemoveAll(image))
	}
	w.close()
	w.must(os.RemoveAll(w.dir))
	w.must(os.Rename(image, w.dir))
	s, err := Open(w.dir, w.o)
	var corrupt *CorruptError
	if errors.As(err, &corrupt) {
		w.rebuild()
		return
	}
	w.must(err)
	w.s = s
	w.must(w.s.CatchUp(context.Background(), w.read))
}
