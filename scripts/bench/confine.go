package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"orch/roles/act/confine"
	"orch/roles/act/process"
)

// measureConfine compares a command that a step would start confined with the
// same one under its guard alone. The command is true: all there is to measure
// is its start and its end.
func measureConfine(ctx context.Context, b *bench) ([]result, error) {
	m := confine.Probe(ctx, []string{b.orch, "confine", "--try", "--"}, "")
	policy, err := b.policy()
	if err != nil {
		return nil, err
	}
	var all []result
	for _, l := range []confine.Layers{m.Layers, {Landlock: m.Landlock}} {
		if !l.Any() {
			all = append(all, result{what: "a confined call", measured: "this machine has no confinement", verdict: reported})
			break
		}
		var confined, guarded usage
		run := func(u *usage, s *confine.Sandbox) func(bool) error {
			return func(counts bool) error { return b.guarded(ctx, u, s, counts) }
		}
		if err := turns(ctx, b.pick(101, 11), run(&confined, &confine.Sandbox{Policy: policy, Layers: l}), run(&guarded, nil)); err != nil {
			return nil, err
		}
		ratio := median(ratios(confined.wall, guarded.wall))
		all = append(all, result{what: "a call confined by " + l.String(), bar: "≤ 1.5 × one that is not", measured: ms(median(confined.wall)),
			floor: ms(median(guarded.wall)) + ", " + times(ratio), verdict: meets(ratio <= 1.5)})
	}
	return all, nil
}

// policy is that of a tool call in a repository.
func (b *bench) policy() (confine.Policy, error) {
	root, err := filepath.EvalSymlinks(b.temp)
	if err != nil {
		return confine.Policy{}, err
	}
	p := confine.Policy{Hide: confine.Secrets(os.Getenv("HOME"), strconv.Itoa(os.Getuid()), os.Environ())}
	for _, dir := range []string{"confined/.orch/goals/g/files", "confined/.git/hooks", "scratch", "caches"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			return p, fmt.Errorf("make a place to be confined to: %w", err)
		}
	}
	for _, dir := range []string{"confined", "confined/.orch/goals/g/files", "scratch", "caches"} {
		p.Write = append(p.Write, filepath.Join(root, dir))
	}
	p.ReadOnly = append(confine.Git(filepath.Join(root, "confined", ".git"), nil), filepath.Join(root, "confined", ".orch"))
	return p.Clean()
}

// guarded runs true under a guard once.
func (b *bench) guarded(ctx context.Context, u *usage, s *confine.Sandbox, counts bool) error {
	began := time.Now()
	r := process.Run(ctx, process.Spec{Argv: []string{"true"}, Dir: filepath.Join(b.temp, "confined"), Env: b.env, Session: true,
		Guard: []string{b.orch, "guard", "--"}, Confine: s})
	took := time.Since(began)
	if !r.OK() {
		return fmt.Errorf("run true: exit %d, %w\n%s", r.Exit, r.Err, r.Output())
	}
	if counts {
		u.add(took, 0)
	}
	return nil
}
