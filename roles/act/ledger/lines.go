package ledger

import (
	"bytes"
	"encoding/json"
)

// line is what orch's own reporters write, one for each test or broken suite.
type line struct {
	Suite  string `json:"suite"`
	Test   string `json:"test"`
	Result Result `json:"result"`
	Broken string `json:"broken"`
}

// Lines reads what orch's own reporter wrote within a runner. Lines of another
// form are left out: whatever runs beside the reporter may write there, too.
func Lines(runner string, raw []byte) Ledger {
	var l Ledger
	l.Saw(runner)
	for text := range bytes.Lines(raw) {
		var one line
		switch err := json.Unmarshal(text, &one); {
		case err != nil:
		case one.Broken != "":
			l.Break(one.Suite, one.Broken)
		case one.Test != "" && rank(one.Result) >= 0:
			l.Add(Name{one.Suite, one.Test}, one.Result)
		}
	}
	return l
}
