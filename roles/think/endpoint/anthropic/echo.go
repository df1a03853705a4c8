package anthropic

import (
	"encoding/json"

	"orch/roles/think/endpoint"
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

func echoBlocks(echo json.RawMessage) []block {
	var thoughts []thought
	if len(echo) == 0 || json.Unmarshal(echo, &thoughts) != nil {
		return nil
	}
	var out []block
	for _, t := range thoughts {
		if t.Redacted != "" {
			out = append(out, block{Type: "redacted_thinking", Data: endpoint.Text(t.Redacted)})
			continue
		}
		thinking, signature := endpoint.Text(t.Thinking), endpoint.Text(t.Signature)
		out = append(out, block{Type: "thinking", Thinking: &thinking, Signature: &signature})
	}
	return out
}
