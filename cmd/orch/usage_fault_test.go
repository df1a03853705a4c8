package main

import (
	"os"
	"testing"

	"github.com/spf13/cobra"
)

func TestEveryCommandHasAnExample(t *testing.T) {
	var look func(*cobra.Command)
	look = func(c *cobra.Command) {
		if c.Example == "" && c.HasParent() && !c.Hidden {
			t.Errorf("%s --help shows no example", c.CommandPath())
		}
		for _, sub := range c.Commands() {
			look(sub)
		}
	}
	look(newRoot(&app{in: os.Stdin, out: os.Stdout, err: os.Stderr}, commands))
}
