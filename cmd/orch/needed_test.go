package main

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// A command line means the same whether all commands are built or only the one
// it names.
func TestOnlyTheNamedCommandIsBuilt(t *testing.T) {
	for _, c := range commands {
		if got := c.build(&app{}).Name(); got != c.name {
			t.Errorf("the list calls %q %q", got, c.name)
		}
		for _, before := range [][]string{nil, {"-C", "status"}, {"--json", "--dir", "x", "--unsafe-fs"}, {"--dir=x"}} {
			args := append(slices.Clone(before), c.name, "--help")
			alone, all := help(args, needed(args)), help(args, commands)
			if len(needed(args)) != 1 || alone != all || !c.build(&app{}).DisableFlagParsing && !strings.Contains(alone, "orch "+c.name) {
				t.Errorf("%v: %d commands, help alone:\n%s\nhelp among all:\n%s", args, len(needed(args)), alone, all)
			}
		}
	}
	for _, args := range [][]string{nil, {"help", "claim"}, {"--help"}, {"-C"}, {"-C", "claim"}, {"--dir", "claim"}, {"completion", "bash"}, {"__complete", "claim"}, {"clam"}, {"-Cx", "claim"}, {"--nothing", "claim"}, {"--", "claim"}} {
		if n := len(needed(args)); n != len(commands) {
			t.Errorf("%v: %d commands", args, n)
		}
	}
}

func help(args []string, list []command) string {
	var out bytes.Buffer
	root := newRoot(&app{out: &out, err: &out}, list)
	for _, c := range root.Commands() {
		if c.DisableFlagParsing {
			c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() } // it hands --help on
		}
	}
	root.SetOut(&out)
	root.SetErr(&out)
	root.SetArgs(args)
	if err := root.Execute(); err != nil {
		return err.Error()
	}
	return out.String()
}

// Every step is a process of its own, so what a package builds before main is
// paid thousands of times a run. Tables are built at their first use.
func TestNoPackageBuildsTablesBeforeMain(t *testing.T) {
	allowed := map[string]int{"orch/blackboard/message": 100} // what is left of its tables
	cmd := exec.Command(program, "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	seen := regexp.MustCompile(`init (orch/\S+) .* (\d+) allocs`).FindAllSubmatch(out, -1)
	for _, m := range seen {
		name := string(m[1])
		most := 32
		if n, ok := allowed[name]; ok {
			most = n
		}
		if n, err := strconv.Atoi(string(m[2])); err != nil || n > most {
			t.Errorf("%s allocates %s times before main, more than %d", name, m[2], most)
		}
	}
	if len(seen) < 5 {
		t.Errorf("only %d packages are traced:\n%s", len(seen), out)
	}
}
