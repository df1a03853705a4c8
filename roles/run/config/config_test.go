package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDefaultIsInRange(t *testing.T) {
	for _, k := range Keys() {
		if what := k.check(Default()); what != "" {
			t.Error(what)
		}
	}
	if c, err := Parse("config.yaml", nil); err != nil || c.Limits.Jobs != 4 {
		t.Errorf("an empty file is not the default: %v", err)
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none.yaml")); err != nil {
		t.Errorf("a missing file is not the default: %v", err)
	}
}

func TestSetsWhatTheFileSays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte("controller:\n  policy: v0.8\n  delta: 0.1\nlimits:\n  jobs: 2\nmodels:\n  planner: {backend: playbook}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	c, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if c.Controller.Policy != "v0.8" || c.Controller.Delta != 0.1 || c.Limits.Jobs != 2 || c.Limits.Corrections != 2 {
		t.Errorf("got %+v", c)
	}
}

func TestErrorsNameFileLineAndWhatIsAllowed(t *testing.T) {
	for name, c := range map[string]struct {
		yaml string
		line int
		want string
	}{
		"unknown section": {"limit:\n  jobs: 2\n", 1, "known: controller, limits"},
		"unknown key":     {"limits:\n  job: 2\n", 2, `unknown key "job" in limits`},
		"unknown policy":  {"controller:\n  policy: v9\n", 2, "allowed: like-for-like, v0.8, v0.7"},
		"out of range":    {"limits:\n  jobs: 2\n  grace_ms: -5\n", 3, "allowed: 0 to 600000 ms"},
		"wrong shape":     {"limits:\n  jobs: many\n", 2, `limits.jobs is "many", allowed: a whole number, 1 to 256 steps`},
		"a fraction":      {"limits:\n  jobs: 1.5\n", 2, `limits.jobs is "1.5", allowed: a whole number`},
		"not a switch":    {"code:\n  crosscheck: perhaps\n", 2, `code.crosscheck is "perhaps", allowed: true or false`},
		"not a list":      {"allow: run:go test\n", 1, `allow is "run:go test", allowed: a list`},
		"not a section":   {"limits:\n- jobs\n", 2, "limits is a list, allowed: keys with values, of jobs"},
		"not a model":     {"models:\n  planner: ./plan.sh\n", 2, `models.planner is "./plan.sh", allowed: keys with values, of backend`},
		"not an option":   {"models:\n  planner:\n    backend: exec\n    options:\n      command: [plan]\n", 5, "models.planner.options.command is a list"},
		"key of a model":  {"models:\n  planner:\n    backends: exec\n", 3, `unknown key "backends" in models.planner; known: backend`},
		"no price":        {"prices:\n  m: {in: cheap}\n", 2, `prices.m.in is "cheap", allowed: a number`},
		"twice":           {"strict: true\nstrict: false\n", 2, "already defined"},
		"two documents":   {"strict: true\n---\nstrict: false\n", 2, "second document"},
		"broken yaml":     {"limits:\n  jobs: [\n", 2, "did not find"},
		"unknown backend": {"models:\n  planner: {backend: oracle}\n", 2, "allowed: playbook"},
		"not a mapping":   {"- a\n", 1, "the configuration is a list, allowed: keys with values, of controller"},
		"not a number":    {"controller:\n  delta: .nan\n", 2, "allowed: -1 to 1"},
	} {
		_, err := Parse("config.yaml", []byte(c.yaml))
		var e *Error
		if !errors.As(err, &e) || e.Line != c.line || !strings.Contains(e.What, c.want) {
			t.Errorf("%s: got %v (line %d), want line %d and %q", name, err, lineOfErr(e), c.line, c.want)
		}
	}
}

func TestWhatAPersonMayLeaveEmptySetsNothing(t *testing.T) {
	for _, text := range []string{"", "# nothing yet\n", "limits:\nmodels:\n", "limits: &l\n  jobs: 4\n", "prices:\n  m: {in: 1, out: 2, cached: 0.1}\n"} {
		c, err := Parse("config.yaml", []byte(text))
		if err != nil || c.Limits != Default().Limits {
			t.Errorf("%q: got %+v, %v", text, c.Limits, err)
		}
	}
}

func lineOfErr(e *Error) int {
	if e == nil {
		return -1
	}
	return e.Line
}

func FuzzParse(f *testing.F) {
	f.Add("limits:\n  jobs: 2\n")
	f.Add("controller: {policy: v0.8}\n")
	f.Fuzz(func(t *testing.T, s string) {
		c, err := Parse("f", []byte(s))
		if err != nil {
			return
		}
		for _, k := range Keys() {
			if what := k.check(c); what != "" {
				t.Errorf("taken although %s", what)
			}
		}
	})
}

func TestTheMemoryHasASwitch(t *testing.T) {
	for text, off := range map[string]bool{
		"": false, "memory: off\n": true, "memory: on\n": false, "memory: {off: true}\n": true, "memory: {settle_ms: 7}\n": false, "memory:\n": false,
	} {
		c, err := Parse("config.yaml", []byte(text))
		if err != nil || c.Memory.Off != off || c.Memory.Notice != Default().Memory.Notice {
			t.Errorf("%q: %+v, %v", text, c.Memory, err)
		}
	}
	if _, err := Parse("config.yaml", []byte("memory: sometimes\n")); err == nil {
		t.Error("the memory is on and off")
	}
}
