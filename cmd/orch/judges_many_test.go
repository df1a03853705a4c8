//go:build linux

package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"orch/roles/think/fakemodel"
)

// Whole goals of the real program, with judges and executors that behave well
// or badly in every way of the table. Whoever reads the log and the files
// finds, for each that ended well, that every required criterion holds and
// rests on what orch recorded; and the work that was done, and honestly judged,
// is accepted. With ORCH_TORTURE set there are 330.
func TestScriptedGoals(t *testing.T) {
	t.Parallel()
	n := 30
	if os.Getenv("ORCH_TORTURE") != "" {
		n = 330
	}
	sum := tally{}
	all := chosen(n)
	t.Run("goals", func(t *testing.T) {
		for i, g := range all {
			t.Run(fmt.Sprint(i+1), func(t *testing.T) {
				t.Parallel()
				sum.add(t, g, play(t, g))
			})
		}
	})
	t.Logf("%d goals\n%s", n, &sum)
	sum.both(t, n)
	showsAll(t, all)
}

// play runs one goal to its end and reads what it left.
func play(t *testing.T, g scripted) *goalRead {
	t.Helper()
	m := &mind{goal: g}
	srv := serve(t, []fakemodel.Rule{{Name: "all", Func: m.reply}})
	root := project(t, "models: "+g.transport.models(t, srv)+"\ncontroller: {policy: "+g.policy+"}"+strings.Replace(quick, "crashes: 1", "crashes: 1, corrections: 0", 1))
	for name, text := range g.shape.before {
		write(t, filepath.Join(root, name), text)
	}
	replans := "1"
	if g.shape.close { // v0.8 gives up in the last round before it looks how close it is
		replans = "2"
	}
	r := orch(t, root, "run", "--yes", "--max-replans", replans, "greet me")
	found, err := read(root)
	if err != nil {
		t.Fatal(err)
	}
	if found.accepted() != (r.code == 0) || r.code != 0 && r.code != 3 && r.code != 4 {
		t.Errorf("%s: exit %d of %q\n%s%s", g, r.code, found.final.Directive, r.out, r.err)
	}
	found.printed = r.out + r.err
	return found
}

// tally counts how goals ended.
type tally struct {
	mu                 sync.Mutex
	well, refused      map[string]int // rightly, by why
	wrongly, wronglyNo []string
}

func (s *tally) add(t *testing.T, g scripted, r *goalRead) {
	t.Helper()
	well, why := g.ends()
	wrong := r.wrong()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.well == nil {
		s.well, s.refused = map[string]int{}, map[string]int{}
	}
	switch accepted := r.accepted(); {
	case accepted && (!well || len(wrong) > 0):
		s.wrongly = append(s.wrongly, fmt.Sprintf("%s: %s %s", g, why, strings.Join(wrong, "; ")))
		t.Errorf("%s: wrongly accepted: %s %s\n%s", g, why, strings.Join(wrong, "\n"), r.printed)
	case !accepted && well:
		s.wronglyNo = append(s.wronglyNo, g.String())
		t.Errorf("%s: wrongly refused\n%s", g, r.printed)
	case accepted:
		s.well[r.final.Directive]++
	default:
		s.refused[why]++
	}
}

func (s *tally) String() string {
	var b strings.Builder
	for _, part := range []struct {
		name string
		by   map[string]int
	}{{"ended well rightly", s.well}, {"refused rightly", s.refused}} {
		fmt.Fprintf(&b, "%4d %s\n", total(part.by), part.name)
		for _, why := range slices.Sorted(maps.Keys(part.by)) {
			fmt.Fprintf(&b, "       %4d %s\n", part.by[why], why)
		}
	}
	fmt.Fprintf(&b, "%4d wrongly accepted %q\n%4d wrongly refused %q", len(s.wrongly), s.wrongly, len(s.wronglyNo), s.wronglyNo)
	return b.String()
}

func total(by map[string]int) (n int) {
	for _, v := range by {
		n += v
	}
	return n
}

// both asserts that the goals say something in both directions.
func (s *tally) both(t *testing.T, n int) {
	t.Helper()
	if t.Failed() {
		return
	}
	if total(s.well)+total(s.refused) != n || total(s.well) < n/5 || total(s.refused) < n/5 || s.well["success"] == 0 {
		t.Errorf("of %d goals too few end one way", n)
	}
}

// showsAll asserts that the goals chosen show every behaviour of the table.
func showsAll(t *testing.T, goals []scripted) {
	t.Helper()
	shown := map[[2]string]int{}
	for _, g := range goals {
		g.count(shown)
	}
	var all []string
	for _, j := range judges() {
		all = append(all, scripted{judge: j}.names()[0])
	}
	for _, e := range executors() {
		all = append(all, scripted{executor: e}.names()[1])
	}
	for _, tr := range transports() {
		all = append(all, scripted{transport: tr}.names()[2])
	}
	for _, s := range shapes() {
		all = append(all, scripted{shape: s}.names()[3])
	}
	for _, name := range all {
		if shown[[2]string{name}] == 0 {
			t.Errorf("no goal of %d shows %q", len(goals), name)
		}
	}
}
