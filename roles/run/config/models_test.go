package config

import (
	"errors"
	"math"
	"strings"
	"testing"
)

func TestModelsAreCheckedWithTheirLine(t *testing.T) {
	for name, c := range map[string]struct {
		yaml string
		line int
		want string
	}{
		"no such entry":      {"models:\n  default:\n    backend: exec\n    fallback: cheap\n", 4, `there is no entry "cheap"`},
		"circle":             {"models:\n  default:\n    backend: exec\n    fallback: a\n  a: {backend: exec, fallback: default}\n", 5, "leads back to itself"},
		"playbook falls":     {"models:\n  default:\n    backend: playbook\n    fallback: a\n  a: {backend: exec}\n", 4, "neither has nor is"},
		"unknown role":       {"models:\n  default: {backend: playbook}\n  planer: {backend: exec}\n", 3, "neither a role nor the fallback"},
		"no name":            {"models:\n  planner: {backend: openai}\n", 2, "needs the name of a model"},
		"tier":               {"models:\n  planner:\n    backend: exec\n    tier: 4\n", 4, "allowed: 1 to 3"},
		"price":              {"prices:\n  gpt: {in: -1, out: 2}\n", 2, "prices.gpt.in is -1"},
		"cached price":       {"prices:\n  gpt: {in: 1, out: 2, cached: .inf}\n", 2, "prices.gpt.cached"},
		"unknown price key":  {"prices:\n  gpt: {input: 1}\n", 2, `unknown key "input"`},
		"cap of no role":     {"budget:\n  role:\n    planer: 1\n", 3, "no such role"},
		"cap of a role":      {"budget:\n  role:\n    planner: .nan\n", 3, "allowed: 0 to"},
		"unknown model key":  {"models:\n  planner: {backend: exec, nane: x}\n", 2, `unknown key "nane"`},
		"negative task cap":  {"budget:\n  task: -1\n", 2, "budget.task is -1"},
		"idle out of range":  {"limits:\n  model_idle_ms: 0\n", 2, "allowed: 10 to"},
		"pause out of range": {"limits:\n  pause_ms: 1\n", 2, "allowed: 100 to"},
	} {
		_, err := Parse("config.yaml", []byte(c.yaml))
		var e *Error
		if !errors.As(err, &e) || e.Line != c.line || !strings.Contains(e.What, c.want) {
			t.Errorf("%s: got %v (line %d), want line %d and %q", name, err, lineOfErr(e), c.line, c.want)
		}
	}
}

func TestModelsThatAreTaken(t *testing.T) {
	c, err := Parse("f", []byte("models:\n  default: {backend: openai, name: m, fallback: local}\n  local: {backend: openai, name: n, account: home}\n"+
		"prices:\n  m: {in: 1, out: 10, cached: 0.5}\nbudget:\n  role: {planner: 2}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if c.Models["local"].Account != "home" || c.Budget.Role["planner"] != 2 || c.Budget.FoundCap != 5 {
		t.Errorf("got %+v", c)
	}
}

func TestPricesAreFoundByTheLongestName(t *testing.T) {
	c := Default()
	c.Prices = map[string]Price{"a:x-1": {In: 1}, "x-1": {In: 2}, "x-*": {In: 3}, "x-10*": {In: 4}, "*": {In: 5}}
	for model, want := range map[string]float64{"a:x-1": 1, "b:x-1": 2, "x-1": 2, "b:x-2": 3, "b:x-10-large": 4, "y": 5} {
		if p, ok := c.PriceOf(model); !ok || p.In != want {
			t.Errorf("%s: %v %v, want %g", model, p, ok, want)
		}
	}
	delete(c.Prices, "*")
	if p, ok := c.PriceOf("y"); ok {
		t.Errorf("a price out of nothing: %v", p)
	}
}

func TestCostOfTokens(t *testing.T) {
	cached := 0.1
	p := Price{In: 1, Out: 10, Cached: &cached}
	if got := p.Cost(1_000_000, 500_000, 100_000); math.Abs(got-1.55) > 1e-9 {
		t.Errorf("got %g, want 0.5 + 0.05 + 1", got)
	}
	if got := (Price{In: 1}).Cost(100, 1000, 0); math.Abs(got-0.0001) > 1e-12 {
		t.Errorf("more cached than input: %g", got)
	}
}
