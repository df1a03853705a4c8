package step_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"orch/roles/act/tool"
	"orch/roles/internal/steptest"
	"orch/roles/think"
)

// A call that would change what the person's words leave out has no effect, and
// an agent that did so fails its attempt.
func TestInvariant_WorkKeepsToTheScopeOfTheGoal(t *testing.T) {
	for path, out := range map[string]bool{"src/a.go": false, "README.md": true, "src/../go.mod": true} {
		w := steptest.New(t)
		w.Dispatch(nil, steptest.Task("a", steptest.Checked("c1", "check")))
		e := w.Claim(w.Due()[0])
		tools := e.Tools(w.Tasks("g")[0].SubTask, think.Constraints{Scope: []string{"src"}}, false)
		r, err := tools.Do(context.Background(), string(tool.Shell), steptest.Shell("write "+path))
		if err != nil {
			t.Fatal(err)
		}
		if ran := slices.Contains(w.Box.Ran, "write "+path); ran == out || (r.Denied != "") != out {
			t.Errorf("%s: ran %t, %+v", path, ran, r)
		}
		for name, o := range map[string]think.Observed{
			"a command": {Tool: "Bash", Command: "write " + path},
			"a tool":    {Tool: "Edit", Input: input(t, e.Workspace+"/"+path)},
		} {
			err = tools.Observe(context.Background(), o)
			var left *think.MustNotError
			if errors.As(err, &left) != out || !out && err != nil {
				t.Errorf("%s, %s: %v", path, name, err)
			}
			o.Failed = true
			if err = tools.Observe(context.Background(), o); err != nil {
				t.Errorf("%s, %s that failed: %v", path, name, err)
			}
		}
		if err := tools.Observe(context.Background(), think.Observed{Tool: "Read", Input: input(t, path)}); err != nil {
			t.Errorf("%s was read: %v", path, err)
		}
	}
}

func TestAPlaybooksStepsAreThePersonsOwn(t *testing.T) {
	w := steptest.New(t)
	task := steptest.Task("a", steptest.Checked("c1", "check"))
	task.Action = json.RawMessage(`{}`)
	w.Dispatch(nil, task)
	e := w.Claim(w.Due()[0])
	r, err := e.Tools(task, think.Constraints{Scope: []string{"src"}}, false).Do(context.Background(), string(tool.Shell), steptest.Shell("write report.md"))
	if err != nil || r.Denied != "" {
		t.Errorf("%+v, %v", r, err)
	}
}

func input(t *testing.T, path string) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(map[string]string{"file_path": path})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
