// Command bench measures the performance bars of docs/bench.md and prints them
// as one table.
//
// Absolute times move with the machine, so every figure stands beside a floor
// that was measured in the same run, turn by turn with it: a bare append and
// fsync, a bare fork and exec of the same program, a wake by the file system.
//
// It works in a temporary directory only (TMPDIR says on which disk), starts no
// process that it does not end, and leaves nothing behind. The same program is
// also the other processes that the measurements need; see child.go.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "error: %s\n", err)
		os.Exit(1)
	}
}

// bench is what every measurement is given.
type bench struct {
	orch  string   // the program under test
	self  string   // this program, to be started as a child
	temp  string   // the directory all of it happens in
	env   []string // of every process started
	quick bool     // smaller boards and fewer rounds: for a look, not for the record
	say   func(format string, args ...any)

	grown *history // the long board that several bars share
}

// pick is the full number, or the smaller one of a quick run.
func (b *bench) pick(full, quick int) int {
	if b.quick {
		return quick
	}
	return full
}

// bar is one line of the bars, or several that need the same preparation.
type bar struct {
	number  int
	what    string
	measure func(context.Context, *bench) ([]result, error)
}

var bars = []bar{
	{1, "durable append, one process", measureAppend},
	{2, "16 writers", measureWriters},
	{3, "claim one task", measureClaim},
	{4, "a step that does nothing", measureStep},
	{5, "append to act in another process", measureWake},
	{6, "orch status on a long log", measureStatus},
	{7, "open after a crash", measureOpen},
	{8, "full replay", measureReplay},
	{9, "idle orch run", measureIdle},
	{10, "audit of a long log", measureAudit},
	{11, "a confined call", measureConfine},
	{12, "the start", measureStart},
}

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	if len(args) > 0 && args[0] == childArg {
		return child(ctx, args[1:])
	}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(progress)
	orch := flags.String("orch", os.Getenv("ORCH"), "the program to measure; $ORCH by default")
	quick := flags.Bool("quick", false, "smaller boards and fewer rounds, under a minute; not for the record")
	only := flags.String("only", "", "numbers of the bars to measure, for example 3,5")
	if err := flags.Parse(args); err != nil {
		return err
	}
	chosen, err := choose(*only)
	if err != nil {
		return err
	}
	b, err := prepare(*orch, *quick, progress)
	if err != nil {
		return err
	}
	defer os.RemoveAll(b.temp)
	t := newTable(b.quick)
	for _, one := range chosen {
		began := time.Now()
		b.say("%d %s …", one.number, one.what)
		results, err := one.measure(ctx, b)
		if err != nil {
			return errors.Join(fmt.Errorf("measure bar %d, %s: %w", one.number, one.what, err), t.print(out))
		}
		b.say("%d took %s", one.number, time.Since(began).Round(100*time.Millisecond))
		for _, r := range results {
			t.add(one.number, r)
		}
	}
	return t.print(out)
}

// choose reads the argument of -only.
func choose(only string) ([]bar, error) {
	if only == "" {
		return bars, nil
	}
	var chosen []bar
	for _, word := range strings.Split(only, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		at := slices.IndexFunc(bars, func(b bar) bool { return b.number == n })
		if err != nil || at < 0 {
			return nil, fmt.Errorf("no bar %q: allowed are 1 to %d", word, len(bars))
		}
		chosen = append(chosen, bars[at])
	}
	return chosen, nil
}

func prepare(orch string, quick bool, progress io.Writer) (*bench, error) {
	if orch == "" {
		return nil, errors.New("say with -orch or $ORCH which program to measure")
	}
	orch, err := filepath.Abs(orch)
	if err != nil {
		return nil, fmt.Errorf("find the program to measure: %w", err)
	}
	if _, err := os.Stat(orch); err != nil {
		return nil, fmt.Errorf("find the program to measure: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	temp, err := os.MkdirTemp("", "orch-bench-")
	if err != nil {
		return nil, fmt.Errorf("make a directory to work in: %w", err)
	}
	say := func(format string, args ...any) { fmt.Fprintf(progress, format+"\n", args...) }
	return &bench{orch: orch, self: self, temp: temp, env: environment(temp), quick: quick, say: say}, nil
}

// environment is this process's without anything of orch's own, and with the
// user's state inside the temporary directory.
func environment(temp string) []string {
	env := slices.DeleteFunc(os.Environ(), func(s string) bool {
		return strings.HasPrefix(s, "ORCH") || strings.HasPrefix(s, "XDG_STATE_HOME=") || strings.HasPrefix(s, "LOCALAPPDATA=")
	})
	state := filepath.Join(temp, "state")
	// What is measured is orchestration: no model of this machine takes part.
	return append(env, "XDG_STATE_HOME="+state, "LOCALAPPDATA="+state, "ORCH_DISCOVER=off")
}
