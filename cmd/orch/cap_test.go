package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"testing"

	"orch/roles/think/fakemodel"
)

// capTokens is the limit of output in the trial of caps: a question of a share
// of the cap costs that much if the answer is as long as it may be.
const capTokens = 4000

// meteredModel is a server that says what each answer took, and adds it up by
// itself. Every answer is as long as the request allows.
type meteredModel struct {
	mu      sync.Mutex
	perIn   float64 // US dollars a token
	perOut  float64
	usd     float64
	largest float64
	asked   int
	endless int // requests without a limit of output
	loses   int // of how many answers one is lost on its way; 0: none
}

// rule answers as another one does, and counts.
func (m *meteredModel) rule(r fakemodel.Rule) fakemodel.Rule {
	reply := *r.Reply
	r.Reply, r.Func = nil, func(q fakemodel.Request) fakemodel.Reply {
		p := reply
		var body struct {
			Old int64 `json:"max_tokens"`
			New int64 `json:"max_completion_tokens"`
		}
		_ = json.Unmarshal(q.Body, &body) // without a limit it is 0
		p.Usage = fakemodel.Usage{Input: int64(len(q.Body)) / 3, Output: max(body.Old, body.New)}
		m.mu.Lock()
		defer m.mu.Unlock()
		if p.Usage.Output == 0 {
			p.Usage.Output = 2 * capTokens
			m.endless++
		}
		usd := float64(p.Usage.Input)*m.perIn + float64(p.Usage.Output)*m.perOut
		m.usd, m.largest, m.asked = m.usd+usd, max(m.largest, usd), m.asked+1
		if m.loses > 0 && m.asked%m.loses == 0 {
			p.Fault = fakemodel.Fault{Kind: fakemodel.Reset}
		}
		return p
	}
	return r
}

// manyReaders is a goal of tasks that read the same file over and over.
func manyReaders(tasks int) []fakemodel.Rule {
	var list []string
	for i := range tasks {
		list = append(list, fmt.Sprintf(`{"slot":"s%d","intent":"read note %d","approach":"read","target":"note%d.txt","targets":["note%d.txt"],"read_only":true,
 "criteria":[{"criterion":"it was read"}]}`, i, i, i, i))
	}
	return []fakemodel.Rule{
		says("perceiver", asPerceiver, `{"intent":"read the notes","tags":["notes"]}`),
		says("candidates", asCandidates, `{"candidates":[{"tool":"read","target":"note0.txt"}]}`),
		says("planner", asPlanner, `{"task_criteria":[{"criterion":"all was read"}],"tasks":[`+strings.Join(list, ",")+`]}`),
		{Name: "executor", When: fakemodel.When{System: asExecutor}, Reply: calls("read_file", map[string]any{"path": "note.txt"})},
		says("validator", asValidator, `{"word":"{{word}}","verdict":"pass","evidence":"it says so","record":"R1","quote":"a note"}`),
		says("meta-validator", asMeta, `{"word":"{{word}}","verdict":"pass","evidence":"it says so","record":"R1","quote":"a note"}`),
		says("merger", asMerger, `{"summary":"read","output":"all was read"}`),
		says("next moves", asNextMoves, `{"next_moves":["read more"]}`),
	}
}

// TestACapIsNeverPassed lets many steps at once ask questions of a share of the
// cap each. By the server's own count no cap is passed, and where questions are
// small nearly all of it can be used. ORCH_TORTURE plays all cases.
func TestACapIsNeverPassed(t *testing.T) {
	t.Parallel()
	type trial struct {
		backend     int
		jobs, loses int
		share       float64
	}
	trials := []trial{{0, 8, 0, 0.1}, {0, 8, 4, 0.05}, {1, 8, 0, 0.6}}
	if os.Getenv("ORCH_TORTURE") != "" {
		trials = nil
		for _, backend := range []int{0, 1} {
			for _, jobs := range []int{1, 4, 8, 16} {
				for _, share := range []float64{0.01, 0.05, 0.1, 0.25, 0.6} {
					trials = append(trials, trial{backend, jobs, 0, share}, trial{backend, jobs, 4, share})
				}
			}
		}
	}
	for _, c := range trials {
		b := backends[c.backend]
		t.Run(fmt.Sprintf("%s %d jobs %g loses %d", b.name, c.jobs, c.share, c.loses), func(t *testing.T) {
			t.Parallel()
			tryCap(t, b.backend, b.path, c.jobs, c.loses, c.share)
		})
	}
}

func tryCap(t *testing.T, backend, path string, jobs, loses int, share float64) {
	const limit = 1.0
	m := &meteredModel{perIn: 1e-9, perOut: share * limit / capTokens, loses: loses}
	rules := manyReaders(16)
	for i := range rules {
		rules[i] = m.rule(rules[i])
	}
	srv := serve(t, rules)
	root := project(t, fmt.Sprintf(`models: {default: {backend: %s, name: fake, options: {base_url: %q, max_output_tokens: "%d", backoff_ms: "10"}}}
limits: {model_turns: 500, outage_ms: 0}
prices: {"fake*": {in: %g, out: %.9f}}
`, backend, srv.URL()+path, capTokens, m.perIn*1e6, m.perOut*1e6))
	write(t, root+"/note.txt", "a note\n")
	orch(t, root, "run", "--max-cost", fmt.Sprint(limit), "--jobs", fmt.Sprint(jobs), "read the notes").want(t, 4, "the cap on cost is reached")
	m.mu.Lock()
	defer m.mu.Unlock()
	_, total := costs(t, root, "goal")
	t.Logf("%2d jobs, questions of %4.0f %%, loses 1 of %d: %3d asked, used %.1f %%, largest %.1f %%", jobs, share*100, loses, m.asked, m.usd/limit*100, m.largest/limit*100)
	if m.usd > limit+1e-9 || m.endless > 0 {
		t.Errorf("the server counts $%.4f under a cap of $%g, %d questions had no limit", m.usd, limit, m.endless)
	}
	if share <= 0.1 && m.usd < 0.9*limit {
		t.Errorf("only $%.4f of $%g could be used", m.usd, limit)
	}
	// What was lost counts at its greatest cost: never less than it did cost.
	if counted := total.CostUSD + total.DoubtUSD; counted < m.usd-1e-9 || counted > limit+1e-9 || loses == 0 && math.Abs(total.CostUSD-m.usd) > 1e-6 {
		t.Errorf("orch counts $%.6f and at most $%.6f more, the server $%.6f", total.CostUSD, total.DoubtUSD, m.usd)
	}
	orch(t, root, "board", "verify").want(t, 0)
}
