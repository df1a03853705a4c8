//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
)

// turnsAsked bounds how often one run asks the model.
const turnsAsked = 8

// answered is what the agent needs of an answer in the Chat protocol.
type answered struct {
	Choices []struct {
		Message struct {
			Content, Refusal string
			Calls            []struct {
				ID       string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
	}
}

// providerError is what an agent program says of its provider by an event of its own.
type providerError struct {
	status int
	body   string
}

func (e *providerError) Error() string { return fmt.Sprintf("API Error: %d %s", e.status, e.body) }

// consult asks the model server at $FAKEAGENT_MODEL what to say, so that one
// script of answers drives agent programs as it drives models. It carries out
// the calls of an answer below dir, tells done of each, and returns the last
// words.
func consult(prompt, dir string, done func(command, output string, failed bool)) (string, error) {
	var request struct{ Prompt string }
	if json.Unmarshal([]byte(prompt), &request) == nil && request.Prompt != "" {
		prompt = request.Prompt // it is driven over JSON
	}
	turns := []any{m{"role": "user", "content": prompt}}
	for range turnsAsked {
		got, raw, err := question(turns)
		if err != nil {
			return "", err
		}
		said := got.Choices[0].Message
		if len(said.Calls) == 0 {
			return said.Content + said.Refusal, nil
		}
		turns = append(turns, raw)
		for _, c := range said.Calls {
			command, out, err := carryOut(dir, c.Function.Name, c.Function.Arguments)
			done(command, out, err != nil)
			turns = append(turns, m{"role": "tool", "tool_call_id": c.ID, "content": out})
		}
	}
	return "", fmt.Errorf("%d turns were not enough", turnsAsked)
}

// question sends one request; raw is the turn that was answered.
func question(turns []any) (got answered, raw json.RawMessage, err error) {
	body, err := json.Marshal(m{"model": "fake", "messages": turns})
	if err != nil {
		return got, nil, err
	}
	res, err := http.Post(os.Getenv("FAKEAGENT_MODEL")+"/v1/chat/completions", "application/json", bytes.NewReader(body))
	if err != nil {
		return got, nil, err
	}
	defer res.Body.Close()
	body, err = io.ReadAll(res.Body)
	switch {
	case err != nil:
		return got, nil, err
	case res.StatusCode != http.StatusOK:
		return got, nil, &providerError{res.StatusCode, string(body)}
	}
	var turn struct {
		Choices []struct{ Message json.RawMessage }
	}
	if err := errors.Join(json.Unmarshal(body, &got), json.Unmarshal(body, &turn)); err != nil || len(got.Choices) != 1 {
		return got, nil, fmt.Errorf("no answer in %s: %w", body, err)
	}
	return got, turn.Choices[0].Message, nil
}

// carryOut does what a call asks, and says it as a command.
func carryOut(dir, tool, input string) (command, output string, err error) {
	var in struct{ Path, Content, Command string }
	if err := json.Unmarshal([]byte(input), &in); err != nil {
		return input, err.Error(), err
	}
	if tool == "write_file" {
		err := os.WriteFile(filepath.Join(dir, in.Path), []byte(in.Content), 0o600)
		return "write " + in.Path, fmt.Sprint(len(in.Content), " bytes"), err
	}
	c := exec.Command("sh", "-c", in.Command)
	c.Dir = dir
	out, err := c.CombinedOutput()
	return in.Command, string(out), err
}
