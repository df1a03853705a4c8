package chore

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"sort"
	"strings"
)

// Exit codes of Main.
const (
	exitOK     = 0
	exitFailed = 1 // the chore could not be done, or what it verified does not hold
	exitUsage  = 2
)

// usageError is a mistake in the arguments.
type usageError struct{ what, hint string }

func (e *usageError) Error() string { return e.what }

// Hint says what is allowed.
func (e *usageError) Hint() string { return e.hint }

// call is one invocation.
type call struct {
	dir    string
	out    string
	json   bool
	kind   string
	top    int
	limit  int64
	http   bool
	title  string
	from   string
	skip   string // a file that is not part of the tree: the report itself
	args   []string
	stdout io.Writer
}

// commands are the chores by name.
func commands() map[string]func(call) error {
	return map[string]func(call) error{
		"find-files":  part(findFiles),
		"todo-report": part(todoReport),
		"repo-health": part(repoHealth),
		"link-check":  part(linkCheck),
		"test-guard":  testGuard,
		"digest":      digest,
		"report":      report,
		"verify":      verify,
	}
}

// Main runs `orch chore ARGS…` and returns its exit code: 0 done, 1 failed, 2 usage.
func Main(args []string, stdout, stderr io.Writer) int {
	err := run(args, stdout)
	if err == nil {
		return exitOK
	}
	fmt.Fprintf(stderr, "error: %v\n", err)
	var hinted interface{ Hint() string }
	if errors.As(err, &hinted) {
		fmt.Fprintf(stderr, "hint: %s\n", hinted.Hint())
	}
	var usage *usageError
	if errors.As(err, &usage) {
		return exitUsage
	}
	return exitFailed
}

func run(args []string, stdout io.Writer) error {
	names := make([]string, 0, len(commands()))
	for name := range commands() {
		names = append(names, name)
	}
	sort.Strings(names)
	allowed := "one of " + strings.Join(names, ", ")
	if len(args) == 0 {
		return &usageError{"which chore", allowed}
	}
	do, ok := commands()[args[0]]
	if !ok {
		return &usageError{fmt.Sprintf("unknown chore %q", args[0]), allowed}
	}
	c := call{stdout: stdout}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&c.dir, "dir", ".", "directory to look at")
	flags.StringVar(&c.out, "out", "", "file to write")
	flags.BoolVar(&c.json, "json", false, "print the JSON of the part")
	flags.StringVar(&c.kind, "kind", "", "what of the chore")
	flags.IntVar(&c.top, "top", 20, "how many to list")
	flags.Int64Var(&c.limit, "limit-bytes", 5<<20, "size from which a file is oversized")
	flags.BoolVar(&c.http, "http", false, "ask for http links too")
	flags.StringVar(&c.title, "title", "", "title of the report")
	flags.StringVar(&c.skip, "skip", "", "file to leave out")
	flags.StringVar(&c.from, "from", "", "file written before")
	if err := flags.Parse(args[1:]); err != nil {
		return &usageError{args[0] + ": " + err.Error(), "flags: --dir --out --json --kind --top --limit-bytes --http --title --from --skip"}
	}
	if c.top < 1 || c.top > maxItems {
		return &usageError{fmt.Sprintf("--top %d", c.top), fmt.Sprintf("1 to %d", maxItems)}
	}
	c.args = flags.Args()
	return do(c)
}

// part makes a command of a chore that looks at a tree and reports.
func part(look func(call) (*Part, error)) func(call) error {
	return func(c call) error {
		p, err := look(c)
		if err != nil {
			return err
		}
		if c.out != "" {
			if err := writePart(c.out, p); err != nil {
				return err
			}
		}
		if c.json {
			return printJSON(c.stdout, p)
		}
		return p.print(c.stdout)
	}
}
