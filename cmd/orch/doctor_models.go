package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"

	"orch/blackboard/message"
	"orch/roles/loop"
	"orch/roles/run/config"
	"orch/roles/think/agent"
	"orch/roles/think/agent/cli"
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
	asks := logins{}
	for _, name := range slices.Sorted(maps.Keys(cfg.Models)) {
		e := choose.Entry{Name: name, Model: cfg.Models[name]}
		out = append(out, asks.over(ctx, e, examineEntry(cfg, e)))
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
		out = append(out, asks.role(ctx, cfg, in, c))
	}
	return out
}

// logins are what agent programs said of their logins, each asked once.
type logins map[string]agent.Login

func (l logins) of(ctx context.Context, e choose.Entry) (login agent.Login, mend string) {
	preset, known := cli.Find(e.Model.Options["preset"])
	program := programOf(e)
	if !e.IsAgent() || !known || program == "" {
		return agent.LoginUnknown, ""
	}
	if _, asked := l[program]; !asked {
		path, err := exec.LookPath(program)
		if err != nil {
			return agent.LoginUnknown, ""
		}
		l[program] = agent.AskLogin(ctx, agent.World{Environ: os.Environ(), Scratch: os.TempDir()}, preset, path)
	}
	return l[program], preset.Login
}

// over adds to what is known of an entry whether its program is logged in.
func (l logins) over(ctx context.Context, e choose.Entry, f finding) finding {
	if _, preset := cli.Find(e.Model.Options["preset"]); !preset || !e.IsAgent() || f.State == "problem" {
		return f // a command of a person's own has no login that we know of
	}
	switch login, mend := l.of(ctx, e); login {
	case agent.LoggedOut:
		return finding{f.What, "problem", e.Title() + " is not logged in — " + mend}
	case agent.LoginUnknown:
		return finding{f.What, "note", f.Text + "; whether it is logged in is not known"}
	}
	return f
}

// role is what a role will use: a problem where nothing of it can be asked, and
// a note where that is not known.
func (l logins) role(ctx context.Context, cfg config.Config, in message.UserInput, c loop.Contract) finding {
	f := finding{string(c.Role), "ok", whatRoleUses(cfg, in, c)}
	if c.Role == message.Auditor {
		return f
	}
	worst := f
	for _, e := range choose.Chain(cfg, in, c.Role) {
		state := finding{f.What, "ok", f.Text}
		if err := usable(cfg, e); err != nil && e.Backend != choose.Playbook {
			state = finding{f.What, "problem", f.Text + ": " + problemText(err)}
		}
		if state = l.over(ctx, e, state); state.State == "ok" {
			return f
		}
		if worst.State != "note" {
			worst = state
		}
	}
	if c.Resident && worst.State == "problem" {
		worst.State = "note" // it does its work without a model as well
	}
	return worst
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
