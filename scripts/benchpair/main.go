//go:build unix

// Command benchpair measures what a coding run costs beside its agents: claim,
// worktree, submit, review and merge of tasks whose scripted coder and reviewer
// do next to nothing, on boards of several sizes.
//
// It works in a temporary directory, ends what it starts, and leaves nothing
// behind. A run that takes longer than its bound is interrupted as a person
// would do it, and its figures are of what was merged by then.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// bench is one invocation.
type bench struct {
	orch, actors, temp string
	coders, reviewers  int
	bound              time.Duration // of one board
}

// figures are what one board came to.
type figures struct {
	tasks, merged   int
	wall, cpu       time.Duration
	code, rev, land time.Duration // median: claim to submit, review's claim to verdict, verdict to merge
	waits           time.Duration // median: from submit until a reviewer is free
	first, last     time.Duration // wall a task in the first and in the last tenth of the merges
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("benchpair", flag.ContinueOnError)
	orch := flags.String("orch", os.Getenv("ORCH"), "the program to measure; $ORCH by default")
	sizes := flags.String("tasks", "10,100,1000", "how many tasks, for each board")
	coders := flags.Int("coders", 4, "coders at once")
	reviewers := flags.Int("reviewers", 2, "reviewers at once")
	bound := flags.Duration("bound", 60*time.Minute, "how long one board may take")
	keep := flags.Bool("keep", false, "keep the temporary directory")
	if err := flags.Parse(args); err != nil {
		return err
	}
	b := &bench{coders: *coders, reviewers: *reviewers, bound: *bound}
	var err error
	if b.orch, err = filepath.Abs(*orch); err != nil {
		return err
	}
	if b.temp, err = os.MkdirTemp("", "orch-benchpair-"); err != nil {
		return err
	}
	if *keep {
		fmt.Fprintln(os.Stderr, "in", b.temp)
	} else {
		defer os.RemoveAll(b.temp)
	}
	b.actors = filepath.Join(b.temp, "fakepair")
	if err := b.do(ctx, ".", "go", "build", "-o", b.actors, "./scripts/fakepair"); err != nil {
		return err
	}
	var all []figures
	for word := range strings.SplitSeq(*sizes, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || n < 1 {
			return fmt.Errorf("%q is no number of tasks", word)
		}
		fmt.Fprintf(os.Stderr, "%d tasks …\n", n)
		f, err := b.board(ctx, n)
		if err != nil {
			return fmt.Errorf("%d tasks: %w", n, err)
		}
		all = append(all, f)
	}
	agent, agentCPU, err := b.agents(ctx)
	if err != nil {
		return fmt.Errorf("measure the agents alone: %w", err)
	}
	table(all, agent, agentCPU)
	return nil
}

// coderScript is all a coder does; the last line is orch's. A task changes its
// own line of a project that is the same whatever the number of tasks: what is
// measured is to be orch's, not what more files to check out take.
const coderScript = `mkdir -p notes
f=$(grep -ls "^$SLOT: -" notes/*.txt || echo "notes/$SLOT.txt")
if test -e "$f"; then sed "s/^$SLOT: -/$SLOT: done/" "$f" >"$f.new"; mv "$f.new" "$f"; else echo "$SLOT: done" >"$f"; fi
git add -A
git commit -qm "Do $SLOT"
`

// The project: so many files, with room for as many notes as any board has
// tasks, far enough apart that changes of two of them fit together.
const (
	noteFiles = 50
	notesEach = 20
	gap       = "\n.\n.\n.\n.\n.\n.\n"
)

func slotOf(i int) string { return fmt.Sprintf("note_%04d", i) }

// notes are the files of the project.
func notes(tasks int) map[string]string {
	files := map[string]string{}
	for i := range max(tasks, noteFiles*notesEach) {
		files[fmt.Sprintf("notes/%02d.txt", i%noteFiles)] += slotOf(i) + ": -" + gap
	}
	return files
}

