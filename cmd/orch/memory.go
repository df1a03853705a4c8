package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orch/blackboard/message"
	"orch/roles/loop"
	"orch/roles/memory"
)

const localEntity = loop.LocalEntity

func newMemory(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "memory", Short: "see and correct what was learned",
		Long: `See and correct what was learned in this project. All of it works while a
resident has the memory, and while none has. docs/memory.md says what the
numbers mean.`,
		Example: "  orch memory why \"make the tests pass\"\n  orch memory add \"always use yarn\"",
	}
	c.PersistentPreRunE = func(*cobra.Command, []string) error { return a.remembers() }
	c.AddCommand(newMemoryLs(a), newMemoryShow(a), newMemoryQuery(a), newMemoryWhy(a), newMemoryAdd(a), newMemoryForget(a),
		newMemoryRebuild(a), newMemoryExport(a), newMemoryServe(a))
	return c
}

// remembers refuses where the configuration says that there is no memory.
func (a *app) remembers() error {
	root, err := a.root()
	if err != nil {
		return err
	}
	if cfg, err := a.config(root); err != nil || !cfg.Memory.Off {
		return err
	}
	return memoryOff()
}

func memoryOff() error {
	return usagef("take \"memory: off\" out of .orch/config.yaml", "the memory is off: nothing is learned, told or kept")
}

// asOfFlag lets a command look at the memory as it will be at another time.
func asOfFlag(c *cobra.Command) *string {
	return c.Flags().String("as-of", "", "look as if it were then: 200d from now, a date, or a time")
}

func newMemoryLs(a *app) *cobra.Command {
	var level string
	var limit int
	var retired bool
	c := &cobra.Command{
		Use: "ls", Short: "list what is remembered, newest first", Args: cobra.NoArgs,
		Example: "  orch memory ls --level C\n  orch memory ls --as-of 200d --json",
	}
	asOf := asOfFlag(c)
	c.Flags().StringVar(&level, "level", "", "only this level: M, K or C")
	c.Flags().IntVar(&limit, "limit", 50, "at most so many")
	c.Flags().BoolVar(&retired, "retired", false, "also what has become part of a rule")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if limit < 1 {
			return usagef("--limit 50", "--limit is %d, allowed: 1 and more", limit)
		}
		return a.lookIn(c.Context(), *asOf, func(s *memory.Store, now time.Time) error {
			list, err := s.Recent(c.Context(), level, retired, limit)
			if err != nil {
				return err
			}
			return a.printEntries(list, now)
		})
	}
	return c
}

func (a *app) printEntries(list []memory.Entry, now time.Time) error {
	if a.asJSON {
		return a.printJSON(map[string]any{"version": 1, "as_of": now.UTC(), "entries": entryRows(list, now)})
	}
	if len(list) == 0 {
		_, err := sayLine(a.out, "nothing is remembered yet")
		return err
	}
	for _, e := range list {
		if _, err := sayLine(a.out, entryLine(e, now)); err != nil {
			return err
		}
	}
	return nil
}

// entryRow is the documented shape of an entry under --json.
type entryRow struct {
	memory.Entry
	Attention float64 `json:"attention"` // what is left of it now
	Decision  float64 `json:"decision"`
}

func entryRows(list []memory.Entry, now time.Time) []entryRow {
	rows := []entryRow{}
	for _, e := range list {
		rows = append(rows, entryRow{e, e.Weights.Attention(now), e.Weights.Decision(now)})
	}
	return rows
}

// entryLine is one entry for people: its weight now, what it is about, what it says.
func entryLine(e memory.Entry, now time.Time) string {
	line := fmt.Sprintf("%s  %s  %s  %s  %-15s %s: %s", short(e.Megram.ID), e.Level, signed(e.Weights.Decision(now)),
		e.Megram.CreatedAt.Format(time.DateOnly), stateName(e), oneLine(pairName(e.Pair()), 60), oneLine(e.Megram.Content.Lesson, 120))
	if e.Into != "" {
		line += "  (part of " + short(e.Into) + ")"
	}
	return line
}

// signed is a decision for people: nothing is neither for nor against.
func signed(x float64) string {
	if text := fmt.Sprintf("%+5.2f", x); text != "-0.00" && text != "+0.00" {
		return text
	}
	return " 0.00"
}

// stateName says where an entry comes from, if not from a state of a goal.
func stateName(e memory.Entry) string {
	switch {
	case e.Rule:
		return "made of others"
	case e.Megram.State == "" && e.Megram.Content.Category == "fact" && e.Level == memory.LevelC:
		return "declared"
	case e.Megram.State == "":
		return "against a rule"
	}
	return string(e.Megram.State)
}

func newMemoryShow(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "show ID", Short: "show one entry with everything known about it", Args: cobra.ExactArgs(1), Example: "  orch memory show 0198c1",
	}
	asOf := asOfFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.lookIn(c.Context(), *asOf, func(s *memory.Store, now time.Time) error {
			e, err := findEntry(c.Context(), s, args[0])
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.printJSON(map[string]any{"version": 1, "as_of": now.UTC(), "entry": entryRows([]memory.Entry{e}, now)[0]})
			}
			return a.printEntry(e, now)
		})
	}
	return c
}

