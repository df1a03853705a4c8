package main

import (
	"strings"

	"orch/roles/think/agent"
	"orch/roles/think/agent/cli"
	"orch/roles/think/choose"
)

// newAgent makes the agent of an entry, in the world of a step.
func newAgent(e choose.Entry, w agent.World) (*agent.Agent, error) {
	return agent.New(e.Backend, e.Model.Name, e.Options, w)
}

// agentKeeps names the secret variables an agent's program needs.
func agentKeeps(e choose.Entry) []string {
	if !e.IsAgent() {
		return nil
	}
	var names []string
	if p, ok := cli.Find(e.Options[choose.OptionPreset]); ok {
		names = append(names, p.Pass...)
	}
	for _, name := range strings.Split(e.Options["keep_env"], ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}
