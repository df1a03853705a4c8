// Package prompts holds the text that ships with orch. It only embeds files.
package prompts

import (
	"embed"
	"io/fs"
)

//go:embed playbooks/*.yaml
var playbooks embed.FS

// Playbooks is the folder of shipped playbooks.
func Playbooks() fs.FS {
	sub, err := fs.Sub(playbooks, "playbooks")
	if err != nil {
		return playbooks // fs.Sub fails only on a name that is not valid
	}
	return sub
}
