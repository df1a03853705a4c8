package planner

import (
	"slices"
	"strings"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/loop"
	"orch/roles/run/step"
)

// told is what the memory said in words. Where it did not answer in time, the
// facts come from the log: a person's word does not wait for anybody.
func told(e *step.Env, g blackboard.Goal) (facts, lessons []string, err error) {
	c := g.Calibration
	if c.Answer != nil || c.Cause != g.RoundCause.ID || c.Reply.ID == "" || e.Config.Memory.Off {
		facts, lessons = loop.Lessons(c.Answer)
		return facts, lessons, nil
	}
	facts, err = factsOnLog(e)
	return facts, nil, err
}

// factsOnLog are the facts a person declared and did not take back, newest
// first; the same text said again counts once.
func factsOnLog(e *step.Env) ([]string, error) {
	type fact struct {
		id   string
		text string
	}
	var all []fact
	for m, err := range e.Board.Messages(1) {
		if err != nil {
			return nil, err
		}
		switch b := m.Body.(type) {
		case message.MemoryFact:
			all = append(all, fact{string(m.ID), strings.TrimSpace(b.Text)})
		case message.Megram:
			if loop.IsFact(b.Space, b.Content.Category) && b.Through == 0 && b.Level == "C" {
				all = append(all, fact{b.ID, strings.TrimSpace(b.Content.Lesson)})
			}
		case message.MemoryForget:
			all = slices.DeleteFunc(all, func(f fact) bool { return slices.Contains(b.IDs, f.id) })
		}
	}
	var texts []string
	for _, f := range slices.Backward(all) {
		if !slices.Contains(texts, f.text) {
			texts = append(texts, f.text)
		}
	}
	return texts, nil
}
