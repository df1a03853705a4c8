package memory

import (
	"math"
	"testing"
	"time"
)

// The values are worked out by hand: f, and what is left of it after so many
// days, exp(-k·days).
func TestDecay(t *testing.T) {
	for _, c := range []struct {
		k, days, want float64
	}{
		{0.05, 0, 1}, {0.05, 14, 0.4965853}, {0.2, 3.5, 0.4965853}, {0.5, 1.4, 0.4965853}, // half-lives of the page
		{0.05, 200, 0.0000453999}, {0, 10000, 1}, {0.05, -30, 1}, {-1, 100, 1},
	} {
		got := Decay(c.k, time.Duration(c.days*float64(day)))
		if math.Abs(got-c.want) > 1e-7 {
			t.Errorf("k %g after %g days: %g, want %g", c.k, c.days, got, c.want)
		}
	}
}

func TestPotentials(t *testing.T) {
	ago := func(days float64) time.Time { return noon.Add(-time.Duration(days * float64(day))) }
	abandon := Weights{0.95, -1, 0.05, noon}
	accept := Weights{0.90, 1, 0.05, noon}
	wrong := Weights{0.85, -1, 0.05, noon}
	success := Weights{0.80, 1, 0.05, noon}
	breakthrough := Weights{0.75, 1, 0.05, noon}
	deadEnd := Weights{0.30, 0, 0.2, noon}
	better := Weights{0.10, 0.5, 0.5, noon}
	old := func(w Weights, days float64) Weights { w.Since = ago(days); return w }
	for name, c := range map[string]struct {
		entries             []Weights
		attention, decision float64
		action              Action
	}{
		"nothing":                   {nil, 0, 0, Ignore},
		"abandon":                   {[]Weights{abandon}, 0.95, -0.95, Avoid},
		"accept":                    {[]Weights{accept}, 0.9, 0.9, Exploit},
		"change_approach":           {[]Weights{wrong}, 0.85, -0.85, Avoid},
		"success":                   {[]Weights{success}, 0.8, 0.8, Exploit},
		"break_symmetry":            {[]Weights{breakthrough}, 0.75, 0.75, Exploit},
		"one dead end":              {[]Weights{deadEnd}, 0.3, 0, Ignore},
		"two dead ends":             {[]Weights{deadEnd, deadEnd}, 0.6, 0, Caution},
		"refine":                    {[]Weights{better}, 0.1, 0.05, Ignore},
		"five refines":              {[]Weights{better, better, better, better, better}, 0.5, 0.25, Exploit},
		"for and against":           {[]Weights{success, wrong}, 1.65, -0.05, Caution},
		"a failure 14 days old":     {[]Weights{old(wrong, 14)}, 0.42209750, -0.42209750, Ignore},
		"a failure 10 days old":     {[]Weights{old(wrong, 10)}, 0.51555106, -0.51555106, Avoid},
		"a failure 200 days old":    {[]Weights{old(wrong, 200)}, 0.00003859, -0.00003859, Ignore},
		"an old failure, a success": {[]Weights{old(wrong, 14), success}, 1.2220975, 0.3779025, Exploit},
	} {
		attention, decision := Potentials(c.entries, noon)
		if math.Abs(attention-c.attention) > 1e-8 || math.Abs(decision-c.decision) > 1e-8 {
			t.Errorf("%s: attention %.9f decision %.9f, want %.9f %.9f", name, attention, decision, c.attention, c.decision)
		}
		if got := Defaults().ActionOf(attention, decision); got != c.action {
			t.Errorf("%s: %s, want %s", name, got, c.action)
		}
	}
}

func TestActionBorders(t *testing.T) {
	const tick = 1e-6
	for _, c := range []struct {
		attention, decision float64
		want                Action
	}{
		{0.5 - tick, 1, Ignore}, {0.5 - tick, -1, Ignore}, {0.5, 0, Caution},
		{0.5, 0.2, Caution}, {0.5, 0.2 + tick, Exploit}, {0.5, -0.2, Caution}, {0.5, -0.2 - tick, Avoid},
		{0.1 + 0.1 + 0.1 + 0.1 + 0.1, 0.3 - 0.1, Caution}, // 0.3-0.1 is 0.19999999999999998
		{0.5 - 1e-12, 0, Caution}, {0.7, 0.2 + 1e-12, Caution},
	} {
		if got := Defaults().ActionOf(c.attention, c.decision); got != c.want {
			t.Errorf("attention %v, decision %v: %s, want %s", c.attention, c.decision, got, c.want)
		}
	}
}

func TestPromotionAndForgettingBorders(t *testing.T) {
	const tick = 1e-6
	p := Defaults()
	for _, c := range []struct {
		attention, decision float64
		want                bool
	}{
		{5, 3, true}, {5, -3, true}, {5 - tick, 5 - tick, false}, {100, 3 - tick, false}, {100, -3 + tick, false}, {5 - 1e-12, 3 - 1e-12, true},
	} {
		if got := p.promotes(c.attention, c.decision); got != c.want {
			t.Errorf("attention %v, decision %v: promotes %v", c.attention, c.decision, got)
		}
	}
	for attention, want := range map[float64]bool{0: true, 0.1 - tick: true, 0.1: false, 0.1 - 1e-12: false, 1: false} {
		if got := p.fades(attention); got != want {
			t.Errorf("attention %v: fades %v", attention, got)
		}
	}
}

// How many results of one kind make a rule: the arithmetic in docs/memory.md.
func TestHowManyMakeARule(t *testing.T) {
	for _, c := range []struct {
		f, daysApart float64
		want         int // 0: never
	}{
		{0.95, 0, 6}, {0.90, 0, 6}, {0.85, 0, 6}, {0.80, 0, 7}, {0.75, 0, 7},
		{0.95, 1, 6}, {0.90, 1, 7}, {0.85, 1, 7}, {0.80, 1, 8}, {0.75, 1, 8},
		{0.95, 3, 9}, {0.85, 3, 12}, {0.75, 3, 18}, {0.95, 4, 16}, {0.85, 4, 0}, {0.80, 4, 0}, {0.75, 4, 0},
		{0.90, 3, 10}, {0.80, 3, 14}, {0.90, 3.9, 22}, {0.90, 4, 0}, {0.80, 3.5, 0}, {0.80, 7, 0},
	} {
		got := 0
		var entries []Weights
		for n := 1; n <= 200 && got == 0; n++ {
			at := noon.Add(time.Duration(float64(n) * c.daysApart * float64(day)))
			entries = append(entries, Weights{c.f, 1, 0.05, at})
			if Defaults().promotes(Potentials(entries, at)) {
				got = n
			}
		}
		if got != c.want {
			t.Errorf("f %g every %g days: %d, want %d", c.f, c.daysApart, got, c.want)
		}
	}
}
