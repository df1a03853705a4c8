// Package prompt composes what a role says to a model.
//
// It owns the order and the budgets of a prompt's sections and how foreign
// text is set apart. The texts themselves are in the prompts folder, one
// Markdown file for each role, with the schema of the answer in it.
//
// It promises that the parts that stay the same come first, so that a
// provider's cache hits; that the same input gives the same bytes; that no
// section passes its budget, and that what is cut says so; and that text which
// came from elsewhere stands between marks that it can not contain.
//
// It never reads a file of the project, the clock or the environment, and never
// asks a model.
package prompt

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"orch/roles/think/answer"
	"orch/roles/think/model"
)

// Names of the sections, in their order.
const (
	RoleText = "role"     // who it is and how it works
	Values   = "values"   // the T layer: what the person wants all roles to hold to
	Contract = "contract" // the form of the answer
	Facts    = "facts"    // what the person said is so; never cut
	Inputs   = "inputs"   // what it works on
	Memory   = "memory"   // what was learned before, as constraints
	Feedback = "feedback" // what was wrong before
)

var sectionOrder = []string{RoleText, Values, Contract, Facts, Inputs, Memory, Feedback}

// Budgets of sections in bytes. With them every prompt stays under 28 KiB,
// except for the roles that must see whole outputs, see inputBytes, and for the
// facts, which are told in full.
var budgetBytes = map[string]int{RoleText: 6 << 10, Values: 6 << 10, Contract: 3 << 10, Inputs: 7 << 10, Memory: 2 << 10, Feedback: 3 << 10}

// inputBytes are larger budgets for the inputs of single roles: evidence that
// is cut can not be judged, and a part that is cut can not be merged.
var inputBytes = map[Role]int{
	Executor: 24 << 10, AgentValidator: 48 << 10, MetaValidator: 160 << 10, Merger: 160 << 10,
	Coder: 48 << 10, CodeReviewer: 160 << 10, PlannerCode: 48 << 10, PlannerWake: 48 << 10, PlanReviewer: 64 << 10,
}

// Part is one piece of a section.
type Part struct {
	Section string // Facts, Inputs, Memory or Feedback
	Label   string // what it is, in a few words
	Text    string
	Data    bool // it came from elsewhere: it is set apart and gives no orders
}

// Section is one section as it will be sent.
type Section struct {
	Name         string
	Text         string
	BudgetBytes  int
	LeftOutBytes int // cut away to keep the budget
}

// Prompt is a composed prompt.
type Prompt struct {
	Role     Role
	Sections []Section
	Schema   *answer.Schema
	Wanted   model.Schema    // the same, as a client takes it
	Input    json.RawMessage // what the texts were made from, for programs that play a role
}

// Compose puts a role's text, the person's values and the parts together.
// input is what a program that plays the role gets instead of the texts.
func Compose(role Role, values string, input any, parts ...Part) (Prompt, error) {
	text, err := Load(role)
	if err != nil {
		return Prompt{}, err
	}
	raw, err := json.Marshal(input)
	if err != nil {
		return Prompt{}, fmt.Errorf("write the input of the %s: %w", role, err)
	}
	p := Prompt{Role: role, Schema: text.Schema, Wanted: text.Wanted, Input: raw}
	for _, name := range sectionOrder {
		s := Section{Name: name, BudgetBytes: budgetBytes[name]}
		if larger := inputBytes[role]; name == Inputs && larger > 0 {
			s.BudgetBytes = larger
		}
		switch name {
		case Facts:
			for _, part := range of(name, parts) {
				s.BudgetBytes += len(part.Text) + len(part.Label) + frameBytes
			}
			s.fill(of(name, parts))
		case RoleText:
			s.Text = text.Role
		case Contract:
			s.Text = text.Contract
		case Values:
			s.fill([]Part{{Label: "What the person values", Text: values}})
		default:
			s.fill(of(name, parts))
		}
		if s.Text == "" {
			continue
		}
		if len(s.Text) > s.BudgetBytes {
			return p, fmt.Errorf("section %s of the prompt of the %s has %d bytes, its budget is %d", name, role, len(s.Text), s.BudgetBytes)
		}
		p.Sections = append(p.Sections, s)
	}
	return p, nil
}

func of(section string, parts []Part) []Part {
	var some []Part
	for _, part := range parts {
		if part.Section == section {
			some = append(some, part)
		}
	}
	return some
}

// fill renders parts into a section. When they are too long together, the
// longest are cut first.
func (s *Section) fill(parts []Part) {
	var full []Part
	var sizes []int
	room := s.BudgetBytes
	for _, part := range parts {
		if part.Text = strings.TrimSpace(strings.ToValidUTF8(part.Text, "\uFFFD")); part.Text == "" {
			continue
		}
		full = append(full, part)
		sizes = append(sizes, len(part.Text))
		room -= len(part.Label) + frameBytes
	}
	var rendered []string
	for i, allowed := range share(sizes, max(room, 0)) {
		part := full[i]
		short := cut(part.Text, allowed)
		s.LeftOutBytes += len(part.Text) - min(len(short), len(part.Text))
		part.Text = short
		rendered = append(rendered, part.render())
	}
	s.Text = strings.Join(rendered, "\n\n")
}

// System is the part of the prompt that stays the same for a role in a project.
func (p Prompt) System() string { return p.join(RoleText, Values, Contract) }

// User is the part about the work at hand.
func (p Prompt) User() string { return p.join(Facts, Inputs, Memory, Feedback) }

func (p Prompt) join(names ...string) string {
	var texts []string
	for _, name := range names {
		for _, s := range p.Sections {
			if s.Name == name {
				texts = append(texts, s.Text)
			}
		}
	}
	return strings.Join(texts, "\n\n")
}

// Request is the prompt as a client takes it.
func (p Prompt) Request() model.Request {
	wanted := p.Wanted
	return model.Request{
		System: p.System(), Turns: []model.Turn{{By: model.User, Text: p.User()}}, Schema: &wanted,
		Role: string(p.Role), Input: p.Input,
	}
}

// Bytes is the length of what is sent.
func (p Prompt) Bytes() int { return len(p.System()) + len(p.User()) }

// Tokens estimates how many tokens a text has: four bytes of ASCII to a token,
// one token for any other character. Close enough to see what is large.
func Tokens(text string) int {
	ascii, other := 0, 0
	for _, r := range text {
		if r < utf8.RuneSelf {
			ascii++
		} else {
			other++
		}
	}
	return (ascii+3)/4 + other
}
