package runner

import (
	"bufio"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"orch/blackboard/crash"
	"orch/roles/act/ledger"
)

// golang has go test say what it does as JSON, and prints of it what it would
// have printed without.
func (c *call) golang() func() int {
	g, ok := parseGo(c.args)
	if !ok {
		return nil
	}
	out := c.say(extGo)
	if out == nil {
		return nil
	}
	args := g.with(c.only)
	return func() int {
		defer out.Close()
		if g.asJSON {
			return c.run(args, c.below(), io.MultiWriter(os.Stdout, out), nil)
		}
		r, w := io.Pipe()
		done := make(chan struct{})
		crash.Go(func() {
			defer close(done)
			p := newGoPrinter(os.Stdout, os.Stderr, g.verbose, g.listed, g.bench)
			lines := bufio.NewReaderSize(r, 64<<10)
			for {
				line, err := lines.ReadBytes('\n')
				if len(line) > 0 {
					_, _ = out.Write(line) // a full disk is no reason to run otherwise
					p.line(line)
				}
				if err != nil {
					p.end()
					return
				}
			}
		})
		code := c.run(args, c.below(), w, nil)
		w.Close()
		<-done
		return code
	}
}

// goTest is a call of go test in its parts.
type goTest struct {
	before []string // "test", after a -C with its folder
	flags  []string // and packages, up to -args
	after  []string // from -args on
	asJSON bool
	// What decides which output is shown: -v, packages that are named, -bench.
	verbose, listed, bench bool
}

// goSwitches are the flags of go test that take no value of their own.
var goSwitches = strings.Fields(`a n race msan asan cover work x v json c i trimpath modcacherw linkshared short failfast benchmem fullpath buildvcs artifacts`)

// notGoRuns are flags with which go test runs no tests, or says what it does in
// another way.
var notGoRuns = strings.Fields(`c n i list help h fuzz`)

// parseGo takes a call of go apart; ok is false for one that runs no tests.
func parseGo(args []string) (g goTest, ok bool) {
	at := 0
	if len(args) > 1 && args[0] == "-C" {
		at = 2
	} else if len(args) > 0 && strings.HasPrefix(args[0], "-C=") {
		at = 1
	}
	if len(args) <= at || args[at] != "test" {
		return g, false
	}
	at++
	if len(args) > at+1 && args[at] == "-C" { // only the first flag may be one
		at += 2
	} else if len(args) > at && strings.HasPrefix(args[at], "-C=") {
		at++
	}
	g.before, g.flags = args[:at], args[at:]
	if i := slices.IndexFunc(g.flags, func(a string) bool { return a == "-args" || a == "--args" }); i >= 0 {
		g.flags, g.after = g.flags[:i], g.flags[i:]
	}
	for i := 0; i < len(g.flags); i++ {
		name, value, isFlag := goFlag(g.flags, i)
		switch {
		case !isFlag:
			g.listed = true
			continue
		case slices.Contains(notGoRuns, name) && value != "false":
			return g, false
		case name == "v":
			g.verbose = value != "false"
		case name == "json":
			g.asJSON = value != "false"
		case name == "bench":
			g.bench = true
		}
		if takesNext(g.flags[i], name) {
			i++
		}
	}
	return g, true
}

// goFlag is the flag at i and its value; isFlag is false for a package.
func goFlag(args []string, i int) (name, value string, isFlag bool) {
	text, isFlag := strings.CutPrefix(args[i], "-")
	if !isFlag || text == "" {
		return "", "", false
	}
	name, value, with := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(text, "-"), "test."), "=")
	if !with && !slices.Contains(goSwitches, name) && i+1 < len(args) {
		value = args[i+1]
	}
	return name, value, true
}

// takesNext tells whether the value of a flag is the next argument.
func takesNext(arg, name string) bool {
	return !strings.Contains(arg, "=") && !slices.Contains(goSwitches, name)
}

// with is the call that says what it does, of some tests only if there are any.
func (g goTest) with(only []ledger.Name) []string {
	args := slices.Clone(g.before)
	if !g.asJSON {
		args = append(args, "-json")
	}
	if len(only) == 0 {
		return slices.Concat(args, g.flags, g.after)
	}
	var names []string
	for _, n := range ledger.Tops(only) {
		names = append(names, regexp.QuoteMeta(n.Test))
	}
	slices.Sort(names)
	args = append(args, "-count=1", "-run", "^("+strings.Join(slices.Compact(names), "|")+")$")
	for i := 0; i < len(g.flags); i++ {
		name, _, isFlag := goFlag(g.flags, i)
		next := isFlag && takesNext(g.flags[i], name)
		if !isFlag || name != "run" && name != "count" && name != "failfast" {
			args = append(args, g.flags[i])
			if next && i+1 < len(g.flags) {
				args = append(args, g.flags[i+1])
			}
		}
		if next {
			i++
		}
	}
	return append(args, g.after...)
}
