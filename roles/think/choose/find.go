package choose

import (
	"context"
	"net/url"
	"strings"

	"orch/blackboard/message"
)

// ollamaPort is where Ollama listens unless told otherwise.
const ollamaPort = "11434"

// Ollama is where a local Ollama is looked for.
const Ollama = "http://127.0.0.1:" + ollamaPort

// Machine is what a look around may ask. The functions are probes of the real
// machine, or a test's.
type Machine struct {
	// Ollama lists the models of a local Ollama, the largest first; an error
	// means there is none.
	Ollama func(context.Context) ([]string, error)
	// LookPath finds a program.
	LookPath func(string) (string, error)
	// Getenv reads a variable.
	Getenv func(string) string
}

// Finding is one thing that could be thought with.
type Finding struct {
	message.Found
	How string // in words, for people
}

// agents are the presets of agent CLIs by the program that is looked for, in
// the order in which they are preferred.
var agents = []string{"claude", "codex", "gemini", "opencode", "qwen", "copilot", "pi"}

// providers are tried in order when a key of theirs is in the environment.
var providers = []struct{ keyEnv, backend, base, name string }{
	{"ANTHROPIC_API_KEY", Anthropic, "", "claude-sonnet-4-5"},
	{"OPENAI_API_KEY", OpenAI, "", "gpt-5-mini"},
	{"OPENROUTER_API_KEY", OpenAI, "https://openrouter.ai/api/v1", "openrouter/auto"},
	{"DEEPSEEK_API_KEY", OpenAI, "https://api.deepseek.com", "deepseek-chat"},
	{"GEMINI_API_KEY", OpenAI, "https://generativelanguage.googleapis.com/v1beta/openai", "gemini-2.5-flash"},
}

// Look lists what the machine offers, the preferred one first: a local Ollama,
// agent CLIs, keys in the environment.
func Look(ctx context.Context, m Machine) []Finding {
	var found []Finding
	if models, err := m.Ollama(ctx); err == nil && len(models) > 0 {
		found = append(found, Finding{How: "a local Ollama with " + models[0], Found: message.Found{
			Backend: OpenAI, Name: models[0], Options: map[string]string{OptionBaseURL: Ollama + "/v1"}}})
	}
	for _, preset := range agents {
		if path, err := m.LookPath(preset); err == nil {
			found = append(found, Finding{How: "the agent " + preset + " at " + path, Found: message.Found{
				Backend: Exec, Options: map[string]string{OptionPreset: preset}}})
		}
	}
	for _, p := range providers {
		if m.Getenv(p.keyEnv) == "" {
			continue
		}
		f := message.Found{Backend: p.backend, Name: p.name}
		if p.base != "" {
			f.Options = map[string]string{OptionBaseURL: p.base, OptionKeyEnv: p.keyEnv}
		}
		found = append(found, Finding{How: "a key in " + p.keyEnv + " for " + p.name, Found: f})
	}
	return found
}

// HowToGet says for each way to think what to do to have it.
func HowToGet() []string {
	return []string{
		"a local model: install Ollama (https://ollama.com), then: ollama pull qwen3-coder",
		"an agent: install one of " + strings.Join(agents, ", ") + " and sign in",
		"a provider: put a key in " + keyNames(),
		"anything else: models in .orch/config.yaml, see docs/models.md",
	}
}

func keyNames() string { return strings.Join(KeyNames(), ", ") }

// KeyNames are the variables in which the keys of the known providers are.
func KeyNames() (names []string) {
	for _, p := range providers {
		names = append(names, p.keyEnv)
	}
	return names
}

func hostOf(e Entry) string {
	u, err := url.Parse(e.BaseURL())
	if err != nil {
		return ""
	}
	return u.Hostname()
}
