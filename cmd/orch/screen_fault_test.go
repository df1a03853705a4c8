package main

import (
	"bytes"
	"strings"
	"testing"

	"orch/blackboard/message"
)

// The bottom line says what is worked on, in one line of the terminal's width.
func TestTheBottomLineNamesTheTask(t *testing.T) {
	var out bytes.Buffer
	s := &screen{out: &out, tty: true, show: newDisplay(false), running: map[string]activity{}}
	for _, m := range []message.Message{
		{Body: message.SubTask{ID: "t-1", Slot: "tests", Approach: "rerun"}},
		{Body: message.StepStarting{Role: message.Executor, Subject: "t-1", Agent: "executor-1", Reason: "claimable"}},
		{Body: message.StepStarting{Role: message.Executor, Subject: "t-2", Agent: "executor-2", Reason: strings.Repeat("very ", 40)}},
	} {
		if err := s.add(m, false); err != nil {
			t.Fatal(err)
		}
	}
	last := out.String()[strings.LastIndex(out.String(), "\x1b[2K")+len("\x1b[2K"):]
	if !strings.Contains(last, "executor-1: tests/rerun 0s") {
		t.Errorf("got %q", last)
	}
	if n := len([]rune(last)); n >= 80 || strings.Contains(last, "\n") {
		t.Errorf("%d characters: %q", n, last)
	}
}
