package runner

import (
	"path/filepath"
	"slices"
	"strings"
)

// python makes sure that orch's modules are found where a command has set a path
// of modules of its own. They do the rest.
func (c *call) python() func() int {
	modules := filepath.Join(c.dir, libDir)
	path := lookup(c.env, pythonPath)
	if !slices.Contains(filepath.SplitList(path), modules) {
		c.env = slices.DeleteFunc(c.env, func(kv string) bool { return strings.HasPrefix(kv, pythonPath+"=") })
		c.env = append(c.env, pythonPath+"="+joinPath(path, modules))
	}
	return nil
}
