package main

import (
	"context"
	"sync"

	"github.com/spf13/cobra"

	"orch/roles/run/config"
	"orch/roles/run/trust"
)

// trustedEnv tells a step what its supervisor found trusted, so that it need not
// ask git as long as nothing changed.
const trustedEnv = "ORCH_TRUSTED"

// guards are the guards of projects, made when they are first asked for.
type guards struct {
	mu  sync.Mutex
	all map[string]*trust.Guard
}

// guardFor is the guard of a project. seen is only heeded by the first to ask.
func (a *app) guardFor(root, seen string) (*trust.Guard, error) {
	dir, err := trust.StateDir()
	if err != nil {
		return nil, err
	}
	a.guards.mu.Lock()
	defer a.guards.mu.Unlock()
	g := a.guards.all[root]
	if g == nil {
		if a.guards.all == nil {
			a.guards.all = map[string]*trust.Guard{}
		}
		g = trust.NewGuard(trust.Open(dir), root, seen)
		a.guards.all[root] = g
	}
	return g, nil
}

// checkTrust refuses to go on with anything that came with a repository and is
// not what the person trusted.
func (a *app) checkTrust(ctx context.Context, root string) error {
	g, err := a.guardFor(root, "")
	if err != nil {
		return err
	}
	return g.Check(ctx)
}

// trustedConfig is the configuration to act by. It is looked at before it is
// read and after, so that what was read is what is trusted.
func (a *app) trustedConfig(ctx context.Context, root string) (config.Config, error) {
	if err := a.checkTrust(ctx, root); err != nil {
		return config.Config{}, err
	}
	cfg, err := a.config(root)
	if err != nil {
		return cfg, err
	}
	return cfg, a.checkTrust(ctx, root)
}

func newTrust(a *app) *cobra.Command {
	var list bool
	c := &cobra.Command{
		Use: "trust", Short: "trust the configuration, hooks and playbooks that came with this repository", Args: cobra.NoArgs,
		Long: `Trust exactly what is there now of .orch/config.yaml, hooks, playbooks and
values.md, as far as git tracks them or a link on the way to them: content, the
right to be executed, and where links lead. A later change needs trust again,
also one in the middle of a run, and so does a file that is gone.`,
		Example: "  orch config trust --list\n  orch config trust",
		RunE:    func(c *cobra.Command, _ []string) error { return a.trust(c.Context(), list) },
	}
	c.Flags().BoolVar(&list, "list", false, "show what would be trusted, and change nothing")
	return c
}

func (a *app) trust(ctx context.Context, list bool) error {
	root, err := a.root()
	if err != nil {
		return err
	}
	dir, err := trust.StateDir()
	if err != nil {
		return err
	}
	var files []trust.File
	if list {
		files, err = trust.Foreign(ctx, root)
	} else {
		files, err = trust.Open(dir).Add(ctx, root)
	}
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.printJSON(map[string]any{"version": 1, "files": append([]trust.File{}, files...)})
	}
	for _, f := range files {
		line := f.Hash[:12] + "  " + f.Path
		if f.Link != "" {
			line += " -> " + f.Link
		}
		sayLine(a.out, line)
	}
	if len(files) == 0 {
		sayLine(a.out, "nothing here came with the repository")
	}
	return nil
}
