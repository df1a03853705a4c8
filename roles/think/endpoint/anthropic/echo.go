package anthropic

import (
	"encoding/json"

	"github.com/anthropics/anthropic-sdk-go"

	"orch/roles/think/model"
)

// thought is a block of reasoning. The provider signs it, and refuses a
// conversation in which a turn that called tools comes back without it.
type thought struct {
	Thinking  string `json:"thinking,omitempty"`
	Signature string `json:"signature,omitempty"`
	Redacted  string `json:"redacted,omitempty"`
}

// keep puts the reasoning of an answer that calls tools into its echo.
func keep(res *model.Response, thoughts []thought) error {
	if len(thoughts) == 0 || len(res.Calls) == 0 {
		return nil
	}
	b, err := json.Marshal(thoughts)
	res.Echo = b
	return err
}

func echoBlocks(echo json.RawMessage) []anthropic.ContentBlockParamUnion {
	var thoughts []thought
	if len(echo) == 0 || json.Unmarshal(echo, &thoughts) != nil {
		return nil
	}
	var out []anthropic.ContentBlockParamUnion
	for _, t := range thoughts {
		if t.Redacted != "" {
			out = append(out, anthropic.NewRedactedThinkingBlock(t.Redacted))
		} else {
			out = append(out, anthropic.NewThinkingBlock(t.Signature, t.Thinking))
		}
	}
	return out
}

func dataOf(raw string) string {
	var v struct {
		Data string `json:"data"`
	}
	if json.Unmarshal([]byte(raw), &v) != nil {
		return ""
	}
	return v.Data
}
