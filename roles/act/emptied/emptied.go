package emptied

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// Change is one part of a change that can be taken out.
type Change struct {
	File  string
	Name  string // the function as its language names it, or its lines
	Size  int    // lines of the part
	Whole bool   // a function was emptied, so that the program still compiles
	Text  []byte // of the file without it
}

// Changes lists the parts of what became of one file of code that is no test, the
// largest first. before is nil for a new file.
func Changes(file string, before, now []byte) []Change {
	var all []Change
	switch strings.ToLower(path.Ext(file)) {
	case ".go":
		all = goChanges(file, before, now)
	case ".py":
		all = blockChanges(python, file, before, now)
	case ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx":
		all = blockChanges(script, file, before, now)
	default:
		all = hunkChanges(file, before, now)
	}
	Sort(all)
	return all
}

// Sort puts the largest parts first.
func Sort(all []Change) {
	slices.SortStableFunc(all, func(a, b Change) int {
		return cmp.Or(cmp.Compare(b.Size, a.Size), cmp.Compare(a.File, b.File), cmp.Compare(a.Name, b.Name))
	})
}

// At is a file with one of its functions emptied; ok is false when it has none of
// that name.
func At(file string, text []byte, name string) (out []byte, ok bool) {
	for _, c := range Changes(file, nil, text) {
		if c.Name == name && c.Whole {
			return c.Text, true
		}
	}
	return nil, false
}
