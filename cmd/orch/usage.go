package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// usageErrors makes every mistake in a command line one of the caller: exit 2,
// with the command whose help tells more. It is applied to the finished tree.
func usageErrors(c *cobra.Command) {
	if c.HasSubCommands() && !c.Runnable() {
		c.Args = cobra.ArbitraryArgs
		c.RunE = chooseSubcommand
	}
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			if err := check(c, args); err != nil {
				return usagef(c.CommandPath()+" --help", "%s", err)
			}
			return nil
		}
	}
	for _, sub := range c.Commands() {
		usageErrors(sub)
	}
}

// chooseSubcommand is what a command does that only groups others.
func chooseSubcommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return c.Help()
	}
	hint := c.CommandPath() + " --help"
	if near := nearest(c, args[0]); near != "" {
		hint = fmt.Sprintf("did you mean %s %s?", c.CommandPath(), near)
	}
	return usagef(hint, "unknown command %q for %q", args[0], c.CommandPath())
}

// nearest is the command that needs the fewest changed letters to be meant.
func nearest(c *cobra.Command, typed string) string {
	most := c.SuggestionsMinimumDistance
	defer func() { c.SuggestionsMinimumDistance = most }()
	for c.SuggestionsMinimumDistance = 1; c.SuggestionsMinimumDistance <= max(most, 2); c.SuggestionsMinimumDistance++ {
		if near := c.SuggestionsFor(typed); len(near) > 0 {
			return near[0]
		}
	}
	return ""
}
