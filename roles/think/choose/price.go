package choose

import (
	"sync"

	"orch/blackboard/message"
	"orch/roles/run/config"
)

// listed are the prices of the models that are chosen when nothing is
// configured, in US dollars a million tokens, as their providers listed them
// in autumn 2025. The configuration comes first.
var listed = sync.OnceValue(func() map[string]config.Price {
	return map[string]config.Price{
		"claude-sonnet-4-5*": priced(3, 15, 0.3),
		"gpt-5-mini*":        priced(0.25, 2, 0.025),
		"gemini-2.5-flash":   priced(0.3, 2.5, 0.075),
		"deepseek-chat":      priced(0.28, 0.42, 0.028),
	}
})

func priced(in, out, cached float64) config.Price {
	return config.Price{In: in, Out: out, Cached: &cached}
}

// PriceOf is the price of a model that an entry asks, and whether there is one.
func PriceOf(cfg config.Config, e Entry, model string) (config.Price, bool) {
	if p, ok := cfg.PriceOf(model); ok {
		return p, true
	}
	if e.local() {
		return config.Price{}, true
	}
	return config.Config{Prices: listed()}.PriceOf(model)
}

// Paid tells whether a question to the entry may cost something.
func Paid(cfg config.Config, e Entry) bool {
	p, ok := PriceOf(cfg, e, e.Model.Name)
	return !ok || p.In > 0 || p.Out > 0
}

// StatesCost tells whether the other side is known to say what it costs, so
// that no price is needed.
func (e Entry) StatesCost() bool {
	return e.Options[OptionPreset] == "claude" || e.Options["states_cost"] == "true" || hostOf(e) == "openrouter.ai"
}

// Bounded tells whether a cap can be kept on the entry: what a question may cost
// is known before it is sent. A run of an agent program gets a share instead, so
// that it is enough to know afterwards.
func Bounded(cfg config.Config, e Entry) bool {
	if e.IsAgent() {
		return Priceable(cfg, e)
	}
	_, ok := PriceOf(cfg, e, e.Model.Name)
	return ok
}

// Priceable tells whether what the entry costs will be known.
func Priceable(cfg config.Config, e Entry) bool {
	_, ok := PriceOf(cfg, e, e.Model.Name)
	return ok || e.StatesCost()
}

// costOf is what was used in US dollars, and whether that is known.
func costOf(cfg config.Config, e Entry, model string, u message.Usage, stated *float64) (usd float64, known bool) {
	if stated != nil && *stated >= 0 {
		return *stated, true
	}
	p, ok := PriceOf(cfg, e, model)
	if !ok && e.Model.Name != model {
		p, ok = PriceOf(cfg, e, e.Model.Name) // a server that calls its model by another name
	}
	if !ok {
		return 0, false
	}
	if u.InputTokens == 0 && u.OutputTokens == 0 && (p.In > 0 || p.Out > 0) {
		return 0, false // it was asked, and did not say what it took
	}
	return p.Cost(u.InputTokens, u.CachedTokens, u.OutputTokens), true
}
