// Package perceiver carries a person's words into the system: one UserInput
// becomes a TaskSpec, or a batch of questions when no reasonable reading exists.
//
// It promises that the words arrive byte for byte, that the name of the goal is
// the runtime's and never a model's, and that it asks at most two rounds of
// questions. It never derives criteria, reads the memory, or waits for an answer.
package perceiver

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/run/step"
	"orch/roles/think"
)

// MaxRounds is how often a person may be asked before the work goes on with
// the best reading there is.
const MaxRounds = 2

// Run perceives one goal.
func Run(ctx context.Context, e *step.Env) error {
	if e.Perceiver == nil {
		return &step.NoBackendError{Role: message.Perceiver}
	}
	g, err := e.ReadGoal(ctx)
	if err != nil {
		return err
	}
	if g.Spec != nil || g.Status != blackboard.GoalOpen {
		return step.ErrMoved
	}
	asked, err := earlier(e, g)
	if err != nil {
		return err
	}
	seen, err := e.Perceiver.Perceive(ctx, think.PerceiveInput{Goal: g.ID, Input: g.Input, Clarify: asked, Values: e.Values})
	var unusable *think.UnusableError
	switch {
	case errors.As(err, &unusable):
		// The words are there whatever a model makes of them: they are the intent.
		e.Log("the words are taken as they are: %v", e.Unread(err))
		seen = think.Perception{Usage: seen.Usage}
	case err != nil:
		return fmt.Errorf("perceive the goal: %w", err)
	}
	e.Spend(seen.Usage)
	if q := questions(seen.Questions); len(q) > 0 && g.Clarify.Round < MaxRounds {
		_, err := e.Say(ctx, message.ClarificationQuestion{Round: g.Clarify.Round + 1, Questions: q})
		return err
	}
	_, err = e.Say(ctx, Spec(g, seen))
	return err
}

// Spec is the TaskSpec of a perceived goal.
func Spec(g blackboard.Goal, seen think.Perception) message.TaskSpec {
	intent := oneLine(seen.Intent)
	if intent == "" {
		intent = oneLine(g.Input.Text)
	}
	if intent == "" {
		intent = g.Input.Text // nothing but white space: still the person's words
	}
	return message.TaskSpec{
		TaskID: g.ID, Intent: intent, Constraints: seen.Constraints, RawInput: g.Input.Text,
		Tags: seen.Tags, Declarative: seen.Declarative,
	}
}

// questions drops empty ones: a batch of nothing is no reason to stop.
func questions(all []string) []string {
	var asked []string
	for _, q := range all {
		if q = strings.TrimSpace(q); q != "" {
			asked = append(asked, q)
		}
	}
	return asked
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// earlier collects every round of questions with its answers. The state keeps
// the last round only, so two rounds are read from the log.
func earlier(e *step.Env, g blackboard.Goal) ([]think.QA, error) {
	if g.Clarify.Round == 0 {
		return nil, nil
	}
	if g.Clarify.Round == 1 {
		return pair(g.Clarify.Questions, g.Clarify.Answers), nil
	}
	var all []think.QA
	var open []string
	for m, err := range e.Board.Messages(g.InputRef.Seq) {
		if err != nil {
			return nil, fmt.Errorf("read earlier questions: %w", err)
		}
		if m.Seq > g.Clarify.Answered.Seq {
			break
		}
		if m.Goal != g.ID {
			continue
		}
		switch b := m.Body.(type) {
		case message.ClarificationQuestion:
			open = b.Questions
		case message.ClarificationAnswer:
			all = append(all, pair(open, b.Answers)...)
		}
	}
	return all, nil
}

// pair puts answers to questions in order; a question without one stays unanswered.
func pair(questions, answers []string) []think.QA {
	out := make([]think.QA, len(questions))
	for i, q := range questions {
		out[i].Question = q
		if i < len(answers) {
			out[i].Answer = answers[i]
		}
	}
	return out
}
