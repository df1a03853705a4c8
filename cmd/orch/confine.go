package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"orch/roles/act/confine"
	"orch/roles/act/process"
)

func newConfine(a *app) *cobra.Command {
	var f struct {
		write, readOnly, hide []string
		try, inside           bool
	}
	c := &cobra.Command{
		Use: "confine [--write DIR]… -- COMMAND…", Short: "run a command as the commands of a step are run: kept to a few places",
		Example: "  orch doctor confine -- make test\n  orch doctor confine --write build --read-only src -- sh -c 'touch src/x'",
		Long: `Run a command that may write the current directory (or what --write names) and a temporary directory of
its own, and nothing else; .orch and what decides how git acts stay read-only, keys and the sockets of
agents are hidden, and caches of builds are kept apart. It sees this terminal. It is refused where the
machine has no way to do it: orch doctor says what there is, docs/safety.md what it means.`,
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case f.try:
				if code := confine.TryMain(args); code != 0 {
					return &exitError{code: code}
				}
				return nil
			case f.inside:
				return confine.InsideMain(args)
			case len(args) == 0:
				return usagef("orch doctor confine -- make test", "no command given")
			}
			return a.confineCommand(c.Context(), f.write, f.readOnly, f.hide, args)
		},
	}
	c.Flags().SetInterspersed(false)
	c.Flags().StringArrayVar(&f.write, "write", nil, "what may be written; default the current directory")
	c.Flags().StringArrayVar(&f.readOnly, "read-only", nil, "what may not, although it is inside of that")
	c.Flags().StringArrayVar(&f.hide, "hide", nil, "what is not to be seen, beside keys and sockets")
	c.Flags().BoolVar(&f.try, "try", false, "be the child of a trial")
	c.Flags().BoolVar(&f.inside, "inside", false, "become the command")
	for _, hidden := range []string{"try", "inside"} {
		if err := c.Flags().MarkHidden(hidden); err != nil {
			panic(err) // the flag is defined just above
		}
	}
	return c
}

func (a *app) confineCommand(ctx context.Context, write, readOnly, hide, argv []string) error {
	dir, err := filepath.Abs(a.dir)
	if err != nil {
		return err
	}
	if len(write) == 0 {
		write = []string{dir}
	}
	if write, err = absolute(dir, write); err != nil {
		return err
	}
	if readOnly, err = absolute(dir, readOnly); err != nil {
		return err
	}
	if hide, err = absolute(dir, hide); err != nil {
		return err
	}
	layers, err := a.layers(ctx)
	if err != nil {
		return err
	}
	scratch, err := process.MakeTemp()
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	k, err := newKeeper(layers, scratch)
	if err != nil {
		return err
	}
	shut, err := k.freshCaches("")
	if err != nil {
		return err
	}
	defer shut()
	k.hide = append(k.hide, hide...)
	for _, path := range protected(dir) {
		if _, err := os.Lstat(path); err == nil {
			readOnly = append(readOnly, path)
		}
	}
	policy, err := k.policy(write, readOnly)
	if err != nil {
		return err
	}
	if err := sufficient(layers, policy); err != nil {
		return err
	}
	exe, err := executable()
	if err != nil {
		return err
	}
	code, err := confine.Run([]string{exe, "confine", "--inside", "--"}, confine.Sandbox{Policy: policy, Layers: layers}, k.environ(os.Environ()), argv)
	if err == nil && code != 0 {
		return &exitError{code: code}
	}
	return err
}

// sufficient refuses to run a command under layers that do not hold all of a
// policy: who asks for confinement by hand means it.
func sufficient(l confine.Layers, p confine.Policy) error {
	switch {
	case !l.Any():
		return &confine.UnavailableError{Why: "this machine has no way to confine a command"}
	case !l.Namespace && len(p.ReadOnly) > 0:
		return &confine.UnavailableError{Why: "this machine has Landlock only, which can not keep " + p.ReadOnly[0] + " read-only inside of what may be written"}
	}
	return nil
}

func absolute(dir string, paths []string) ([]string, error) {
	out := make([]string, 0, len(paths))
	for _, p := range paths {
		if !filepath.IsAbs(p) {
			p = filepath.Join(dir, p)
		}
		real, err := filepath.EvalSymlinks(p)
		if err != nil {
			return nil, usagef("name something that is there", "%s", err)
		}
		out = append(out, real)
	}
	return out, nil
}
