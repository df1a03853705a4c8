package answer

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"testing"
)

// entry is one line of testdata/corpus.jsonl: what a model said, and the value
// that must be read or the refusal that must come.
type entry struct {
	Kind   string          `json:"kind"`
	Name   string          `json:"name"`
	Schema string          `json:"schema"`
	In     string          `json:"in"`
	Raw    []byte          `json:"in_base64"` // where the text is not valid UTF-8
	Want   json.RawMessage `json:"want"`
	Refuse Kind            `json:"refuse"`
}

func (e entry) text() string {
	if e.Raw != nil {
		return string(e.Raw)
	}
	return e.In
}

const (
	verdictSchema = `{"type":"object","required":["verdict","evidence"],
		"properties":{"verdict":{"enum":["pass","fail"]},"evidence":{"type":"string","minLength":1}}}`
	reportSchema = `{"type":"object","required":["status","output"],"properties":{"status":{"enum":["completed","failed"]}}}`
)

func schemas(t testing.TB) map[string]*Schema {
	t.Helper()
	all := map[string]*Schema{}
	for name, text := range map[string]string{"verdict": verdictSchema, "report": reportSchema} {
		s, err := Compile(name, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		all[name] = s
	}
	return all
}

func corpus(t testing.TB) []entry {
	t.Helper()
	f, err := os.Open("testdata/corpus.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []entry
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatalf("entry %d: %v", len(all)+1, err)
		}
		all = append(all, e)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestCorpus(t *testing.T) {
	all, known := corpus(t), schemas(t)
	if len(all) < 200 {
		t.Fatalf("the corpus has %d entries, at least 200 are promised", len(all))
	}
	for _, e := range all {
		t.Run(e.Kind+"/"+e.Name, func(t *testing.T) {
			var got any
			err := Parse(e.text(), known[e.Schema], &got)
			if e.Refuse != "" {
				var refusal *Error
				if !errors.As(err, &refusal) {
					t.Fatalf("%q was read as %v, want it refused", e.text(), got)
				}
				if refusal.Kind != e.Refuse {
					t.Fatalf("refused as %s (%s), want %s", refusal.Kind, refusal.Why, e.Refuse)
				}
				return
			}
			var want any
			if uerr := json.Unmarshal(e.Want, &want); uerr != nil {
				t.Fatal(uerr)
			}
			if err != nil {
				t.Fatalf("%q was refused: %v", e.text(), err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("read %v, want %v", got, want)
			}
		})
	}
}
