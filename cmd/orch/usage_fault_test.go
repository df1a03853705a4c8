package main

import (
	"os"
	"strings"
	"testing"
	"unicode/utf8"

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

// What people see first fits a terminal of 80 columns and 24 lines, and every
// command can be found from there.
func TestTheFirstScreenLeadsToEveryCommand(t *testing.T) {
	for _, args := range [][]string{nil, {"--help"}, {"help"}} {
		screen := help(args, commands)
		lines := strings.Split(strings.TrimRight(screen, "\n"), "\n")
		for _, line := range lines {
			if utf8.RuneCountInString(line) > 80 {
				t.Errorf("wider than 80 columns: %q", line)
			}
		}
		if len(lines) > 24 {
			t.Errorf("orch %v prints %d lines:\n%s", args, len(lines), screen)
		}
		for _, c := range commands {
			if c.name == "version" || c.name == "guard" {
				continue
			}
			first, path := c.name, []string{c.name}
			if c.under != "" {
				first, path = c.under, []string{c.under, c.name}
			}
			if !strings.Contains(screen, " "+first+" ") {
				t.Errorf("orch %v does not show %s", args, first)
			}
			if found, _, err := newRoot(&app{}, commands).Find(path); err != nil || found.Name() != c.name {
				t.Errorf("orch %s is not there: %v", strings.Join(path, " "), err)
			}
		}
	}
}

// Scripts that call commands by the names of before go on working.
func TestOldNamesOfCommandsGoOn(t *testing.T) {
	for _, c := range commands {
		if c.under == "" {
			continue
		}
		old, now := help([]string{c.name, "--help"}, commands), help([]string{c.under, c.name, "--help"}, commands)
		byOldName := strings.NewReplacer("orch "+c.under+" "+c.name, "orch "+c.name)
		if old == "" || byOldName.Replace(now) != byOldName.Replace(old) {
			t.Errorf("orch %s says\n%s\norch %s %s says\n%s", c.name, old, c.under, c.name, now)
		}
	}
}
