package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orch/roles/think/fakemodel"
)

// A rule is put into words by the memory's model, once, and what that took is
// in the record. Where the model fails, the evidence says it.
func TestARuleIsPutIntoWords(t *testing.T) {
	t.Parallel()
	rule := says("distiller", "The memory has seen one way of working", `{"lesson":"Publish with thorough: it writes the whole page.","category":"procedure"}`)
	broken := fakemodel.Rule{Name: "distiller", When: rule.When, Reply: text("I would rather not say.")}
	for name, c := range map[string]struct {
		rule    fakemodel.Rule
		want    string
		atLeast int
	}{
		"a model":        {rule, "Publish with thorough: it writes the whole page. (seen 6 times", 1},
		"a broken model": {broken, "thorough on page.html", 1},
	} {
		t.Run(name, func(t *testing.T) {
			srv := serve(t, []fakemodel.Rule{c.rule})
			root := copyExample(t, "learns")
			if err := os.MkdirAll(filepath.Join(root, ".orch"), 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(root, ".orch", "config.yaml"), "models:\n  memory: "+asked(srv, "openai", "/v1", "true")+strings.Replace(quick, "crashes: 1", "crashes: 1, memory_wait_ms: 60000, grace_ms: 240000", 1))
			for range 6 {
				said(t, root, "run", "publish the page")
				if err := os.Remove(filepath.Join(root, "page.html")); err != nil {
					t.Fatal(err)
				}
			}
			said(t, root, "dream", "--once")
			if got := said(t, root, "memory", "ls", "--level", "C"); !strings.Contains(got, c.want) {
				t.Errorf("the rule is\n%s", got)
			}
			if n := len(srv.Requests()); n < c.atLeast || n > 4 {
				t.Errorf("%d calls", n)
			}
			if got := said(t, root, "cost", "--by", "role"); !strings.Contains(got, "memory") {
				t.Errorf("what it took is not in\n%s", got)
			}
		})
	}
}
