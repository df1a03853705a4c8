package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// resident is one process of an idle run and what it used.
type resident struct {
	name     string
	share    float64 // of one core
	rssBytes int64
	anon     int64 // of it, memory that belongs to nothing but the process
}

// errUnmeasured: this system does not tell what a process uses.
var errUnmeasured = errors.New("not measured on this system")

// measureIdle looks at orch run and its residents while a goal is open and the
// board is paused.
func measureIdle(ctx context.Context, b *bench) ([]result, error) {
	root, err := b.pausedProject(ctx)
	if err != nil {
		return nil, err
	}
	said, err := os.Create(filepath.Join(b.temp, "run"))
	if err != nil {
		return nil, fmt.Errorf("keep what the run says: %w", err)
	}
	defer said.Close()
	cmd := b.command(ctx, root, b.orch, "run", "make the tests pass")
	cmd.Stdout, cmd.Stderr = said, said
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the run: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	rows, err := b.watchIdle(ctx, root, cmd)
	if serr := cmd.Process.Signal(os.Interrupt); serr != nil { // Windows has no such signal
		_ = cmd.Process.Kill() // an error means that it has ended
	}
	var exit *exec.ExitError
	if werr := <-ended; werr != nil && !errors.As(werr, &exit) {
		err = errors.Join(err, werr)
	}
	if errors.Is(err, errUnmeasured) {
		return []result{{what: "idle orch run", bar: "< 0.2 % of a core, ≤ 60 MB each", measured: err.Error(), verdict: reported}}, nil
	}
	if err != nil {
		words, _ := os.ReadFile(said.Name()) // they only explain the error
		return nil, fmt.Errorf("%w\n%s", err, words)
	}
	return rows, gone(root)
}

// pausedProject is a project with a failing test and a board that is paused.
func (b *bench) pausedProject(ctx context.Context) (string, error) {
	root, err := b.board(ctx)
	if err != nil {
		return "", err
	}
	for name, text := range map[string]string{
		"go.mod":       "module idle\n\ngo 1.24\n",
		"idle.go":      "package idle\n\nconst Answer = 41\n",
		"idle_test.go": "package idle\n\nimport \"testing\"\n\nfunc TestAnswer(t *testing.T) {\n\tif Answer != 42 {\n\t\tt.Fatal(Answer)\n\t}\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			return "", fmt.Errorf("make a project: %w", err)
		}
	}
	return root, b.do(ctx, root, "pause")
}

// watchIdle waits until the goal is open and the residents are there, and then
// looks at what they use.
func (b *bench) watchIdle(ctx context.Context, root string, run *exec.Cmd) ([]result, error) {
	if err := b.settled(ctx, root); err != nil {
		return nil, err
	}
	before, err := processesOf(root)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if err := pause(ctx, time.Duration(b.pick(30, 5))*time.Second); err != nil {
		return nil, err
	}
	after, err := processesOf(root)
	if err != nil {
		return nil, err
	}
	took := time.Since(began)
	var rows []resident
	grown := int64(0)
	for _, p := range after {
		at := slices.IndexFunc(before, func(q proc) bool { return q.pid == p.pid })
		if at < 0 {
			return nil, fmt.Errorf("a process was started although the board is paused: %v", p.args)
		}
		name := "resident"
		for _, known := range []string{"ggs", "memory", "auditor"} {
			if slices.Contains(p.args, known) {
				name = known
			}
		}
		if p.pid == run.Process.Pid {
			name = "run"
		}
		rows = append(rows, resident{name, float64(p.cpu-before[at].cpu) / float64(took), p.rssBytes, p.anonBytes})
		grown += p.anonBytes - before[at].anonBytes
	}
	if len(rows) < 2 {
		return nil, fmt.Errorf("only %d processes are there: want orch run and ggs", len(rows))
	}
	steps, err := b.steps(ctx, root)
	if err != nil {
		return nil, err
	}
	return idleResults(rows, took, steps, grown), nil
}

func idleResults(rows []resident, took time.Duration, steps int, grown int64) []result {
	var share, rss []string
	total, most := 0.0, int64(0)
	for _, r := range rows {
		share = append(share, fmt.Sprintf("%s %.2f %%", r.name, 100*r.share))
		rss = append(rss, fmt.Sprintf("%s %.0f MB (%.0f MB its own)", r.name, float64(r.rssBytes)/1e6, float64(r.anon)/1e6))
		total, most = total+r.share, max(most, r.rssBytes)
	}
	return []result{
		{what: "idle orch run, CPU", bar: "< 0.2 % of a core", measured: fmt.Sprintf("%.2f %%", 100*total), floor: strings.Join(share, ", "), verdict: meets(total < 0.002),
			notes: []string{fmt.Sprintf("over %s with an open goal and a paused board", took.Round(time.Second))}},
		{what: "idle orch run, memory of each", bar: "≤ 60 MB", measured: fmt.Sprintf("%.0f MB", float64(most)/1e6), floor: strings.Join(rss, ", "), verdict: meets(most <= 60e6),
			notes: []string{fmt.Sprintf("their own memory grew by %d kB meanwhile", grown/1000)}},
		{what: "idle orch run, steps started", bar: "0 model calls", measured: fmt.Sprint(steps), verdict: meets(steps == 0)},
	}
}

// settled waits until the goal is open and ggs is there, and a little longer.
func (b *bench) settled(ctx context.Context, root string) error {
	for range 100 {
		there, err := processesOf(root)
		if err != nil {
			return err
		}
		if len(there) >= 2 && b.do(ctx, root, "goals", "--open", "--quiet") == nil {
			return pause(ctx, 3*time.Second)
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
	return errors.New("no goal is open after 10 s")
}

// steps is how many steps were ever started on the board.
func (b *bench) steps(ctx context.Context, root string) (int, error) {
	out, err := b.command(ctx, root, b.orch, "log", "--type", "StepStarting").Output()
	if err != nil {
		return 0, fmt.Errorf("look for steps: %w", err)
	}
	return strings.Count(string(out), "\n"), nil
}

// gone checks that the run left no process behind.
func gone(root string) error {
	left, err := processesOf(root)
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("processes left behind: %v", left)
	}
	return err
}

// proc is one process of a project, its CPU time and its memory.
type proc struct {
	pid                 int
	args                []string
	cpu                 time.Duration
	rssBytes, anonBytes int64
}

// String names the process.
func (p proc) String() string {
	raw, err := json.Marshal(p.args)
	if err != nil { // not for strings
		panic(err)
	}
	return fmt.Sprintf("%d %s", p.pid, raw)
}
