package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/act/process"
	"orch/roles/ggs"
	"orch/roles/run/config"
	"orch/roles/think/choose"
)

func newInit(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "init", Short: "make a board in this directory; safe to repeat", Args: cobra.NoArgs, Example: "  orch init",
		RunE: func(*cobra.Command, []string) error {
			root, err := filepath.Abs(a.dir)
			if err != nil {
				return err
			}
			if err := a.initBoard(root); err != nil {
				return err
			}
			dir := filepath.Join(root, blackboard.DirName)
			return a.report(map[string]any{"version": 1, "board": dir}, "board ready in %s\nnext: orch run \"make the tests pass\"", dir)
		},
	}
}

// version is set by the linker for releases.
var version = "dev"

func newVersion(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "print the version", Args: cobra.NoArgs, Example: "  orch version --json",
		RunE: func(*cobra.Command, []string) error {
			revision := ""
			if info, ok := debug.ReadBuildInfo(); ok {
				for _, s := range info.Settings {
					if s.Key == "vcs.revision" {
						revision = s.Value
					}
				}
			}
			return a.report(map[string]any{"version": 1, "orch": version, "revision": revision, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH},
				"orch %s %s %s/%s", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
		},
	}
}

func newConfig(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "config", Short: "print every setting with its value, default, unit and range", Args: cobra.NoArgs, Example: "  orch config --json",
		RunE: func(*cobra.Command, []string) error {
			cfg, where := config.Default(), "defaults"
			if root, err := a.root(); err == nil {
				if cfg, err = a.config(root); err != nil {
					return err
				}
				where = filepath.Join(root, blackboard.DirName, "config.yaml")
			}
			return a.printConfig(cfg, where)
		},
	}
}

func (a *app) printConfig(cfg config.Config, where string) error {
	type row struct {
		Key     string `json:"key"`
		Value   any    `json:"value"`
		Default any    `json:"default"`
		Unit    string `json:"unit"`
		Range   string `json:"range"`
		Doc     string `json:"doc"`
	}
	params, err := paramsOf(cfg, message.UserInput{Profile: "task"})
	if err != nil {
		return err
	}
	rows := []row{}
	for _, k := range config.Keys() {
		rows = append(rows, row{k.Path, k.Value(cfg), k.Value(config.Default()), k.Unit, k.Range(), k.Doc})
	}
	if a.asJSON {
		return a.printJSON(map[string]any{"version": 1, "file": where, "keys": rows, "controller": params, "models": cfg.Models})
	}
	say(a.out, "# %s\n", where)
	for _, r := range rows {
		mark := " "
		if r.Value != r.Default {
			mark = "*"
		}
		say(a.out, "%s %-26s %-14v %-11s %-28s %s\n", mark, r.Key, r.Value, r.Unit, r.Range, r.Doc)
	}
	raw, err := json.Marshal(params)
	if err != nil {
		return err
	}
	_, err = say(a.out, "# * differs from its default\n# the controller computes with %s\n", raw)
	return err
}

// paramsOf is what the controller computes with for a goal.
func paramsOf(cfg config.Config, in message.UserInput) (ggs.Params, error) {
	c := cfg.Controller
	policy := c.Policy
	if in.Controller != "" {
		policy = in.Controller
	}
	p := ggs.Defaults(policy)
	set := func(to *float64, v float64) {
		if v >= 0 {
			*to = v
		}
	}
	set(&p.Alpha, c.Alpha)
	set(&p.Beta, c.Beta)
	set(&p.Lambda, c.Lambda)
	set(&p.W1, c.W1)
	set(&p.W2, c.W2)
	set(&p.W3, c.W3)
	set(&p.Epsilon, c.Epsilon)
	set(&p.Delta, c.Delta)
	set(&p.Rho, c.Rho)
	set(&p.Theta, c.Theta)
	if c.MaxReplans > 0 {
		p.MaxReplans = c.MaxReplans
	}
	if c.Law2 > 0 {
		p.Law2 = c.Law2
	}
	if p.TimeBudgetMS = ggs.TimeBudgetMS(in.Profile, slowest(cfg, in)); c.TimeBudgetMS > 0 {
		p.TimeBudgetMS = c.TimeBudgetMS
	}
	if cfg.Budget.MaxCost > 0 {
		p.CostCap = cfg.Budget.MaxCost
	}
	p = p.WithBudget(in.Budget)
	return p, p.Validate()
}

// slowest is what takes the longest of all that thinks and acts for a goal.
func slowest(cfg config.Config, in message.UserInput) (with ggs.Slowest) {
	for _, role := range allRoles(in) {
		for _, e := range choose.Chain(cfg, in, role) {
			if e.IsAgent() {
				return ggs.Agents
			}
			with = ggs.Models
		}
	}
	return with
}

func newController(a *app) *cobra.Command {
	c := &cobra.Command{Use: "controller", Short: "try the controller from outside", Example: "  orch role controller decide < rounds.json"}
	c.AddCommand(&cobra.Command{
		Use: "decide", Short: "print the directive for a history of rounds on standard input", Args: cobra.NoArgs,
		Long:    "Read a history of rounds (the shape is in docs/controller.md) from standard\ninput and print what the controller decides, as JSON.",
		Example: "  orch role controller decide < rounds.json",
		RunE: func(*cobra.Command, []string) error {
			if err := ggs.DecideJSON(a.in, a.out); err != nil {
				return usagef("docs/controller.md shows the shape", "%s", err)
			}
			return nil
		},
	})
	return c
}

func newGuard() *cobra.Command {
	return &cobra.Command{
		Use: "guard -- COMMAND…", Hidden: true, DisableFlagParsing: true,
		Short: "run a command and end everything below it when the process that started the guard is gone",
		RunE: func(_ *cobra.Command, args []string) error {
			if code := process.GuardMain(args); code != 0 {
				return &exitError{code: code}
			}
			return nil
		},
	}
}

func newEdit(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "edit TASK", Short: "change a task in your editor; orch task edit accept takes in a waiting edit of state.yaml", Args: cobra.ExactArgs(1),
		Example: "  EDITOR=vi orch task edit 0198c1\n  orch task edit accept",
		RunE: func(c *cobra.Command, args []string) error {
			if args[0] == "accept" {
				return a.acceptEdit(c.Context())
			}
			return a.editTask(c.Context(), args[0], editorCommand())
		},
	}
	return c
}

// editorCommand is the person's editor as a shell command.
func editorCommand() string {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if e := os.Getenv(name); e != "" {
			return e
		}
	}
	return "vi"
}

// runEditor opens a file in the editor and waits.
func (a *app) runEditor(editor, path string) error {
	cmd := exec.Command("sh", "-c", editor+` "$1"`, "editor", path)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.in, bare(a.out), bare(a.err) // it draws the terminal itself
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("run the editor %q: %w", editor, err)
	}
	return nil
}
