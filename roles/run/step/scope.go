package step

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"orch/roles/act/tool"
	"orch/roles/think"
)

// outside is the first path a call would change that is not in the scope of the
// goal; empty if there is none. The steps of a playbook are the person's own.
func (j *Journalled) outside(c tool.Call) string {
	if len(j.mustNot.Scope) == 0 || len(j.task.Action) > 0 {
		return ""
	}
	for _, path := range j.env.Box.Writes(c) {
		if j.mustNot.OutOfScope(path) {
			return path
		}
	}
	return ""
}

// leftScope fails the attempt of an agent that changed something out of scope:
// nothing could keep it from that.
func (j *Journalled) leftScope(path string) error {
	return &think.MustNotError{What: path, Ban: think.Ban{Target: path, Source: think.FromScope,
		Because: "the goal is only within " + strings.Join(j.mustNot.Scope, ", ")}}
}

// writers are the names that agents have for tools that change a file.
var writers = []string{"write", "edit", "multiedit", "notebookedit", "write_file", "edit_file", "replace", "create_file", "apply_patch", "str_replace"}

// wrote is the file that an agent's own tool says it changed, relative to the
// workspace where it is in it; empty for any other call.
func wrote(o think.Observed, workspace string) string {
	if !slices.Contains(writers, strings.ToLower(o.Tool)) {
		return ""
	}
	var in map[string]any
	if json.Unmarshal(o.Input, &in) != nil {
		return ""
	}
	for _, key := range []string{"file_path", "path", "filePath", "notebook_path"} {
		path, ok := in[key].(string)
		if !ok || path == "" {
			continue
		}
		if rel, err := filepath.Rel(workspace, path); err == nil && filepath.IsAbs(path) {
			path = rel
		}
		return filepath.ToSlash(filepath.Clean(path))
	}
	return ""
}
