package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"orch/blackboard"
	"orch/blackboard/journal"
	"orch/roles/act/confine"
	"orch/roles/act/process"
	"orch/roles/run/config"
)

// finding is one line of orch doctor.
type finding struct {
	What  string `json:"what"`
	State string `json:"state"` // ok, note or problem
	Text  string `json:"text"`
}

func newDoctor(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "show what this machine and project have, and what each role will use", Args: cobra.NoArgs, Example: "  orch doctor",
		RunE: func(c *cobra.Command, _ []string) error {
			found := a.examine(c.Context())
			bad := 0
			for _, f := range found {
				if f.State == "problem" {
					bad++
				}
			}
			if a.asJSON {
				if err := a.printJSON(map[string]any{"version": 1, "findings": found}); err != nil {
					return err
				}
			} else {
				p := painting(a.out)
				mark := map[string]string{"ok": p.green("✓"), "note": p.yellow("!"), "problem": p.red("✗")}
				for _, f := range found {
					say(a.out, "%s %-16s %s\n", mark[f.State], f.What, f.Text)
				}
			}
			if bad > 0 {
				return &exitError{code: exitUsage, cause: hinted{fmt.Errorf("%s found", count(bad, "problem")), "mend the lines marked ✗"}}
			}
			return nil
		},
	}
}

func (a *app) examine(ctx context.Context) []finding {
	root, err := a.root()
	hasBoard := err == nil
	if !hasBoard {
		if root, err = filepath.Abs(a.dir); err != nil {
			return []finding{{"directory", "problem", err.Error()}}
		}
	}
	found := []finding{examineFS(root), examineBoard(hasBoard, root), a.examineTrust(ctx, root)}
	cfg, err := a.config(root)
	if err != nil {
		return append(found, finding{"configuration", "problem", err.Error()})
	}
	found = append(found, finding{"configuration", "ok", "controller " + cfg.Controller.Policy})
	found = append(found, a.examinePlaybooks(root)...)
	found = append(found, examinePrograms()...)
	found = append(found, a.examineConfinement(ctx, cfg)...)
	return append(found, examineThinking(ctx, cfg)...)
}

func examineFS(root string) finding {
	kind, err := journal.OSFS{}.NetworkKind(root)
	switch {
	case err != nil:
		return finding{"file system", "problem", err.Error()}
	case kind != "":
		return finding{"file system", "problem", kind + ": locks may not hold on a network file system"}
	}
	return finding{"file system", "ok", "local"}
}

func examineBoard(has bool, root string) finding {
	if !has {
		return finding{"board", "note", "none here; orch run or orch init makes one"}
	}
	return finding{"board", "ok", filepath.Join(root, blackboard.DirName)}
}

func (a *app) examineTrust(ctx context.Context, root string) finding {
	if err := a.checkTrust(ctx, root); err != nil {
		return finding{"trust", "problem", err.Error() + " — orch config trust"}
	}
	return finding{"trust", "ok", "nothing untrusted can run"}
}

func (a *app) examinePlaybooks(root string) []finding {
	_, lib, err := a.playbooks(root)
	if err != nil {
		return []finding{{"playbooks", "problem", err.Error()}}
	}
	return []finding{{"playbooks", "ok", fmt.Sprintf("%v", lib.Names())}}
}

func examinePrograms() []finding {
	var out []finding
	for _, p := range []struct{ name, why string }{{"git", "repositories, trust of what came with a clone"}, {"sh", "shell commands of playbooks"}} {
		if path, err := exec.LookPath(p.name); err == nil {
			out = append(out, finding{p.name, "ok", path})
		} else {
			out = append(out, finding{p.name, "note", "not found; needed for " + p.why})
		}
	}
	if err := process.BecomeSubreaper(); err != nil {
		out = append(out, finding{"leftovers", "note", "found by marker only: " + err.Error()})
	} else {
		out = append(out, finding{"leftovers", "ok", "collected by a subreaper and by marker"})
	}
	return out
}

// examineConfinement tries what the machine has, and says which profile uses it.
func (a *app) examineConfinement(ctx context.Context, cfg config.Config) []finding {
	m, err := a.machine(ctx)
	if err != nil {
		return []finding{{"confinement", "problem", err.Error()}}
	}
	out := []finding{{"namespace", "ok", "a command sees its own mounts, devices and terminals"}, {"landlock", "ok", fmt.Sprintf("ABI %d", m.Landlock)}}
	if !m.Namespace {
		out[0] = finding{"namespace", "note", m.NoNamespace}
	}
	if m.Landlock == 0 {
		out[1] = finding{"landlock", "note", m.NoLandlock}
	}
	last := finding{"confinement", "ok", "tasks: " + tasksHeldBy(m.Layers) + "; code: " + codeHeldBy(m.Layers)}
	switch err := required(cfg, m.Layers); {
	case cfg.Confine == confineOff:
		last.State, last.Text = "problem", "off: commands may read and write what you may; only the safety gate and fingerprints of .orch are left — remove `confine: off` from .orch/config.yaml"
	case err != nil:
		last.State, last.Text = "problem", err.Error()
	case !m.Namespace:
		last.State = "note"
	}
	return append(out, last, cachesApart(m, cfg.Confine == confineOff))
}

// cachesApart says what keeps the caches of who is judged from who judges.
func cachesApart(m confine.Machine, off bool) finding {
	const below = "what orch built of the base lies below those of each step, "
	switch {
	case off || !m.Any():
		return finding{"caches", "note", below + "as a copy, for who judges; who works uses yours"}
	case m.Overlay:
		return finding{"caches", "ok", below + "and nobody writes to it"}
	}
	return finding{"caches", "note", below + "as a copy, or not at all if it is large: " + m.NoOverlay}
}

// tasksHeldBy says what keeps the commands of profile task in their place.
func tasksHeldBy(l confine.Layers) string {
	switch {
	case l.Namespace && l.Landlock > 0:
		return "namespace and Landlock"
	case l.Namespace:
		return "namespace"
	case l.Landlock > 0:
		return "Landlock, and .orch fingerprinted around each call"
	}
	return "not confined; .orch fingerprinted around each call"
}

// codeHeldBy says what keeps coders and reviewers in their worktrees.
func codeHeldBy(l confine.Layers) string {
	switch {
	case l.Any() && !l.Namespace:
		return "Landlock"
	case l.Any():
		return tasksHeldBy(l)
	}
	return "not confined; the main checkout fingerprinted around each step"
}