func (a *app) printEntry(e memory.Entry, now time.Time) error {
	m, w := e.Megram, e.Weights
	rows := [][2]string{
		{"id", m.ID}, {"about", pairName(e.Pair())}, {"lesson", m.Content.Lesson}, {"category", m.Content.Category},
		{"tags", strings.Join(m.Content.Tags, ", ")}, {"state", string(m.State)}, {"level", levelName(e)},
		{"weights", fmt.Sprintf("f %.2f  σ %+.2f  k %.3g per day, from %s on", w.F, w.Sigma, w.K, w.Since.Format(time.DateTime))},
		{"now", fmt.Sprintf("attention %.3f  decision %+.3f", w.Attention(now), w.Decision(now))},
		{"message", fmt.Sprintf("%d", e.Seq)},
	}
	if !e.Recalled.IsZero() {
		rows = append(rows, [2]string{"recalled", e.Recalled.Format(time.DateTime)})
	}
	if e.Into != "" {
		rows = append(rows, [2]string{"part of", e.Into})
	}
	for _, r := range rows {
		if r[1] == "" {
			continue
		}
		if _, err := say(a.out, "%-9s %s\n", r[0], r[1]); err != nil {
			return err
		}
	}
	return nil
}

func levelName(e memory.Entry) string {
	name := map[string]string{memory.LevelM: "an episode", memory.LevelK: "a rule that lost its trust", memory.LevelC: "a rule", memory.LevelT: "a value"}[e.Level]
	if e.Rule {
		name += ", made of others"
	}
	return e.Level + ", " + name
}

// findEntry resolves an id, or the only one that begins so among the newest.
func findEntry(ctx context.Context, s *memory.Store, prefix string) (memory.Entry, error) {
	const reach = 100_000 // prefixes are for what was just listed
	if e, err := s.Get(prefix); err == nil {
		return e, nil
	}
	list, err := s.Recent(ctx, "", true, reach)
	if err != nil {
		return memory.Entry{}, err
	}
	var found []memory.Entry
	for _, e := range list {
		if strings.HasPrefix(e.Megram.ID, prefix) {
			found = append(found, e)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return memory.Entry{}, usagef("orch memory ls --json shows them whole", "%d entries begin with %q", len(found), prefix)
	}
	return memory.Entry{}, usagef("orch memory ls", "there is no memory %q", prefix)
}

func newMemoryQuery(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "query PAIR…", Short: "show what is known about pairs and what it advises", Args: cobra.MinimumNArgs(1),
		Long: `Show the potentials of pairs. A pair is "APPROACH on TARGET", an intent's
space such as intent:make_the_tests, or SPACE=ENTITY as it is filed.`,
		Example: "  orch memory query \"rerun on go test ./...\" intent:make_the_tests",
	}
	asOf := asOfFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		var pairs []memory.Pair
		for _, arg := range args {
			filed := []string{arg}
			if space, entity, ok := strings.Cut(arg, "="); ok && !strings.Contains(arg, " on ") && !strings.HasPrefix(arg, "fact:") {
				filed = []string{space, entity}
			}
			p, err := parsePair(filed)
			if err != nil {
				return err
			}
			pairs = append(pairs, p)
		}
		return a.lookIn(c.Context(), *asOf, func(s *memory.Store, now time.Time) error { return a.printPairs(s, pairs, now) })
	}
	return c
}

// factBytes bounds a fact: each planner is told each in full.
const factBytes = 4 << 10

func newMemoryAdd(a *app) *cobra.Command {
	var tags []string
	c := &cobra.Command{
		Use: "add FACT", Short: "declare a fact; every plan from now on is told", Args: cobra.ExactArgs(1),
		Example: "  orch memory add \"always use yarn\" --tags node",
		RunE: func(c *cobra.Command, args []string) error {
			text := strings.TrimSpace(args[0])
			if text == "" {
				return usagef("orch memory add \"always use yarn\"", "the fact is empty")
			}
			if len(text) > factBytes {
				return usagef("say it in a sentence or two, or write it into .orch/values.md", "the fact has %d bytes, allowed: %d, because every plan is told all of it", len(text), factBytes)
			}
			b, err := a.open(person())
			if err != nil {
				return err
			}
			defer b.Close()
			m, err := b.Append(c.Context(), message.Message{From: message.Human, To: message.Memory, Body: message.MemoryFact{Text: text, Tags: tags}})
			if err != nil {
				return err
			}
			return a.report(map[string]any{"version": 1, "id": m.ID}, "remembered as %s\nnext: orch memory show %s", short(string(m.ID)), m.ID)
		},
	}
	c.Flags().StringSliceVar(&tags, "tags", nil, "what it is about, separated by commas")
	return c
}

func newMemoryForget(a *app) *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use: "forget ID…", Short: "take entries out of the memory for good; the log keeps what was said", Args: cobra.MinimumNArgs(1),
		Example: "  orch memory forget 0198c1 --reason \"the tool was replaced\"",
	}
	c.Flags().StringVar(&reason, "reason", "", "why, for whoever reads the log")
	c.RunE = func(c *cobra.Command, args []string) error {
		var ids []string
		err := a.lookIn(c.Context(), "", func(s *memory.Store, _ time.Time) error {
			for _, arg := range args {
				e, err := findEntry(c.Context(), s, arg)
				if err != nil {
					return err
				}
				ids = append(ids, e.Megram.ID)
			}
			return nil
		})
		if err != nil {
			return err
		}
		b, err := a.open(person())
		if err != nil {
			return err
		}
		defer b.Close()
		if _, err := b.Append(c.Context(), message.Message{From: message.Human, To: message.Memory, Body: message.MemoryForget{IDs: ids, Reason: reason}}); err != nil {
			return err
		}
		return a.report(map[string]any{"version": 1, "forgotten": ids}, "forgotten: %s", strings.Join(ids, ", "))
	}
	return c
}
