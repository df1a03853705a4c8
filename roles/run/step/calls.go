package step

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"orch/blackboard/message"
	"orch/roles/act/tool"
)

const (
	inputBytes = 32 << 10 // of a call's input that the log carries
	nameBytes  = 512      // of a target
)

// loggable is a call's input as the log carries it: valid JSON of a bounded
// size. A larger one, such as a whole file, is kept aside and named.
func (j *Journalled) loggable(input json.RawMessage) (json.RawMessage, error) {
	if len(input) <= inputBytes {
		return validJSON(input), nil
	}
	sha, err := j.env.Board.PutBlob(j.env.Goal, input)
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{"blob": sha, "bytes": len(input), "begins": Cut(string(input), nameBytes)})
}

// shortName bounds a target: what is cut is still told apart by its hash.
func shortName(target string) string {
	if len(target) <= nameBytes {
		return target
	}
	sum := sha256.Sum256([]byte(target))
	return firstChars(target, nameBytes/4) + "… sha256:" + hex.EncodeToString(sum[:8])
}

// validJSON keeps a backend's malformed input as a string, so that the log
// shows what was asked for.
func validJSON(raw json.RawMessage) json.RawMessage {
	if json.Valid(raw) {
		return raw
	}
	quoted, err := json.Marshal(string(raw))
	if err != nil {
		return json.RawMessage(`null`)
	}
	return quoted
}

// CallLine renders a call as "tool:command → last 120 characters".
func CallLine(c message.ToolCall) string {
	out := c.Tail
	if c.Denied != "" {
		out = lastChars(c.Denied, tailChars)
	}
	return fmt.Sprintf("%s:%s → %s", c.Tool, firstChars(command(c), 4*tailChars), strings.TrimSpace(out))
}

// command is what a person would call the input: a shell command as typed.
func command(c message.ToolCall) string {
	if c.Observed {
		return c.Target
	}
	var shell tool.ShellInput
	if c.Tool == string(tool.Shell) && json.Unmarshal(c.Input, &shell) == nil {
		return shell.Command
	}
	return string(c.Input)
}
