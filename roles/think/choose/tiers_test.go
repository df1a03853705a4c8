package choose

import (
	"errors"
	"strings"
	"testing"

	"orch/blackboard/message"
)

func TestInvariant_MetaValidatorTierAtLeastPlanner(t *testing.T) {
	entry := func(role, tier, fallback string) string {
		return "  " + role + ": {backend: openai, name: " + role + ", tier: " + tier + ", fallback: " + fallback + "}\n"
	}
	const weak = "  weak: {backend: openai, name: w}\n"
	const strong = "  strong: {backend: openai, name: s, tier: 3, fallback: weak}\n"
	for name, c := range map[string]struct {
		models string
		chain  string // of the meta-validator
		names  string // what the refusal names; empty: it is taken
	}{
		"the same tier":                       {entry("planner", "2", "''") + entry("meta-validator", "2", "''"), "meta-validator", ""},
		"a higher one":                        {entry("planner", "2", "''") + entry("meta-validator", "3", "''"), "meta-validator", ""},
		"a lower one":                         {entry("planner", "3", "''") + entry("meta-validator", "2", "''"), "", "models.planner"},
		"a weak fallback of the judge":        {entry("planner", "2", "''") + entry("meta-validator", "2", "weak"), "meta-validator", ""},
		"a weak one behind a strong one":      {entry("planner", "2", "''") + entry("meta-validator", "2", "strong"), "meta-validator strong", ""},
		"a strong fallback of the planner":    {entry("planner", "2", "strong") + entry("meta-validator", "2", "''"), "", "models.strong"},
		"a strong one for both":               {entry("planner", "2", "strong") + entry("meta-validator", "3", "strong"), "meta-validator strong", ""},
		"one entry with a weak one for all":   {"  default: {backend: openai, name: d, tier: 2, fallback: weak}\n", "default", ""},
		"a strong one cannot mend a weak one": {entry("planner", "2", "''") + entry("meta-validator", "1", "strong"), "strong", "models.meta-validator"},
		"a planner that is code":              {"  planner: {backend: playbook}\n" + entry("meta-validator", "1", "weak"), "meta-validator weak", ""},
	} {
		text := c.models
		if strings.Contains(text, "strong") {
			text += strong
		}
		if strings.Contains(text, "weak") {
			text += weak
		}
		cfg := parse(t, "models:\n"+text)
		err := CheckTiers(cfg, message.UserInput{})
		var low *TierError
		if (err != nil) != (c.names != "") || err != nil && (!errors.As(err, &low) || !strings.Contains(err.Error(), c.names) || low.Hint() == "") {
			t.Errorf("%s: %v", name, err)
		}
		if got := names(Chain(cfg, message.UserInput{}, message.MetaValidator)); got != c.chain {
			t.Errorf("%s: %q judges, want %q", name, got, c.chain)
		}
	}
}