// board runs one goal of so many tasks.
func (b *bench) board(ctx context.Context, n int) (figures, error) {
	root, play := filepath.Join(b.temp, fmt.Sprintf("project-%d", n)), filepath.Join(b.temp, fmt.Sprintf("play-%d", n))
	if err := b.project(ctx, root, play, n); err != nil {
		return figures{}, err
	}
	bounded, cancel := context.WithTimeout(ctx, b.bound)
	defer cancel()
	cmd := exec.CommandContext(bounded, b.orch, "run", "--profile", "code", "--spec", "spec.md", "add notes")
	cmd.Dir, cmd.Env = root, b.env()
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	began := time.Now()
	log := filepath.Join(root, ".orch", "log.jsonl")
	quiet := progress(log, began)
	err := cmd.Run()
	quiet()
	if err != nil && bounded.Err() == nil {
		return figures{}, fmt.Errorf("orch run: %w\n%s", err, said.String())
	}
	if ctx.Err() != nil {
		return figures{}, ctx.Err()
	}
	f := figures{tasks: n, wall: time.Since(began), cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	return f, f.read(log)
}

// progressEvery is how often is said how far a board is.
const progressEvery = 20 * time.Second

// progress says on standard error how many tasks are merged, until it is told
// to be quiet.
func progress(log string, began time.Time) (quiet func()) {
	done, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				raw, _ := os.ReadFile(log) // it is not there yet, then it is
				fmt.Fprintf(os.Stderr, "  %d merged after %.0f s\n", bytes.Count(raw, []byte(`"type":"Merged"`)), time.Since(began).Seconds())
			}
		}
	}()
	return func() { close(done); <-gone }
}

func (b *bench) project(ctx context.Context, root, play string, n int) error {
	type task struct {
		Slot     string `json:"slot"`
		Intent   string `json:"intent"`
		Approach string `json:"approach"`
		SpecRef  string `json:"spec_ref"`
		DoneWhen string `json:"done_when"`
		Scope    string `json:"scope"`
		Exempt   bool   `json:"exempt_from_tests"`
	}
	var tasks []task
	for i := range n {
		slot := slotOf(i)
		tasks = append(tasks, task{slot, "do " + slot, "write_it", "spec.md", "the line of " + slot + " in the notes says done", "the line of " + slot, true})
	}
	plan, err := json.Marshal(map[string]any{"tasks": tasks, "task_criteria": []any{map[string]any{
		"criterion": "the notes are there", "check": map[string]any{"run": map[string]any{"command": "ls notes"}}}}})
	if err != nil {
		return err
	}
	config := "models:\n"
	for _, role := range []string{"planner", "coder", "code-reviewer", "meta-validator"} {
		config += fmt.Sprintf("  %s: {backend: exec, options: {command: %q, format: json}}\n", role, b.actors+" "+play)
	}
	config += fmt.Sprintf("code: {test_command: \"true\", coders: %d, reviewers: %d}\nlimits: {jobs: %d}\n", b.coders, b.reviewers, b.coders+b.reviewers)
	files := map[string]string{
		filepath.Join(root, "spec.md"):                 "# Notes\n\nA line for each note, that says whether it is done.\n",
		filepath.Join(root, ".orch", "config.yaml"):    config,
		filepath.Join(play, "planner", "plan.sh"):      "cat <<'PLAN'\n" + string(plan) + "\nPLAN\n",
		filepath.Join(play, "candidates/default.sh"):   "echo '{\"candidates\":[]}'\n",
		filepath.Join(play, "coder", "default.sh"):     coderScript + "orch submit >/dev/null\n",
		filepath.Join(play, "alone/coder/default.sh"):  coderScript,
		filepath.Join(play, "code-reviewer/unused.md"): "",
	}
	for name, text := range notes(n) {
		files[filepath.Join(root, name)] = text
	}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			return err
		}
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"config", "user.name", "A Person"}, {"config", "user.email", "person@example.org"},
		{"add", "spec.md", "notes"}, {"commit", "-qm", "start"}} {
		if err := b.do(ctx, root, "git", args...); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) env() []string {
	env := slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, "ORCH") || strings.HasPrefix(s, "XDG_STATE_HOME=") })
	return append(env, "XDG_STATE_HOME="+filepath.Join(b.temp, "state"), "ORCH_DISCOVER=off")
}

func (b *bench) do(ctx context.Context, dir, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, args[0], err, out)
	}
	return nil
}

