package process

import (
	"os"
	"os/user"
)

// NameHome sets HOME, for this process and for what it starts, to what the
// system's table of users says where the environment names none, as in many
// services: without it git, go and npm fail, and nothing of the home is hidden.
func NameHome() {
	if _, err := os.UserHomeDir(); err == nil {
		return
	}
	if u, err := user.Current(); err == nil && u.HomeDir != "" {
		_ = os.Setenv("HOME", u.HomeDir) // it fails only for names that are none
	}
}
