package agent

import (
	"encoding/json"
	"slices"
	"strings"

	"orch/roles/think/agent/cli"
)

// permit answers an agent's question by the same gate that every other call passes.
func (x *execution) permit(p cli.Permission) bool {
	command := commandOf(p.Input) // without one it is judged by its paths
	switch {
	case command != "":
		return x.may("shell", map[string]any{"command": command})
	case slices.Contains([]string{"read", "search", "think", "fetch"}, p.Kind):
		return true
	case len(p.Paths) == 0:
		return false // nobody can tell what it would do
	}
	for _, path := range p.Paths {
		if p.Kind == "delete" || p.Kind == "move" {
			if !x.may("shell", map[string]any{"command": "rm -- '" + strings.ReplaceAll(path, "'", `'\''`) + "'"}) {
				return false
			}
			continue
		}
		if !x.may("write_file", map[string]any{"path": path, "content": ""}) {
			return false
		}
	}
	return true
}

func (x *execution) may(tool string, input map[string]any) bool {
	raw, err := json.Marshal(input)
	return err == nil && x.actor.May(tool, raw)
}
