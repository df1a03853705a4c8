package main

import (
	"orch/blackboard/message"
	"orch/roles/act/tool/gate"
	"orch/roles/run/config"
)

// everything --yes permits. What protects orch and git themselves, acting as
// another user, and a second payment, is never given wholesale.
var yesActions = []gate.Action{gate.Delete, gate.Overwrite, gate.Outside, gate.History, gate.Kill, gate.InlineCode, gate.Unknown, gate.Caution}

// permissions are the rules of the configuration and of the command line.
func permissions(cfg config.Config, in message.UserInput) ([]gate.Rule, error) {
	var rules []gate.Rule
	add := func(texts []string, effect gate.Effect, where string) error {
		for _, t := range texts {
			r, err := gate.ParseRule(t)
			if err != nil {
				return usagef("for example delete:build/**", "%s: %s", where, err)
			}
			r.Effect = effect
			rules = append(rules, r)
		}
		return nil
	}
	if err := add(cfg.Allow, gate.Allow, "allow in config.yaml"); err != nil {
		return nil, err
	}
	if err := add(cfg.Deny, gate.Deny, "deny in config.yaml"); err != nil {
		return nil, err
	}
	if err := add(in.Allow, gate.Allow, "--allow"); err != nil {
		return nil, err
	}
	if in.Yes {
		for _, a := range yesActions {
			rules = append(rules, gate.NewRule("", a, "**"))
		}
	}
	return rules, nil
}
