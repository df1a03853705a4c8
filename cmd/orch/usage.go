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
				return usagef(helpFor(c, args), "%s", err)
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
	return usagef(helpFor(c, args), "unknown command %q for %q", args[0], c.CommandPath())
}

// helpFor names what to type instead of arguments that were refused: the
// subcommand that was meant, or else help.
func helpFor(c *cobra.Command, args []string) string {
	if c.HasSubCommands() && len(args) > 0 {
		if near := nearest(c, args[0]); near != "" {
			return fmt.Sprintf("did you mean %s %s?", c.CommandPath(), near)
		}
	}
	return c.CommandPath() + " --help"
}

// nearest is the command that needs the fewest changed letters to be meant: one
// of c's own, or one that lies under one of them.
func nearest(c *cobra.Command, typed string) string {
	for distance := 1; distance <= max(c.SuggestionsMinimumDistance, 2); distance++ {
		if near := suggested(c, typed, distance); near != "" {
			return near
		}
		for _, sub := range c.Commands() {
			if near := suggested(sub, typed, distance); near != "" && sub.IsAvailableCommand() {
				return sub.Name() + " " + near
			}
		}
	}
	return ""
}

func suggested(c *cobra.Command, typed string, distance int) string {
	defer func(most int) { c.SuggestionsMinimumDistance = most }(c.SuggestionsMinimumDistance)
	c.SuggestionsMinimumDistance = distance
	if near := c.SuggestionsFor(typed); len(near) > 0 {
		return near[0]
	}
	return ""
}
