package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// quantile is the smallest of the values that a share of them does not exceed;
// 0.5 is the median. It panics on no values: there is nothing to report then.
func quantile[T ~int64 | ~float64](values []T, share float64) T {
	sorted := slices.Sorted(slices.Values(values))
	at := int(math.Ceil(share*float64(len(sorted)))) - 1
	return sorted[min(max(at, 0), len(sorted)-1)]
}

func median[T ~int64 | ~float64](values []T) T { return quantile(values, 0.5) }

// ratios divides round by round: what disturbs a round disturbs both sides.
func ratios(ours, floor []time.Duration) []float64 {
	out := make([]float64, len(ours))
	for i := range ours {
		out[i] = float64(ours[i]) / float64(floor[i])
	}
	return out
}

// usage is what one process took. CPU time hardly moves with what else the
// machine does, wall time does.
type usage struct{ wall, cpu []time.Duration }

func (u *usage) add(wall, cpu time.Duration) {
	u.wall, u.cpu = append(u.wall, wall), append(u.cpu, cpu)
}

// command is a process of the bench: in the directory, with its environment.
func (b *bench) command(ctx context.Context, dir, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = dir, b.env
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// time runs the program under test once and adds what it took.
func (b *bench) time(ctx context.Context, u *usage, dir string, args ...string) error {
	return b.timeOf(ctx, u, dir, b.orch, args...)
}

// timeOf runs a program once and adds what it took. Its output goes to files, so
// that no pipe is measured.
func (b *bench) timeOf(ctx context.Context, u *usage, dir, program string, args ...string) error {
	said, err := os.Create(filepath.Join(b.temp, "said"))
	if err != nil {
		return fmt.Errorf("keep what the program says: %w", err)
	}
	defer said.Close()
	cmd := b.command(ctx, dir, program, args...)
	cmd.Stdout, cmd.Stderr = said, said
	began := time.Now()
	err = cmd.Run()
	wall := time.Since(began)
	if err != nil {
		words, _ := os.ReadFile(said.Name()) // they only explain the error
		return fmt.Errorf("%s %s: %w\n%s", filepath.Base(program), strings.Join(args, " "), err, words)
	}
	u.add(wall, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	return nil
}

// do runs the program under test for its effect.
func (b *bench) do(ctx context.Context, dir string, args ...string) error {
	var u usage
	return b.time(ctx, &u, dir, args...)
}

// board makes an empty board in a new directory and returns the directory.
func (b *bench) board(ctx context.Context) (string, error) {
	dir, err := os.MkdirTemp(b.temp, "project-")
	if err != nil {
		return "", fmt.Errorf("make a project: %w", err)
	}
	return dir, b.do(ctx, dir, "init")
}

// turns calls each function once a round, so that all sides meet the same
// disturbances. The first round only warms up: f is told not to count it.
func turns(ctx context.Context, rounds int, f ...func(counts bool) error) error {
	for n := range rounds + 1 {
		for _, one := range f {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := one(n > 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// pause waits while something else runs.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
