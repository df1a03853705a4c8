package choose

import (
	"context"
	"errors"
	"strings"
	"testing"

	"orch/blackboard/message"
	"orch/roles/run/config"
)

func parse(t *testing.T, text string) config.Config {
	t.Helper()
	cfg, err := config.Parse("config.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func names(chain []Entry) string {
	var out []string
	for _, e := range chain {
		out = append(out, e.Name)
	}
	return strings.Join(out, " ")
}

func TestChainOfARole(t *testing.T) {
	found := &message.Found{Backend: Exec, Options: map[string]string{OptionPreset: "claude"}}
	const all = "models:\n  default: {backend: openai, name: m, fallback: b}\n  b: {backend: anthropic, name: n, fallback: c}\n  c: {backend: exec}\n  planner: {backend: playbook}\n  executor: {backend: exec}\n"
	for name, c := range map[string]struct {
		yaml string
		in   message.UserInput
		role message.Role
		want string
	}{
		"nothing":                           {"", message.UserInput{}, message.Planner, ""},
		"what was found":                    {"", message.UserInput{Found: found}, message.Planner, "found"},
		"a playbook by name comes first":    {"", message.UserInput{Found: found, Playbook: "x"}, message.Planner, ""},
		"the default, with fallbacks":       {all, message.UserInput{Found: found}, message.MetaValidator, "default b c"},
		"the role's own":                    {all, message.UserInput{Found: found}, message.Executor, "executor"},
		"a playbook for the role":           {all, message.UserInput{Found: found}, message.Planner, ""},
		"by name, but the role has its own": {all, message.UserInput{Playbook: "x"}, message.Executor, "executor"},
		"by name instead of the default":    {all, message.UserInput{Playbook: "x"}, message.MetaValidator, ""},
		"a default that is a playbook":      {"models:\n  default: {backend: playbook}\n", message.UserInput{Found: found}, message.Planner, ""},
	} {
		if got := names(Chain(parse(t, c.yaml), c.in, c.role)); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// machine is a machine that has what is listed.
func machine(ollama []string, programs, keys string) Machine {
	has := func(list, name string) bool { return strings.Contains(" "+list+" ", " "+name+" ") }
	return Machine{
		Ollama: func(context.Context) ([]string, error) {
			if ollama == nil {
				return nil, errors.New("refused")
			}
			return ollama, nil
		},
		LookPath: func(p string) (string, error) {
			if has(programs, p) {
				return "/bin/" + p, nil
			}
			return "", errors.New("not found")
		},
		Getenv: func(k string) string {
			if has(keys, k) {
				return "secret"
			}
			return ""
		},
	}
}

func TestWhatIsFoundFirst(t *testing.T) {
	for name, c := range map[string]struct {
		m    Machine
		want string
	}{
		"bare":                     {machine(nil, "git", ""), ""},
		"an Ollama without models": {machine([]string{}, "", ""), ""},
		"all of it":                {machine([]string{"qwen3", "tiny"}, "codex claude", "OPENAI_API_KEY ANTHROPIC_API_KEY"), "openai qwen3, exec claude, exec codex, anthropic claude-sonnet-4-5, openai gpt-5-mini"},
		"another provider":         {machine(nil, "", "DEEPSEEK_API_KEY"), "openai deepseek-chat"},
	} {
		var got []string
		for _, f := range Look(t.Context(), c.m) {
			e := EntryOf(f.Found)
			got = append(got, e.Title())
			if strings.Contains(f.How, "secret") || f.How == "" {
				t.Errorf("%s: %q", name, f.How)
			}
			if e.Backend != Exec && !Priceable(config.Default(), e) {
				t.Errorf("%s: nobody knows what %s costs", name, e.Title())
			}
		}
		if s := strings.Join(got, ", "); s != c.want {
			t.Errorf("%s: got %q, want %q", name, s, c.want)
		}
	}
}

func TestKeysAndAccounts(t *testing.T) {
	for name, c := range map[string]struct {
		m            config.Model
		key, account string
	}{
		"the provider's own":       {config.Model{Backend: OpenAI, Name: "m"}, "OPENAI_API_KEY", "openai/api.openai.com/OPENAI_API_KEY"},
		"a server of one's own":    {config.Model{Backend: OpenAI, Options: map[string]string{OptionBaseURL: "http://10.0.0.1:8000/v1"}}, "", "openai/10.0.0.1:8000"},
		"a gateway with a key":     {config.Model{Backend: Anthropic, Options: map[string]string{OptionBaseURL: "https://g.example", OptionKeyEnv: "G"}}, "G", "anthropic/g.example/G"},
		"no key on purpose":        {config.Model{Backend: Anthropic, Options: map[string]string{OptionKeyEnv: "none"}}, "", "anthropic/api.anthropic.com"},
		"an agent":                 {config.Model{Backend: Exec, Options: map[string]string{OptionPreset: "codex"}}, "", "agent/codex"},
		"a command":                {config.Model{Backend: ACP, Options: map[string]string{OptionCommand: "/opt/my agent"}}, "", "agent/my"},
		"what the person calls it": {config.Model{Backend: OpenAI, Account: "team"}, "OPENAI_API_KEY", "team"},
	} {
		e := Entry{"x", c.m}
		if e.KeyEnv() != c.key || e.Account() != c.account {
			t.Errorf("%s: key %q account %q, want %q %q", name, e.KeyEnv(), e.Account(), c.key, c.account)
		}
	}
}

func TestACostThatIsNotKnownIsNotNothing(t *testing.T) {
	cfg := parse(t, "prices:\n  m: {in: 1, out: 10, cached: 0.5}\n  free: {in: 0, out: 0}\n")
	stated := 0.25
	u := message.Usage{InputTokens: 1_000_000, CachedTokens: 1_000_000, OutputTokens: 100_000}
	for name, c := range map[string]struct {
		e      Entry
		model  string
		u      message.Usage
		stated *float64
		usd    float64
		known  bool
	}{
		"by the table":             {Entry{Model: config.Model{Backend: OpenAI, Name: "m"}}, "openai:m", u, nil, 1.5, true},
		"stated":                   {Entry{Model: config.Model{Backend: OpenAI, Name: "m"}}, "openai:m", u, &stated, 0.25, true},
		"nobody knows":             {Entry{Model: config.Model{Backend: OpenAI, Name: "x"}}, "openai:x", u, nil, 0, false},
		"called otherwise":         {Entry{Model: config.Model{Backend: OpenAI, Name: "m"}}, "openai:m-2026", u, nil, 1.5, true},
		"free":                     {Entry{Model: config.Model{Backend: OpenAI, Name: "free"}}, "free", u, nil, 0, true},
		"a local Ollama":           {EntryOf(message.Found{Backend: OpenAI, Name: "q", Options: map[string]string{OptionBaseURL: Ollama + "/v1"}}), "openai:q", u, nil, 0, true},
		"says not what it took":    {Entry{Model: config.Model{Backend: OpenAI, Name: "m"}}, "openai:m", message.Usage{ModelCalls: 1}, nil, 0, false},
		"known to us":              {Entry{Model: config.Model{Backend: Anthropic, Name: "claude-sonnet-4-5"}}, "anthropic:claude-sonnet-4-5-20250929", message.Usage{InputTokens: 1_000_000}, nil, 3, true},
		"an Ollama somewhere else": {Entry{Model: config.Model{Backend: OpenAI, Name: "q", Options: map[string]string{OptionBaseURL: "http://10.0.0.1:11434/v1"}}}, "q", u, nil, 0, false},
	} {
		usd, known := costOf(cfg, c.e, c.model, c.u, c.stated)
		if known != c.known || usd < c.usd-1e-9 || usd > c.usd+1e-9 {
			t.Errorf("%s: $%g known %t, want $%g %t", name, usd, known, c.usd, c.known)
		}
	}
}

func TestSecondOpinionsAreByAnother(t *testing.T) {
	for yaml, refused := range map[string]bool{
		"models:\n  default: {backend: openai, name: m}\n":                                                                                               false,
		"models:\n  default: {backend: openai, name: m}\n  crosscheck: {backend: openai, name: m}\n":                                                     true,
		"models:\n  default: {backend: openai, name: m}\n  crosscheck: {backend: openai, name: n}\n":                                                     false,
		"models:\n  code-reviewer: {backend: openai, name: m, fallback: b}\n  b: {backend: openai, name: n}\n  crosscheck: {backend: openai, name: n}\n": true,
		"models:\n  code-reviewer: {backend: openai, name: m}\n  b: {backend: openai, name: m}\n  crosscheck: {backend: openai, name: n, fallback: b}\n": false,
		"models:\n  code-reviewer: {backend: exec}\n  crosscheck: {backend: exec, options: {preset: pi}}\n":                                              false,
		"models:\n  code-reviewer: {backend: exec, options: {preset: pi}}\n  crosscheck: {backend: exec, options: {preset: pi}}\n":                       true,
	} {
		if err := CheckOthers(parse(t, yaml), message.UserInput{}); (err != nil) != refused {
			t.Errorf("%s: %v", yaml, err)
		}
	}
}

func TestWhoseCostIsNotKnown(t *testing.T) {
	cfg := parse(t, "models:\n  default: {backend: openai, name: m, fallback: b}\n  b: {backend: openai, name: n}\nprices:\n  m: {in: 1, out: 1}\n")
	got := Unbounded(cfg, message.UserInput{}, []message.Role{message.Planner, message.Executor})
	if names(got) != "b" {
		t.Errorf("got %q", names(got))
	}
}

func TestAPlanIsNotReviewedByWhoMadeIt(t *testing.T) {
	const review = "code: {plan_review: model}\n"
	for yaml, refused := range map[string]bool{
		"models: {default: {backend: exec, options: {preset: claude}}}\n":                                                                                        false,
		review + "models: {default: {backend: exec, options: {preset: claude}}}\n":                                                                               true,
		review + "models: {planner: {backend: exec, options: {preset: claude}}}\n":                                                                               true,
		review + "models: {planner: {backend: exec, options: {preset: claude}}, plan-reviewer: {backend: exec, options: {preset: claude}}}\n":                    true,
		review + "models: {planner: {backend: exec, options: {preset: claude}}, plan-reviewer: {backend: exec, options: {preset: codex}}}\n":                     false,
		review + "models: {default: {backend: openai, name: a}, plan-reviewer: {backend: openai, name: b}}\n":                                                    false,
		review + "models: {default: {backend: openai, name: a, fallback: b}, b: {backend: openai, name: c}, plan-reviewer: {backend: openai, name: c}}\n":        true,
		"models: {planner: {backend: exec, options: {preset: claude}}, plan-reviewer: {backend: exec, options: {preset: claude}}}\ncode: {plan_review: human}\n": false,
	} {
		if err := CheckPlanReviewer(parse(t, yaml), message.UserInput{}); (err != nil) != refused {
			t.Errorf("%s: %v", yaml, err)
		}
	}
}

// Who stands in for a second opinion is held to what the one it stands in for is.
func TestWhoStandsInForASecondOpinion(t *testing.T) {
	for name, c := range map[string]struct {
		second, standsIn, tier string // the models, and the tier of who stands in
		want                   string
	}{
		"another":                           {"m", "n", "2", "SECOND b"},
		"who gave the first":                {"m", "first", "2", "SECOND"},
		"who may have given the first":      {"m", "standby", "2", "SECOND"},
		"a weaker one":                      {"m", "n", "1", "SECOND"},
		"another, for who gave the first":   {"first", "n", "2", "b"},
		"a weaker, for who gave the first":  {"first", "n", "1", ""},
		"a stronger one than who is second": {"m", "n", "3", "SECOND b"},
	} {
		for second, first := range secondOf {
			cfg := parse(t, "models:\n  "+string(first)+": {backend: openai, name: first, tier: 2, fallback: s}\n  s: {backend: openai, name: standby, tier: 2}\n"+
				"  "+string(second)+": {backend: openai, name: "+c.second+", tier: 2, fallback: b}\n  b: {backend: openai, name: "+c.standsIn+", tier: "+c.tier+"}\n")
			if got, want := names(Chain(cfg, message.UserInput{}, second)), strings.Replace(c.want, "SECOND", string(second), 1); got != want {
				t.Errorf("%s, %s: %q, want %q", name, second, got, want)
			}
		}
	}
}
