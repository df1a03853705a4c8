//go:build linux

package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// columns are the sets of layers that are tried.
var columns = []string{"namespace and Landlock", "namespace alone", "Landlock alone", "neither"}

// parties are what the hostile program is run as.
var parties = []string{"executor", "playbook step", "early check", "check", "coder", "reviewer", "setup", "test command", "merge command", "hook"}

const notTried = "not tried"

var (
	nobody   []string
	inTasks  = []string{"executor", "playbook step", "check"} // may write the project
	confined = parties[:9]                                    // all but the hook
	talkers  = []string{"executor", "playbook step", "coder", "reviewer"}
)

// attackRow is an attack, and who gets through with it in each column. A hook
// is the person's own and not confined: for it one word holds everywhere. What
// it leaves behind is ended where the system has control groups.
type attackRow struct {
	attack, what string
	through      [4][]string
	hook         string
}

func (r attackRow) passes(column, party string) bool {
	if party == "hook" {
		return r.hook == "yes"
	}
	return slices.Contains(r.through[slices.Index(columns, column)], party)
}

// hostileTable is what stops what, and the table of docs/safety.md.
var hostileTable = []attackRow{
	{"given", "learn of a socket from its environment, also where orch itself had one", [4][]string{talkers, talkers, talkers, talkers}, "no"},
	{"ask", "ask and claim through the socket of its own step, as it may", [4][]string{talkers, talkers, talkers, talkers}, "no"},
	{"forge", "say a call, a result, a verdict, a cost, a limit, an end, a permission, a fact", [4][]string{}, "no"},
	{"other-task", "claim something about another's task", [4][]string{}, "no"},
	{"no-token", "speak without the step's token", [4][]string{}, "no"},
	{"orphan-speaks", "forge from a process without parents and environment", [4][]string{}, "no"},
	{"other-step", "speak to another step, of another repository too", [4][]string{}, "no"},
	{"flood", "keep its step from answering by a flood", [4][]string{}, "no"},
	{"sockets-seen", "see the sockets of other steps", [4][]string{nobody, nobody, confined, confined}, "yes"},
	{"tokens-read", "read the tokens of other steps", [4][]string{nobody, nobody, nobody, confined}, "yes"},
	{"plant", "put something into the folder of sockets", [4][]string{nobody, nobody, nobody, confined}, "yes"},
	{"log", "write `.orch/log.jsonl`", [4][]string{nobody, nobody, inTasks, confined}, "yes"},
	{"settings", "write `.orch/config.yaml`, hooks, playbooks", [4][]string{nobody, nobody, inTasks, confined}, "yes"},
	{"move", "move `.orch` away", [4][]string{nobody, nobody, inTasks, confined}, "yes"},
	{"git", "write git's hooks and configuration", [4][]string{nobody, nobody, inTasks, confined}, "yes"},
	{"refs", "make and move branches of the repository", [4][]string{inTasks, inTasks, inTasks, confined}, "yes"},
	{"outside", "write outside of the project", [4][]string{nobody, nobody, nobody, confined}, "yes"},
	{"startup-files", "write `~/.profile`, `~/.gitconfig`", [4][]string{nobody, nobody, nobody, confined}, "yes"},
	{"program", "put another `orch` beside the program", [4][]string{nobody, nobody, nobody, confined}, "yes"},
	{"keys", "read `~/.ssh`, `~/.aws`", [4][]string{nobody, nobody, nobody, confined}, "yes"},
	{"other-keys", "read `~/.netrc`, `~/.git-credentials`", [4][]string{nobody, nobody, nobody, confined}, "yes"},
	{"tokens", "read tokens of package registries, vaults, containers, and what was typed in a shell", [4][]string{nobody, nobody, nobody, confined}, "yes"},
	{"logins", "read what another agent program logs in with", [4][]string{nobody, nobody, nobody, confined}, "yes"},
	{"holds-a-key", "read a file of the home that holds a key orch knows", [4][]string{nobody, nobody, nobody, confined}, "yes"},
	{"ignored", "read the `.env` of the checkout that git ignores", [4][]string{nobody, nobody, nobody, confined}, "yes"},
	{"agent-settings", "write `~/.claude/settings.json`, `~/.codex/config.toml`", [4][]string{nobody, nobody, nobody, confined}, "yes"},
	{"environment", "read the environment of its step or supervisor", [4][]string{nobody, nobody, nobody, confined}, "yes"},
	{"memory-of-orch", "write the memory of its step or supervisor", [4][]string{nobody, nobody, nobody, confined}, "yes"},
	{"end-of-orch", "end its step or supervisor", [4][]string{nobody, confined, nobody, confined}, "yes"},
	{"person", "say with `orch` what a person says", [4][]string{}, "yes"},
	{"person-bare", "the same without a trace of the step around it", [4][]string{}, "yes"},
	{"trusts", "trust with `orch config trust` what came with the repository", [4][]string{}, "yes"},
	{"restores", "give up messages with `orch board restore --accept`", [4][]string{}, notTried},
	{"leave", "leave a process behind", [4][]string{}, notTried},
}

const (
	tableBegins = "<!-- made by TestSafetyTableIsWhatWasTried -->\n"
	tableEnds   = "<!-- end -->\n"
)

// TestSafetyTableIsWhatWasTried holds docs/safety.md against the table that the
// hostile program is held against.
func TestSafetyTableIsWhatWasTried(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	fmt.Fprintf(&b, "| it tries to | %s | hook |\n|---|%s---|\n", strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
	for _, row := range hostileTable {
		fmt.Fprintf(&b, "| %s ", row.what)
		for _, who := range row.through {
			fmt.Fprintf(&b, "| %s ", named(who))
		}
		fmt.Fprintf(&b, "| %s |\n", row.hook)
	}
	const page = "../../docs/safety.md"
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begun := strings.Cut(string(raw), tableBegins)
	have, after, ended := strings.Cut(rest, tableEnds)
	if !begun || !ended {
		t.Fatalf("%s has no place for the table", page)
	}
	switch {
	case have == b.String():
	case *update:
		write(t, page, before+tableBegins+b.String()+tableEnds+after)
	default:
		t.Errorf("%s is not what is tried; go test ./cmd/orch -run %s -update writes it", page, t.Name())
	}
}

func named(who []string) string {
	switch {
	case len(who) == 0:
		return "no"
	case len(who) == len(confined):
		return "yes"
	}
	return strings.Join(who, ", ")
}
