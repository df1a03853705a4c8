package think

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// FromScope is the source of a refusal because of where a goal may act.
const FromScope = "scope"

// ScopeOf is the part of a scope in words that code can hold work to: the files,
// directories and globs of the project it names. A word is one if it has a slash
// or a wildcard, or ends like a file; other words, such as the name of a service,
// bind whoever reads them.
func ScopeOf(words string) []string {
	var paths []string
	for _, w := range strings.FieldsFunc(words, func(r rune) bool { return strings.ContainsRune(" \t\r\n,;()\"'`", r) }) {
		w = strings.TrimRight(strings.ReplaceAll(w, `\`, "/"), ".:!?")
		named := strings.ContainsAny(w, "/*") || path.Ext(w) != "" && path.Ext(w) != w
		clean := path.Clean(w)
		if !named || strings.Contains(w, "://") || path.IsAbs(clean) || strings.HasPrefix(clean, "..") || strings.HasPrefix(clean, "~") {
			continue
		}
		if !slices.Contains(paths, clean) {
			paths = append(paths, clean)
		}
	}
	return paths
}

// OutOfScope tells whether a path, relative to the workspace, may not be changed
// because the goal is about others.
func (c Constraints) OutOfScope(name string) bool {
	if len(c.Scope) == 0 {
		return false
	}
	name = path.Clean(strings.ReplaceAll(name, `\`, "/"))
	return !slices.ContainsFunc(c.Scope, func(in string) bool {
		return in == "." || name == in || strings.HasPrefix(name, in+"/") || doublestar.MatchUnvalidated(in, name)
	})
}
