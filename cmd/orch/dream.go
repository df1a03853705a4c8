package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orch/blackboard"
	"orch/blackboard/journal"
	"orch/blackboard/message"
	"orch/roles/memory"
)

func newDream(a *app) *cobra.Command {
	var once bool
	var phases []string
	var asOf string
	c := &cobra.Command{
		Use: "dream", Short: "consolidate what was learned: make rules of what recurs, forget what has faded", Args: cobra.NoArgs,
		Long: `Let the memory go over all it knows once. A resident does the same by itself
after every goal and by the clock; this is for cron and for who does not want
to wait. While a resident has the memory, it is asked and waited for.

The phases are contradict (a newer rule speaks against an older one that says
the opposite), bankrupt (a rule that is known to fail fades from now on),
consolidate (a pair that has earned it becomes a rule) and forget.`,
		Example: "  orch memory dream --once\n  orch memory dream --once --phase forget",
		RunE: func(c *cobra.Command, _ []string) error {
			if !once {
				return usagef("orch memory dream --once; orch run and orch memory serve dream by themselves", "there is only one pass at a time by hand: --once")
			}
			for _, p := range phases {
				if !slices.Contains(message.DreamPhases(), p) {
					return usagef("--phase "+strings.Join(message.DreamPhases(), ", "), "there is no phase %q", p)
				}
			}
			if err := a.remembers(); err != nil {
				return err
			}
			r, err := a.dreamNow(c.Context(), phases, asOf)
			if err != nil {
				return err
			}
			return a.printDream(r)
		},
	}
	c.Flags().BoolVar(&once, "once", false, "make one pass and exit")
	c.Flags().StringSliceVar(&phases, "phase", nil, "only these phases")
	c.Flags().StringVar(&asOf, "as-of", "", "make the pass as if it were then: 200d from now, a date, or a time; what it forgets is forgotten")
	return c
}

func (a *app) printDream(r dreamReport) error {
	if a.asJSON {
		return a.printJSON(r)
	}
	if len(r.Created)+len(r.Demoted)+len(r.Deleted)+len(r.Consolidated) == 0 {
		_, err := sayLine(a.out, "nothing to do: nothing recurs enough for a rule, and nothing has faded")
		return err
	}
	for _, part := range []struct {
		ids  []string
		what string
	}{
		{r.Created, "created"}, {r.Consolidated, "part of a rule now"}, {r.Demoted, "lost its trust"}, {r.Deleted, "forgotten"},
	} {
		for _, id := range part.ids {
			if _, err := say(a.out, "%-18s %s\n", part.what, id); err != nil {
				return err
			}
		}
	}
	return nil
}

func newMemoryRebuild(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "rebuild", Short: "make the index of the memory anew from the log", Args: cobra.NoArgs,
		Long: `Move the index aside and make it anew from the log, which has everything that
was ever learned. The answers stay the same.`,
		Example: "  orch memory rebuild",
		RunE: func(c *cobra.Command, _ []string) error {
			r, err := a.dreamNow(c.Context(), []string{message.DreamRebuild}, "")
			if err != nil {
				return err
			}
			through, kept := uint64(0), ""
			if r.Rebuilt != nil {
				through, kept = r.Rebuilt.Through, r.Rebuilt.Kept
			}
			if kept == "" {
				return a.report(r, "rebuilt through message %d", through)
			}
			return a.report(r, "rebuilt through message %d; the old index is in %s", through, filepath.Join(blackboard.DirName, kept))
		},
	}
}

func newMemoryExport(a *app) *cobra.Command {
	var out string
	c := &cobra.Command{
		Use: "export", Short: "write the rules and live potentials to .orch/memory.yaml, for git diff", Args: cobra.NoArgs,
		Example: "  orch memory export\n  orch memory export --out -",
	}
	asOf := asOfFlag(c)
	c.Flags().StringVar(&out, "out", "", "file to write instead; - for standard output")
	c.RunE = func(c *cobra.Command, _ []string) error {
		root, err := a.root()
		if err != nil {
			return err
		}
		path := out
		if path == "" {
			path = filepath.Join(root, blackboard.DirName, "memory.yaml")
		}
		return a.lookIn(c.Context(), *asOf, func(s *memory.Store, _ time.Time) error {
			if path == "-" {
				return s.Export(c.Context(), a.out)
			}
			if err := writeAtomically(path, func(w io.Writer) error { return s.Export(c.Context(), w) }); err != nil {
				return err
			}
			return a.report(map[string]any{"version": 1, "file": path}, "written to %s", path)
		})
	}
	return c
}

// writeAtomically replaces a file as a whole, by way of a temporary one beside it.
func writeAtomically(path string, write func(io.Writer) error) error {
	var text strings.Builder
	if err := write(&text); err != nil {
		return err
	}
	if err := journal.WriteFileAtomic(journal.OSFS{}, path, []byte(text.String()), os.FileMode(0o644)); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
