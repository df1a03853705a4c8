package config

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Model says what a role thinks or acts with.
type Model struct {
	Backend  string            `yaml:"backend" json:"backend"`             // playbook, openai, anthropic, acp or exec
	Name     string            `yaml:"name" json:"name,omitempty"`         // of the model, as its provider calls it
	Tier     int               `yaml:"tier" json:"tier,omitempty"`         // 1 to 3, higher reasons better; 0 counts as 1
	Account  string            `yaml:"account" json:"account,omitempty"`   // what is paused together; derived when empty
	Fallback string            `yaml:"fallback" json:"fallback,omitempty"` // entry that takes over when this one cannot answer
	Options  map[string]string `yaml:"options" json:"options,omitempty"`   // of the backend, see docs/models.md
}

// Price is what a model costs, in US dollars a million tokens.
type Price struct {
	In     float64  `yaml:"in"`
	Out    float64  `yaml:"out"`
	Cached *float64 `yaml:"cached"` // input the provider had in its cache; as In when unset
}

// DefaultModel is the entry of every role that has none of its own.
const DefaultModel = "default"

var backends = []string{"playbook", "openai", "anthropic", "acp", "exec"}

// thinkers are the roles that may be given a model.
var thinkers = []string{"perceiver", "planner", "executor", "agent-validator", "meta-validator", "ggs", "memory",
	"coder", "code-reviewer", "plan-reviewer", "validator", "crosscheck", "ui-qa", "orchestrator", "architect", "curator"}

// Rooted returns the configuration with the programs of agents that are named
// relative to the project, as ./review.sh is, under root: an agent works in a
// worktree, and a judge in an empty folder. A name without a slash is looked for
// on PATH, and arguments stay as they are.
func (c Config) Rooted(root string) (Config, error) {
	if !filepath.IsAbs(root) {
		return c, nil
	}
	models := maps.Clone(c.Models)
	for entry, m := range models {
		word, rest := m.Options["command"], ""
		if m.Options["preset"] == "" { // then it is a line as a shell reads it
			if end := strings.IndexAny(word, " \t\n"); end >= 0 {
				word, rest = word[:end], word[end:]
			}
			if strings.ContainsAny(word, "'\"\\$") {
				continue
			}
		}
		if !strings.Contains(word, "/") || filepath.IsAbs(word) {
			continue
		}
		program := filepath.Join(root, word)
		if m.Options["preset"] == "" {
			quoted, err := syntax.Quote(program, syntax.LangBash)
			if err != nil {
				return c, fmt.Errorf("models.%s.options.command: %w", entry, err)
			}
			program = quoted
		}
		m.Options = maps.Clone(m.Options)
		m.Options["command"] = program + rest
		models[entry] = m
	}
	c.Models = models
	return c, nil
}

// checkModels returns the path of the first thing that is wrong, and what it is.
func (c Config) checkModels() (at, what string) {
	for _, entry := range slices.Sorted(maps.Keys(c.Models)) {
		if at, what := c.checkModel(entry); what != "" {
			return "models." + entry + at, what
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Prices)) {
		if what := c.Prices[name].check(name); what != "" {
			return "prices." + name, what
		}
	}
	for _, role := range slices.Sorted(maps.Keys(c.Budget.Role)) {
		switch v := c.Budget.Role[role]; {
		case !slices.Contains(thinkers, role):
			return "budget.role." + role, fmt.Sprintf("budget.role.%s: no such role; known: %s", role, strings.Join(thinkers, ", "))
		case !(v >= 0 && v <= 1_000_000):
			return "budget.role." + role, fmt.Sprintf("budget.role.%s is %g, allowed: 0 to 1e+06 USD", role, v)
		}
	}
	return "", ""
}

func (c Config) checkModel(entry string) (at, what string) {
	m := c.Models[entry]
	switch {
	case !slices.Contains(backends, m.Backend):
		return ".backend", fmt.Sprintf("models.%s.backend is %q, allowed: %s", entry, m.Backend, strings.Join(backends, ", "))
	case m.Tier < 0 || m.Tier > 3:
		return ".tier", fmt.Sprintf("models.%s.tier is %d, allowed: 1 to 3", entry, m.Tier)
	case (m.Backend == "openai" || m.Backend == "anthropic") && m.Name == "":
		return "", fmt.Sprintf("models.%s.name is missing: backend %s needs the name of a model", entry, m.Backend)
	case entry != DefaultModel && !slices.Contains(thinkers, entry) && !c.isFallback(entry):
		return "", fmt.Sprintf("models.%s is neither a role nor the fallback of one; roles: %s, %s", entry, DefaultModel, strings.Join(thinkers, ", "))
	}
	seen := []string{entry}
	for next := m.Fallback; next != ""; next = c.Models[next].Fallback {
		other, ok := c.Models[next]
		switch {
		case !ok:
			return ".fallback", fmt.Sprintf("models.%s.fallback: there is no entry %q in models", seen[len(seen)-1], next)
		case slices.Contains(seen, next):
			return ".fallback", fmt.Sprintf("models.%s.fallback leads back to itself: %s", entry, strings.Join(append(seen, next), " → "))
		case other.Backend == "playbook" || m.Backend == "playbook":
			return ".fallback", fmt.Sprintf("models.%s.fallback: a playbook neither has nor is a fallback", entry)
		}
		seen = append(seen, next)
	}
	return "", ""
}

func (c Config) isFallback(entry string) bool {
	for _, m := range c.Models {
		if m.Fallback == entry {
			return true
		}
	}
	return false
}

func (p Price) check(name string) string {
	for _, part := range []struct {
		name string
		usd  float64
	}{{"in", p.In}, {"out", p.Out}, {"cached", p.CachedOrIn()}} {
		if !(part.usd >= 0 && part.usd <= 1_000_000) {
			return fmt.Sprintf("prices.%s.%s is %g, allowed: 0 to 1e+06 USD a million tokens", name, part.name, part.usd)
		}
	}
	return ""
}

// CachedOrIn is the price of cached input.
func (p Price) CachedOrIn() float64 {
	if p.Cached == nil {
		return p.In
	}
	return *p.Cached
}

// PriceOf finds the price of a model as the records name it, such as
// "anthropic:claude-x": under that name, or under the part after the colon. A
// name that ends in * stands for all that begin so; the longest fits first.
func (c Config) PriceOf(model string) (Price, bool) {
	_, bare, prefixed := strings.Cut(model, ":")
	if !prefixed {
		bare = model
	}
	for _, name := range []string{model, bare} {
		if p, ok := c.Prices[name]; ok {
			return p, true
		}
	}
	best := ""
	for name := range c.Prices {
		stem, open := strings.CutSuffix(name, "*")
		if open && (strings.HasPrefix(model, stem) || strings.HasPrefix(bare, stem)) && cmp.Compare(len(name), len(best)) > 0 {
			best = name
		}
	}
	return c.Prices[best], best != ""
}

// Cost is what tokens come to under a price, in US dollars. Cached tokens are
// part of the input tokens.
func (p Price) Cost(input, cached, output int64) float64 {
	cached = min(cached, input)
	const million = 1_000_000
	return math.Max(0, (float64(input-cached)*p.In+float64(cached)*p.CachedOrIn()+float64(output)*p.Out)/million)
}
