package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"orch/blackboard/message"
	"orch/roles/run/config"
)

// The bottom line says what is worked on, in one line of the terminal's width.
func TestTheBottomLineNamesTheTask(t *testing.T) {
	var out bytes.Buffer
	s := &screen{out: &edge{to: &out, mark: "\x1b0123"}, tty: true, show: newDisplay(paint{}, config.Default()), running: map[string]activity{}}
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
	if n := widthOf(last); n >= 80 || strings.Contains(last, "\n") {
		t.Errorf("%d columns: %q", n, last)
	}
	out.Reset()
	if err := s.add(message.Message{Body: message.StepStarting{Role: message.Executor, Agent: "executor-3", Reason: strings.Repeat("等待\u202e", 40)}}, false); err != nil {
		t.Fatal(err)
	}
	if n := widthOf(out.String()[strings.LastIndex(out.String(), "\x1b[2K")+len("\x1b[2K"):]); n < 60 || n >= 80 {
		t.Errorf("%d columns: %q", n, out.String())
	}
}

// Who sees no bottom line is told of long work, less and less often.
func TestLongWorkIsNamedWhereThereIsNoTerminal(t *testing.T) {
	var out bytes.Buffer
	s := &screen{out: &out, show: newDisplay(paint{}, config.Default()), running: map[string]activity{}}
	began := time.Now()
	s.running["executor-1"] = activity{text: "executor-1: tests/rerun", since: began}
	s.running["executor-2"] = activity{text: "executor-2: tests/late", since: began.Add(9 * time.Minute)}
	for second := range 600 {
		s.still(began.Add(time.Duration(second) * time.Second))
	}
	want := ""
	for _, ran := range []string{"1m0s", "2m0s", "4m0s", "8m0s"} {
		want += "working     executor-1: tests/rerun, for " + ran + "\n"
	}
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
	s.tty = true
	s.still(began.Add(time.Hour))
	if out.String() != want {
		t.Error("a terminal has its bottom line")
	}
}
