package codereviewer

import (
	"context"
	"path"
	"slices"

	"orch/roles/act/contents"
	"orch/roles/act/protected"
	"orch/roles/act/weaken"
	"orch/roles/act/workspace"
)

// absent is the mode of what a commit does not have.
const absent = "000000"

// protected finds changes of what decides which tests run, and how.
func (r *review) protected(ctx context.Context, change contents.Change) (found []weaken.Finding, err error) {
	before, now := map[string]bool{}, map[string]bool{}
	for _, name := range change.Names {
		before[name], now[name] = true, true
	}
	var changed []string
	for _, e := range change.Entries {
		changed = append(changed, e.Path)
		before[e.Path] = e.Old != absent
	}
	read := func(at workspace.Commit, there map[string]bool) func(string) ([]byte, bool) {
		return func(name string) ([]byte, bool) {
			if !there[name] || err != nil {
				return nil, false
			}
			var text []byte
			var ok bool
			text, ok, err = r.w.Repo.Show(ctx, at, name)
			return text, ok
		}
	}
	p := protected.Project{Commands: []string{r.e.Config.Code.Test, r.e.Config.Code.Command}, Tested: tested(before),
		Before: read(workspace.Commit(r.task.Base), before), Now: read(r.commit, now)}
	slices.Sort(changed)
	found = protected.Inspect(changed, p)
	return found, err
}

// tested tells whether some of the files are, or may hold, tests.
func tested(files map[string]bool) bool {
	for name, there := range files {
		if there && weaken.IsSource(name) && (weaken.IsTestFile(name) || path.Ext(name) == ".rs") {
			return true
		}
	}
	return false
}
