// Package prompts holds the text that ships with orch: a Markdown file for each
// role that thinks with a model, and the playbooks. It only embeds files.
package prompts

import (
	"embed"
	"io/fs"
)

//go:embed playbooks/*.yaml
var playbooks embed.FS

//go:embed *.md
var roles embed.FS

//go:embed agents/executor.md
var actingAgent string

// Playbooks is the folder of shipped playbooks.
func Playbooks() fs.FS {
	sub, err := fs.Sub(playbooks, "playbooks")
	if err != nil {
		return playbooks // fs.Sub fails only on a name that is not valid
	}
	return sub
}

// Roles is the folder of role prompts: NAME.md each, and every-role.md, which
// is part of all of them.
func Roles() fs.FS { return roles }

// ActingAgent tells an agent program how to carry out a task by itself.
func ActingAgent() string { return actingAgent }
