package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// emptyProgram is the floor of a start: a command line of the same library that
// does nothing else.
const emptyProgram = `package main

import (
	"os"

	"github.com/spf13/cobra"
)

func main() {
	root := &cobra.Command{Use: "empty"}
	root.AddCommand(&cobra.Command{Use: "version", Run: func(c *cobra.Command, _ []string) { c.Println("dev") }})
	if root.Execute() != nil {
		os.Exit(1)
	}
}
`

// measureStart compares a process that only starts with one of a program that
// has nothing to start, and their files.
func measureStart(ctx context.Context, b *bench) ([]result, error) {
	empty, err := b.buildEmpty(ctx)
	if err != nil {
		return nil, err
	}
	var ours, floor usage
	err = turns(ctx, b.pick(201, 21),
		b.turnOf(ctx, &ours, b.temp, b.orch, "version"),
		b.turnOf(ctx, &floor, b.temp, empty, "version"))
	if err != nil {
		return nil, err
	}
	ratio := median(ratios(ours.cpu, floor.cpu))
	size, bare, err := bytesOf(b.orch, empty)
	if err != nil {
		return nil, err
	}
	return []result{{
		what: "a start, CPU", bar: "≤ 2 × an empty cobra program", measured: ms(median(ours.cpu)),
		floor: ms(median(floor.cpu)) + ", " + times(ratio), verdict: meets(ratio <= 2),
	}, {
		what: "the program's file", bar: "≤ 35 MB", measured: megabytes(size),
		floor: megabytes(bare) + ", " + times(float64(size)/float64(bare)), verdict: meets(size <= 35e6),
	}}, nil
}

// buildEmpty builds the floor as make build builds the program, with the same
// versions of what both use.
func (b *bench) buildEmpty(ctx context.Context) (string, error) {
	dir := filepath.Join(b.temp, "empty")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", fmt.Errorf("make the empty program: %w", err)
	}
	goTool := "go"
	if set := os.Getenv("GO"); set != "" {
		goTool = set
	}
	mod, err := b.command(ctx, ".", goTool, "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("find go.mod: %w", err)
	}
	files := map[string][]byte{"main.go": []byte(emptyProgram)}
	for _, name := range []string{"go.mod", "go.sum"} {
		if files[name], err = os.ReadFile(filepath.Join(filepath.Dir(strings.TrimSpace(string(mod))), name)); err != nil {
			return "", fmt.Errorf("make the empty program: %w", err)
		}
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return "", fmt.Errorf("make the empty program: %w", err)
		}
	}
	program := filepath.Join(dir, "empty")
	cmd := b.command(ctx, dir, goTool, "build", "-trimpath", "-ldflags=-s -w", "-o", program, ".")
	cmd.Env = append(cmd.Env, "CGO_ENABLED=0")
	if said, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the empty program: %w\n%s", err, said)
	}
	return program, nil
}

func bytesOf(ours, floor string) (int64, int64, error) {
	var sizes [2]int64
	for i, name := range []string{ours, floor} {
		info, err := os.Stat(name)
		if err != nil {
			return 0, 0, fmt.Errorf("look at the program: %w", err)
		}
		sizes[i] = info.Size()
	}
	return sizes[0], sizes[1], nil
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
