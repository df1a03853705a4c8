package playbook

import (
	"context"
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"orch/blackboard/message"
	"orch/roles/think"
)

func readDoc(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/playbooks.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestDocExample: the worked example is a playbook that plans.
func TestDocExample(t *testing.T) {
	m := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindStringSubmatch(readDoc(t))
	if m == nil {
		t.Fatal("no example in docs/playbooks.md")
	}
	p, err := Decode("api-docs.yaml", []byte(m[1]))
	if err != nil {
		t.Fatal(err)
	}
	facts := fakeFacts{files: map[string]string{"tools/render.sh": ""}, commands: map[string]bool{"npm": true}}
	b, err := New(Options{Library: &Library{list: []*Playbook{p}}, Facts: func(string) Facts { return facts }})
	if err != nil {
		t.Fatal(err)
	}
	in := think.PlanInput{Goal: "g", Spec: message.TaskSpec{RawInput: "refresh the api docs to public/x.html"}}
	plan, err := b.Plan(context.Background(), in)
	if err != nil || len(plan.Tasks) != 1 || plan.Tasks[0].Approach != "render" || plan.Tasks[0].Target != "public/x.html" {
		t.Fatalf("plan %+v, %v", plan.Tasks, err)
	}
	if !strings.Contains(string(plan.Tasks[0].Action), `"command":"sh tools/render.sh public/x.html"`) {
		t.Errorf("action %s", plan.Tasks[0].Action)
	}
}

// TestDocAction: the documented action is one that an executor reads.
func TestDocAction(t *testing.T) {
	m := regexp.MustCompile("(?s)```json\n(.*?)```").FindStringSubmatch(readDoc(t))
	if m == nil {
		t.Fatal("no action in docs/playbooks.md")
	}
	a, err := DecodeAction([]byte(m[1]))
	if err != nil || a.Approach != "generate:go" || len(a.Variants[0].Steps) != 1 {
		t.Fatalf("%+v, %v", a, err)
	}
	dec := json.NewDecoder(strings.NewReader(m[1]))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&Action{}); err != nil {
		t.Errorf("documents what is not there: %v", err)
	}
}

// TestDocNamesEveryField: a field nobody wrote about does not exist for people.
func TestDocNamesEveryField(t *testing.T) {
	doc := readDoc(t)
	for _, typ := range []reflect.Type{reflect.TypeFor[Playbook](), reflect.TypeFor[Match](), reflect.TypeFor[Param](), reflect.TypeFor[Detect](),
		reflect.TypeFor[Criterion](), reflect.TypeFor[Subtask](), reflect.TypeFor[Approach](), reflect.TypeFor[Target](), reflect.TypeFor[Variant](),
		reflect.TypeFor[Step](), reflect.TypeFor[NextMove](), reflect.TypeFor[When]()} {
		for _, name := range fieldNames(typ) {
			if !regexp.MustCompile("`[^`\n]*\\b" + name + "\\b[^`\n]*`").MatchString(doc) {
				t.Errorf("%s: the field %s is not in docs/playbooks.md", typ.Name(), name)
			}
		}
	}
}
