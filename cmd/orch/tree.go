package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// command is one line of the table of commands.
type command struct {
	name  string
	under string // the noun it belongs to; its name alone goes on working, hidden
	brief string // what the first screen of help says; empty: not shown there
	build func(*app) *cobra.Command
}

// signals tells whether a command is told by its context to end. The guard
// catches signals itself, before it starts anything, and version is over at once;
// each confined call begins with a guard, and catching costs a thread.
func (c command) signals() bool { return c.name != "guard" && c.name != "version" }

// commands lists every command: what people use daily, in the order in which
// they meet it, and the nouns with what lies under them.
var commands = []command{
	{"init", "", "make a board here", newInit},
	{"run", "", "work until done or given up", newRun},
	{"status", "", "what is going on now", newStatus},
	{"goals", "", "the goals, and how they stand", newGoals},
	{"task", "", "make and look at tasks", newTask},
	{"cost", "", "what was spent", newCost},
	{"why", "", "what led to a status", newWhy},
	{"log", "", "the messages", newLog},
	{"show", "", "one message, whole", newShow},
	{"diff", "", "what changed on the board", newDiff},
	{"audit", "", "what went wrong", newAudit},
	{"memory", "", "what was learned; correct it", newMemory},
	{"note", "", "tell a role something", newNote},
	{"answer", "", "answer a goal's questions", newAnswer},
	{"allow", "", "permit what a call asked for", newAllow},
	{"accept", "", "let what code found stand", newAccept},
	{"deny", "", "refuse what a call asked for", newDeny},
	{"pause", "", "start no new step", newPause},
	{"resume", "", "lift a pause or a wait", newResume},
	{"abort", "", "stop all running steps", newAbort},
	{"doctor", "", "what is here, what is missing", newDoctor},
	{"config", "", "settings, defaults, ranges", newConfig},
	{"agent", "", "agent programs; try one", newAgentCommand},
	{"board", "", "check and mend the record", newBoard},
	{"role", "", "run one role by hand", newRole},

	{"claim", "task", "", newClaim},
	{"release", "task", "", newRelease},
	{"edit", "task", "", newEdit},
	{"unblock", "task", "", newUnblock},
	{"retry", "goals", "", newRetry},
	{"sprint", "goals", "", newSprint},
	{"checkpoint", "goals", "", newCheckpoint},
	{"dream", "memory", "", newDream},
	{"trust", "config", "", newTrust},
	{"confine", "doctor", "", newConfine},
	{"state", "board", "", newState},
	{"verify", "board", "", newVerify},
	{"repair", "board", "", newRepair},
	{"restore", "board", "", newRestore},
	{"replay", "board", "", newReplay},
	{"track", "board", "", newTrack},
	{"gc", "board", "", newGC},
	{"step", "role", "", newStep},
	{"prompt", "role", "", newPrompt},
	{"ggs", "role", "", newGGS},
	{"controller", "role", "", newController},
	{"auditor", "role", "", newAuditor},
	{"integrate", "role", "", newIntegrate},
	{"submit", "agent", "", newSubmit},
	{"version", "", "", newVersion},
	{"guard", "", "", func(*app) *cobra.Command { return newGuard() }},
}

func newBoard(*app) *cobra.Command {
	return &cobra.Command{Use: "board", Short: "check, mend, print and look back at the record of this project", Example: "  orch board verify"}
}

func newRole(*app) *cobra.Command {
	return &cobra.Command{Use: "role", Short: "run one role by hand, as scripts and supervisors of your own do", Example: "  orch role step executor"}
}

// needed are the commands that a command line can mean: the one it names, or,
// where that is not plain to see, all. Building all of them costs as much as
// the start of a small program.
func needed(args []string) []command {
	for len(args) > 0 {
		switch name := args[0]; {
		case (name == "-C" || name == "--dir") && len(args) > 1:
			args = args[2:]
			continue
		case name == "--json", name == "--unsafe-fs", strings.HasPrefix(name, "--dir="):
			args = args[1:]
			continue
		}
		if i := slices.IndexFunc(commands, func(c command) bool { return c.name == args[0] }); i >= 0 {
			return commands[i : i+1]
		}
		break
	}
	return commands
}

// newRoot builds the tree of these commands.
func newRoot(a *app, list []command) *cobra.Command {
	root := &cobra.Command{
		Use:           "orch",
		Short:         "work that runs by itself, and ends in a result or an honest no",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usagef(c.CommandPath()+" --help", "%s", err)
	})
	f := root.PersistentFlags()
	f.StringVarP(&a.dir, "dir", "C", ".", "directory of the project")
	f.BoolVar(&a.asJSON, "json", false, "print JSON for programs")
	f.BoolVar(&a.unsafeFS, "unsafe-fs", false, "work on a network file system although locks may not hold there")
	for _, c := range list {
		root.AddCommand(c.whole(a))
	}
	root.SuggestionsMinimumDistance = 2
	root.CompletionOptions.DisableDefaultCmd = len(list) == 1 // it was not asked for either
	root.CompletionOptions.HiddenDefaultCmd = true
	a.refuseBelow(root)
	usageErrors(root)
	if len(list) > 1 {
		firstScreen(root)
	}
	return root
}

// whole builds a command with everything that lies under it.
func (c command) whole(a *app) *cobra.Command {
	made := c.build(a)
	made.Hidden = made.Hidden || c.brief == ""
	for _, sub := range commands {
		if sub.under == c.name {
			made.AddCommand(sub.build(a))
		}
	}
	return made
}

// firstScreen makes the help of orch itself fit a terminal of 80 columns and 24
// lines; that of a command is cobra's.
func firstScreen(root *cobra.Command) {
	ofCommand := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		if c != root {
			ofCommand(c, args)
			return
		}
		printFirstScreen(c.OutOrStdout(), root.Short)
	})
}

func printFirstScreen(w io.Writer, what string) {
	var shown []string
	for _, c := range commands {
		if c.brief != "" {
			shown = append(shown, fmt.Sprintf("%-8s %s", c.name, c.brief))
		}
	}
	var s strings.Builder
	fmt.Fprintf(&s, "orch: %s\n\n  orch init\n  orch run \"make the tests pass\"\n\n", what)
	half := (len(shown) + 1) / 2
	for i := range half {
		right := ""
		if half+i < len(shown) {
			right = shown[half+i]
		}
		s.WriteString(strings.TrimRight(fmt.Sprintf("  %-39s %s", shown[i], right), " ") + "\n")
	}
	s.WriteString(`
  -C, --dir DIR   the project's directory    --json      print JSON for programs
  --unsafe-fs     work on a network file system, where locks may not hold

orch COMMAND --help tells more of a command, and what lies under it.
`)
	_, _ = io.WriteString(w, s.String())
}
