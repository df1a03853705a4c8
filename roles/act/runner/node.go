package runner

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"orch/blackboard/lazyregexp"
)

var (
	jestScript   = lazyregexp.New(`(?:^|/)(?:node_modules/\.bin/jest|jest(?:-cli)?/bin/jest\.js)$`)
	vitestScript = lazyregexp.New(`(?:^|/)(?:node_modules/\.bin/vitest|vitest/(?:vitest\.mjs|dist/cli\.js))$`)
)

// node adds a reporter of orch's to node --test, and to jest and vitest, which
// are programs that node runs.
func (c *call) node() func() int {
	script := slices.IndexFunc(c.args, func(a string) bool { return !strings.HasPrefix(a, "-") })
	options := c.args
	if script >= 0 {
		options = c.args[:script]
	}
	switch {
	case slices.Contains(options, "--test"):
		return c.nodeTest()
	case script >= 0 && jestScript.MatchString(filepath.ToSlash(c.args[script])):
		return c.reporter("jest", "--reporters", "jest.cjs")
	case script >= 0 && vitestScript.MatchString(filepath.ToSlash(c.args[script])):
		return c.reporter("vitest", "--reporter", "vitest.mjs")
	}
	return nil
}

// nodeTest adds a reporter beside the one that node would have taken.
func (c *call) nodeTest() func() int {
	reporters, destinations := 0, 0
	for _, a := range c.args {
		name, _, _ := strings.Cut(a, "=")
		switch name {
		case "--test-reporter":
			reporters++
		case "--test-reporter-destination":
			destinations++
		}
	}
	var add []string
	switch {
	case reporters == 0:
		add = []string{"--test-reporter=" + c.defaultReporter(), "--test-reporter-destination=stdout"}
	case destinations == 0 && reporters == 1:
		add = []string{"--test-reporter-destination=stdout"}
	case destinations != reporters:
		return nil // node refuses it, and says why
	}
	add = append(add, "--test-reporter="+filepath.Join(c.dir, libDir, "node.mjs"), "--test-reporter-destination="+c.out(c.name, extLines))
	return func() int { return c.run(append(add, c.args...), c.below(), nil, nil) }
}

// newDefault is the first version of node that prints for people where no
// terminal is, too.
const newDefault = 23

// defaultReporter is the reporter that node takes by itself.
func (c *call) defaultReporter() string {
	if info, err := os.Stdout.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 || majorOf(c.real) >= newDefault {
		return "spec"
	}
	return "tap"
}

// reporter adds a reporter to a runner that takes any number of them. Where the
// command names none its own default stays; reporters of a configuration do not.
func (c *call) reporter(runner, flag, file string) func() int {
	add := []string{flag + "=" + filepath.Join(c.dir, libDir, file)}
	if !slices.ContainsFunc(c.args, func(a string) bool { return a == flag || strings.HasPrefix(a, flag+"=") }) {
		add = append([]string{flag + "=default"}, add...)
	}
	out := c.sayAs(runner, extLines)
	if out == nil {
		return nil
	}
	out.Close()
	args := c.args
	if i := slices.Index(args, "--"); i >= 0 {
		args = slices.Concat(args[:i], add, args[i:])
	} else {
		args = slices.Concat(args, add)
	}
	return func() int { return c.run(args, c.below(outEnv+"="+out.Name()), nil, nil) }
}

// majorOf is the major version of a node; 0 when it does not tell.
func majorOf(node string) (major int) {
	out, err := exec.Command(node, "--version").Output()
	if err == nil {
		_, _ = fmt.Sscanf(string(out), "v%d.", &major)
	}
	return major
}