// read takes the phases from the log.
func (f *figures) read(path string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	at := map[string]map[string]time.Time{}
	var merges []time.Time
	for line := range bytes.Lines(raw) {
		var m struct {
			Type, Subject string
			TS            time.Time
		}
		if err := json.Unmarshal(line, &m); err != nil {
			return fmt.Errorf("read the log: %w", err)
		}
		if at[m.Subject] == nil {
			at[m.Subject] = map[string]time.Time{}
		}
		at[m.Subject][m.Type] = m.TS
		if m.Type == "Merged" {
			merges = append(merges, m.TS)
		}
	}
	f.merged = len(merges)
	if f.merged == 0 {
		return errors.New("nothing was merged")
	}
	var code, waits, rev, land []time.Duration
	for _, t := range at {
		if merged, ok := t["Merged"]; ok {
			code = append(code, t["ReviewRequested"].Sub(t["Claimed"]))
			waits = append(waits, t["ReviewClaimed"].Sub(t["ReviewRequested"]))
			rev = append(rev, t["ReviewVerdict"].Sub(t["ReviewClaimed"]))
			land = append(land, merged.Sub(t["ReviewVerdict"]))
		}
	}
	f.code, f.waits, f.rev, f.land = median(code), median(waits), median(rev), median(land)
	if tenth := len(merges) / 10; tenth > 0 {
		f.first = merges[tenth].Sub(merges[0]) / time.Duration(tenth)
		f.last = merges[len(merges)-1].Sub(merges[len(merges)-1-tenth]) / time.Duration(tenth)
	}
	return nil
}

// agents is what the coder's and the reviewer's programs take by themselves
// for one task.
func (b *bench) agents(ctx context.Context) (wall, cpu time.Duration, err error) {
	play := ""
	if found, _ := filepath.Glob(filepath.Join(b.temp, "play-*", "alone")); len(found) > 0 {
		play = found[0]
	}
	dir := filepath.Join(b.temp, "alone")
	for _, args := range [][]string{{"init", "-q", dir}, {"-C", dir, "config", "user.name", "x"}, {"-C", dir, "config", "user.email", "x@example.org"}} {
		if err := b.do(ctx, b.temp, "git", args...); err != nil {
			return 0, 0, err
		}
	}
	var walls, cpus []time.Duration
	for i := range 15 {
		began, used := time.Now(), time.Duration(0)
		for _, role := range []string{"coder", "code-reviewer"} {
			cmd := exec.CommandContext(ctx, b.actors, play)
			cmd.Dir, cmd.Stdin = dir, strings.NewReader(fmt.Sprintf(`{"role": %q, "dir": %q, "input": {"task": {"slot": "note_%d"}}}`, role, dir, i))
			if out, err := cmd.CombinedOutput(); err != nil {
				return 0, 0, fmt.Errorf("%w: %s", err, out)
			}
			used += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		}
		walls, cpus = append(walls, time.Since(began)), append(cpus, used)
	}
	return median(walls), median(cpus), nil
}

func median(all []time.Duration) time.Duration {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// table prints a row for each board, and what each is to the first.
func table(all []figures, agent, agentCPU time.Duration) {
	fmt.Println("| tasks | merged | wall a task | CPU a task | of the first board | claim → submit | waits for a reviewer | review's claim → verdict | → merge | first tenth → last tenth, wall a merge |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|")
	ms := func(d time.Duration) string { return fmt.Sprintf("%.0f ms", float64(d)/float64(time.Millisecond)) }
	each := func(d time.Duration, n int) time.Duration { return d / time.Duration(n) }
	for _, f := range all {
		wall, cpu := each(f.wall, f.merged), each(f.cpu, f.merged)-agentCPU
		wall0, cpu0 := each(all[0].wall, all[0].merged), each(all[0].cpu, all[0].merged)-agentCPU
		fmt.Printf("| %d | %d | %s | %s | %.2f wall, %.2f CPU | %s | %s | %s | %s | %s → %s |\n", f.tasks, f.merged, ms(wall), ms(cpu),
			float64(wall)/float64(wall0), float64(cpu)/float64(cpu0), ms(f.code), ms(f.waits), ms(f.rev), ms(f.land), ms(f.first), ms(f.last))
	}
	fmt.Printf("\nThe agents by themselves: %s and %s CPU a task. The CPU above is without theirs; the wall time is with it, of several at once.\n", ms(agent), ms(agentCPU))
}
