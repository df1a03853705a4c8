package step

import (
	"encoding/json"
	"fmt"
	"testing"

	"orch/blackboard"
)

// A call in doubt is held back in whatever way it is asked for again, and a yes
// to one call is none to another.
func TestACallInDoubtIsKnownByWhatItDoes(t *testing.T) {
	one := blackboard.Doubt{Tool: "shell", In: json.RawMessage(`{"command":"make deploy","dir":"staging"}`)}
	for _, same := range []string{
		`{"dir":"staging","command":"make deploy"}`, `{"command":"make deploy","dir":"./staging/"}`,
		`{"command":"make deploy","dir":"staging","timeout_ms":1000}`, `{"command":" make  deploy\n","dir":"staging"}`,
		`{"command":"make deploy","dir":"staging","note":"x"}`,
	} {
		if timesIn([]blackboard.Doubt{one}, "shell", json.RawMessage(same)) != 1 {
			t.Errorf("%s is made again although %s is in doubt", same, one.In)
		}
	}
	names := map[string]string{}
	for _, c := range []struct {
		tool, in string
		n        int
	}{
		{"shell", `{"command":"make deploy"}`, 1}, {"shell", `{"command":"make deploy"}`, 2}, {"shell", `{"command":"make deploy (2)"}`, 1},
		{"shell", `{"command":"make deploy","dir":"staging"}`, 1}, {"shell", `{"command":"make deploy","dir":"prod"}`, 1},
		{"bill", `{"command":"make deploy"}`, 1}, {"write_file", `{"path":"a"}`, 1}, {"write_file", `{"path":"b"}`, 1},
	} {
		name := nameOf(blackboard.Doubt{Tool: c.tool, In: json.RawMessage(c.in)}, c.n)
		what := fmt.Sprint(c)
		if before, taken := names[name]; taken {
			t.Errorf("a yes to %s is one to %s: both are called %q", before, what, name)
		}
		names[name] = what
		if again := nameOf(blackboard.Doubt{Tool: "shell", In: json.RawMessage(fmt.Sprintf(`{"command":%q}`, name))}, 1); again == name && c.n > 1 {
			t.Errorf("the command %q is called as %s is", name, what)
		}
	}
}
