package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"orch/blackboard/message"
	"orch/roles/loop"
	"orch/roles/run/config"
	"orch/roles/think/choose"
)

// examineThinking shows what was found to think with, whether each configured
// entry can be asked, and what each role will use.
func examineThinking(ctx context.Context, cfg config.Config) []finding {
	var out []finding
	found := look(ctx)
	for _, f := range found {
		out = append(out, finding{"found", "ok", f.How})
	}
	if len(found) == 0 {
		out = append(out, finding{"found", "note", "no local Ollama, agent or key; goals that fit a playbook need none. To have one: " + strings.Join(choose.HowToGet(), "; ")})
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Models)) {
		out = append(out, examineEntry(cfg, choose.Entry{Name: name, Model: cfg.Models[name]}))
	}
	in := message.UserInput{}
	if !choose.Configured(cfg) && len(found) > 0 {
		in.Found = &found[0].Found
	}
	_, codes := cfg.Models[string(message.Coder)]
	_, acts := cfg.Models[string(message.Executor)]
	_, all := cfg.Models[config.DefaultModel]
	if codes && !acts && !all {
		in.Profile = codeProfile // only coding goals are thought of here
	}
	if err := checkModels(cfg, in); err != nil {
		out = append(out, finding{"models", "problem", problemText(err)})
	}
	for _, c := range loop.Contracts() {
		out = append(out, finding{string(c.Role), "ok", whatRoleUses(cfg, in, c)})
	}
	return out
}

func examineEntry(cfg config.Config, e choose.Entry) finding {
	what := "models." + e.Name
	if e.Backend == choose.Playbook {
		return finding{what, "ok", "playbook"}
	}
	if err := usable(cfg, e); err != nil {
		return finding{what, "problem", problemText(err)}
	}
	text := e.Title()
	if e.BaseURL() != "" {
		text += " at " + e.BaseURL()
	}
	switch p, known := choose.PriceOf(cfg, e, e.Model.Name); {
	case known && p.In+p.Out == 0:
		text += ", free"
	case known:
		text += fmt.Sprintf(", $%g in and $%g out a million tokens", p.In, p.Out)
	case e.StatesCost():
		text += ", says itself what it costs"
	case e.Model.Name == "":
		return finding{what, "note", text + ", price unknown: name its model, and add prices.MODEL so that a cap can be kept"}
	default:
		return finding{what, "note", text + ", price unknown: add prices." + e.Model.Name + " so that a cap can be kept"}
	}
	return finding{what, "ok", text}
}

// problemText is an error with its hint, in one line.
func problemText(err error) string {
	text := err.Error()
	if hint := hintOf(err); hint != "" {
		text += " — " + strings.ReplaceAll(hint, "\n  ", "; ")
	}
	return text
}

func whatRoleUses(cfg config.Config, in message.UserInput, c loop.Contract) string {
	chain := choose.Chain(cfg, in, c.Role)
	switch {
	case c.Tier == loop.Arithmetic && len(chain) == 0, c.Role == message.Auditor:
		return "arithmetic only, resident"
	case c.Role == message.GGS:
		return "arithmetic; next moves after giving up from " + titles(chain)
	case len(chain) == 0 && c.Resident:
		return "code only, resident"
	case len(chain) == 0 && (c.Role == message.Coder || c.Role == message.CodeReviewer):
		return "nobody: --profile code needs models." + string(c.Role)
	case len(chain) == 0:
		return "playbook"
	}
	return titles(chain)
}

// titles names a chain: the preferred entry, then what takes over from it.
func titles(chain []choose.Entry) string {
	var names []string
	for _, e := range chain {
		names = append(names, e.Title())
	}
	return strings.Join(names, ", then ")
}
