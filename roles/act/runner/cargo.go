package runner

import (
	"io"
	"os"
	"slices"
)

// cargo keeps a copy of what the tests of rust print.
func (c *call) cargo() func() int {
	words := slices.DeleteFunc(slices.Clone(c.args), func(a string) bool { return len(a) > 0 && (a[0] == '-' || a[0] == '+') })
	if len(words) == 0 || words[0] != "test" && words[0] != "t" && words[0] != "nextest" {
		return nil
	}
	out, errs := c.say(extCargo), c.say(extCargoErr)
	if out == nil || errs == nil {
		return nil
	}
	return func() int {
		defer out.Close()
		defer errs.Close()
		return c.run(c.args, c.below(), io.MultiWriter(os.Stdout, out), io.MultiWriter(os.Stderr, errs))
	}
}
