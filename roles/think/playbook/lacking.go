package playbook

import (
	"context"
	"errors"
	"maps"
	"slices"

	"orch/roles/think"
)

// lacking says that only programs which are not on PATH stand in the way of the
// first plan; nil if something else does too. Later, what is here had its
// chance, and nobody is asked to install what would come after it.
func (b *Backend) lacking(ctx context.Context, in think.PlanInput, why error) error {
	if none := new(think.NoPlanError); !errors.As(why, &none) || len(in.Previous)+len(in.Violations) > 0 {
		return nil
	}
	f := withCommands{Facts: b.opt.Facts(in.Workspace), asked: map[string]bool{}, without: map[string]bool{}}
	would := func() bool {
		_, err := b.plan(ctx, in, f)
		return err == nil
	}
	if !would() {
		return nil
	}
	var needed []string
	for _, c := range slices.Sorted(maps.Keys(f.asked)) {
		f.without[c] = true
		if !would() {
			needed = append(needed, c)
			delete(f.without, c)
		}
	}
	if len(needed) == 0 {
		return nil // it came meanwhile
	}
	return &think.MissingToolError{Commands: needed}
}

// withCommands are the facts of a machine on which every program is installed,
// without some.
type withCommands struct {
	Facts
	asked   map[string]bool // those that are not here
	without map[string]bool
}

func (f withCommands) Command(name string) bool {
	if f.Facts.Command(name) {
		return true
	}
	f.asked[name] = true
	return !f.without[name]
}

func (f withCommands) Sub(dir string) Facts { f.Facts = f.Facts.Sub(dir); return f }
