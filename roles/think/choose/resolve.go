package choose

import (
	"cmp"
	"net"
	"net/url"
	"path"
	"slices"
	"strings"

	"orch/blackboard/message"
	"orch/roles/run/config"

	"mvdan.cc/sh/v3/shell"
)

// Names of the backends in the configuration.
const (
	Playbook  = "playbook"
	OpenAI    = "openai"
	Anthropic = "anthropic"
	Exec      = "exec"
	ACP       = "acp"
)

// FoundEntry is the name of the entry that stands for what was found.
const FoundEntry = "found"

// Options of the backends openai and anthropic that this package reads.
const (
	OptionBaseURL = "base_url"
	OptionKeyEnv  = "key_env" // name of the variable that holds the key; "none" for none
	OptionPreset  = "preset"
	OptionCommand = "command"
)

// Entry is one entry of models in the configuration, or what was found.
type Entry struct {
	Name string
	config.Model
}

// Chain lists what a role of a goal thinks or acts with: the preferred entry,
// then its fallbacks. It is empty for the playbook backend.
//
// An entry of the role's own comes first; then a playbook asked for by name;
// then the default entry; then what was found when the goal was entered. A judge
// has no fallback that thinks at a lower tier than what it judges.
func Chain(cfg config.Config, in message.UserInput, role message.Role) []Entry {
	return fit(cfg, in, role, chainOf(cfg, in, role))
}

// chainOf is the chain as the configuration has it.
func chainOf(cfg config.Config, in message.UserInput, role message.Role) []Entry {
	if _, ok := cfg.Models[string(role)]; ok {
		return chainFrom(cfg, string(role))
	}
	if in.Playbook != "" {
		return nil
	}
	if _, ok := cfg.Models[config.DefaultModel]; ok {
		return chainFrom(cfg, config.DefaultModel)
	}
	if in.Found != nil {
		return []Entry{EntryOf(*in.Found)}
	}
	return nil
}

// EntryOf is what was found as an entry.
func EntryOf(f message.Found) Entry {
	return Entry{Name: FoundEntry, Model: config.Model{Backend: f.Backend, Name: f.Name, Options: f.Options}}
}

// chainFrom follows the fallbacks; the configuration has no circles, and what
// it does not have anyway ends the chain.
func chainFrom(cfg config.Config, name string) []Entry {
	var chain []Entry
	for name != "" && !slices.ContainsFunc(chain, func(e Entry) bool { return e.Name == name }) {
		m, ok := cfg.Models[name]
		if !ok || m.Backend == Playbook {
			break
		}
		chain = append(chain, Entry{name, m})
		name = m.Fallback
	}
	return chain
}

// Configured tells whether the configuration says what to think with, for any role.
func Configured(cfg config.Config) bool { return len(cfg.Models) > 0 }

// defaultBase is where each provider is unless base_url says otherwise.
var defaultBase = map[string]string{OpenAI: "https://api.openai.com/v1", Anthropic: "https://api.anthropic.com"}

var defaultKeyEnv = map[string]string{OpenAI: "OPENAI_API_KEY", Anthropic: "ANTHROPIC_API_KEY"}

// BaseURL is where a model is asked; empty for agents.
func (e Entry) BaseURL() string { return cmp.Or(e.Options[OptionBaseURL], defaultBase[e.Backend]) }

// KeyEnv is the variable that holds the entry's key; empty if it needs none.
func (e Entry) KeyEnv() string {
	switch name := cmp.Or(e.Options[OptionKeyEnv], defaultKeyEnv[e.Backend]); {
	case name == "none", e.Options[OptionKeyEnv] == "" && e.Options[OptionBaseURL] != "":
		return "" // another server than the provider's own must not be sent the provider's key unasked
	default:
		return name
	}
}

// Account tells what is paused together when a limit is reached.
func (e Entry) Account() string {
	if e.Model.Account != "" {
		return e.Model.Account
	}
	if base := e.BaseURL(); base != "" {
		host := base
		if u, err := url.Parse(base); err == nil && u.Host != "" {
			host = u.Host
		}
		return strings.TrimSuffix(e.Backend+"/"+host+"/"+e.KeyEnv(), "/")
	}
	// One program has one account, however it is driven.
	return cmp.Or(e.Options["account"], "agent/"+cmp.Or(e.Options[OptionPreset], path.Base(e.Program())))
}

// Title is how the entry is shown to people.
func (e Entry) Title() string {
	name := cmp.Or(e.Model.Name, e.Options[OptionPreset], e.Program())
	return strings.TrimSuffix(e.Backend+" "+name, " ")
}

// Program is what options.command starts; empty without one.
func (e Entry) Program() string {
	command := e.Options[OptionCommand]
	if e.Options[OptionPreset] != "" { // then it is a program and no line
		return command
	}
	if words, err := shell.Fields(command, func(string) string { return "" }); err == nil && len(words) > 0 {
		return words[0]
	}
	return ""
}

// IsAgent tells whether a process acts by itself, instead of a model being asked.
func (e Entry) IsAgent() bool { return e.Backend == Exec || e.Backend == ACP }

// local tells whether the entry is an Ollama of this machine, which costs nothing.
func (e Entry) local() bool {
	u, err := url.Parse(e.BaseURL())
	if err != nil || e.Backend != OpenAI || u.Port() != ollamaPort {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}
