package prompt

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Bounds of a survey: enough to plan by, small enough for every prompt.
const (
	surveyBytes   = 2500
	surveyEntries = 2000 // looked at
	surveyDepth   = 4
)

// left out of a survey: what belongs to tools, and what they fetched or made.
var surveySkips = []string{".git", ".orch", ".hg", ".svn", "node_modules", "vendor", "target", "dist", "build", "__pycache__", ".venv", "venv", ".idea", ".vscode"}

// Survey lists what is in a project, the upper levels first, so that a plan can
// name real paths. Names that are hostile to a prompt's layout are left out.
func Survey(project fs.FS) string {
	var out strings.Builder
	level, looked := []string{"."}, 0
	for depth := 0; depth < surveyDepth && len(level) > 0; depth++ {
		var next []string
		for _, dir := range level {
			entries, err := fs.ReadDir(project, dir)
			if err != nil {
				continue // what can not be read is not surveyed
			}
			for _, e := range entries {
				name := path.Join(dir, e.Name())
				switch looked++; {
				case looked > surveyEntries, out.Len()+len(name)+2 > surveyBytes:
					fmt.Fprintf(&out, "… and more\n")
					return out.String()
				case strings.ContainsFunc(name, func(r rune) bool { return r < ' ' }), slices.Contains(surveySkips, e.Name()):
				case e.IsDir():
					out.WriteString(name + "/\n")
					next = append(next, name)
				default:
					out.WriteString(name + "\n")
				}
			}
		}
		level = next
	}
	return out.String()
}
