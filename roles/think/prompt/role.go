package prompt

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"

	"orch/prompts"
	"orch/roles/think/answer"
	"orch/roles/think/model"
)

// Role names a prompt file.
type Role string

// The prompts there are.
const (
	Perceiver      Role = "perceiver"
	Candidates     Role = "candidates" // of the planner, before it asks the memory
	Planner        Role = "planner"
	NextMoves      Role = "next-moves" // of the planner, when a goal was given up
	Executor       Role = "executor"
	AgentValidator Role = "agent-validator"
	MetaValidator  Role = "meta-validator"
	Merger         Role = "merger" // of the meta-validator
	Distiller      Role = "distiller"
	PlannerCode    Role = "planner-code"  // of the planner, for a goal of the coding profile
	PlannerWake    Role = "planner-wake"  // of the planner, for one thing that came up
	PlanReviewer   Role = "plan-reviewer" // of the planner: somebody else looks at its plan
	Coder          Role = "coder"
	CodeReviewer   Role = "code-reviewer"
)

// All lists the prompts there are.
func All() []Role {
	return []Role{Perceiver, Candidates, Planner, NextMoves, Executor, AgentValidator, MetaValidator, Merger, Distiller,
		PlannerCode, PlannerWake, PlanReviewer, Coder, CodeReviewer}
}

// Text is a prompt file, taken apart.
type Text struct {
	Role     string // who it is, with what holds for every role
	Contract string // the section "Answer"
	Schema   *answer.Schema
	Wanted   model.Schema
}

const (
	answerHeading = "\n## Answer\n"
	schemaFence   = "\n```json\n"
)

// Load reads a role's file.
func Load(role Role) (Text, error) {
	page, err := fs.ReadFile(prompts.Roles(), string(role)+".md")
	if err != nil {
		return Text{}, fmt.Errorf("read the prompt of the %s: %w", role, err)
	}
	every, err := fs.ReadFile(prompts.Roles(), "every-role.md")
	if err != nil {
		return Text{}, fmt.Errorf("read what holds for every role: %w", err)
	}
	return parse(role, string(page), string(every))
}

// parse takes a page apart: before the heading "Answer" stands who the role is,
// after it the form of its answer, with the schema in the last JSON block.
func parse(role Role, page, every string) (Text, error) {
	before, after, ok := strings.Cut(page, answerHeading)
	if !ok {
		return Text{}, fmt.Errorf("the prompt of the %s has no section named Answer", role)
	}
	at := strings.LastIndex(after, schemaFence)
	if at < 0 {
		return Text{}, fmt.Errorf("the prompt of the %s has no schema", role)
	}
	raw, _, ok := strings.Cut(after[at+len(schemaFence):], "\n```")
	if !ok {
		return Text{}, fmt.Errorf("the schema in the prompt of the %s does not end", role)
	}
	name := strings.ReplaceAll(string(role), "-", "_")
	schema, err := answer.Compile(name, []byte(raw))
	if err != nil {
		return Text{}, err
	}
	return Text{
		Role:     strings.TrimSpace(before) + "\n\n" + strings.TrimSpace(every),
		Contract: strings.TrimSpace(answerHeading + after),
		Schema:   schema,
		Wanted:   model.Schema{Name: name, JSON: json.RawMessage(raw)},
	}, nil
}
