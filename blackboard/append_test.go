package blackboard

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orch/blackboard/journal"
	"orch/blackboard/message"
)

func TestAppendIsSeenEverywhere(t *testing.T) {
	root := t.TempDir()
	a := mustInit(t, root, personOptions)
	b := mustOpen(t, root, boardOptions("executor-1", message.Supervisor))
	added := mustAppend(t, a, batch(0, 3))
	if added.Seq != 2 || added.From != message.Human || added.To != message.All || added.Agent != "human-1" || added.ID == "" || added.TS.IsZero() {
		t.Errorf("appended %+v", added)
	}
	if err := claim(b, "t-000001"); err != nil {
		t.Fatal(err)
	}
	if err := claim(b, "t-000001"); !isTaken(err) {
		t.Errorf("claimed twice: %v", err)
	}
	err := a.View(quiet, func(s *State) error {
		if task, _ := s.Task("t-000001"); task.Status != Claimed || task.Agent != "executor-1" || task.Fence != 1 {
			return fmt.Errorf("the task is %+v", task)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	var types []message.Type
	for m, err := range a.Messages(0) {
		if err != nil {
			t.Fatal(err)
		}
		if m.Seq != uint64(len(types)+1) {
			t.Errorf("message %d is at place %d", m.Seq, len(types)+1)
		}
		types = append(types, m.Type())
	}
	if want := []message.Type{"Genesis", "TaskAdded", "Claimed"}; !slices.Equal(types, want) {
		t.Errorf("the log has %v", types)
	}
	sameContents(t, "refold", boardContents(t, a), contents(t, refold(t, a, 3)))
	if err := errors.Join(a.Barrier(quiet, 3), b.Barrier(quiet, 3)); err != nil {
		t.Error(err)
	}
}

// lookingFS notes the names it is asked about.
type lookingFS struct {
	journal.OSFS
	looked *[]string
}

func (f lookingFS) Stat(name string) (os.FileInfo, error) {
	*f.looked = append(*f.looked, filepath.Base(name))
	return f.OSFS.Stat(name)
}

// What an append costs over its sync is largely what it asks the system.
func TestAnAppendLooksNoMoreThanItMust(t *testing.T) {
	var looked []string
	o := personOptions
	o.FS = lookingFS{looked: &looked}
	b := mustInit(t, t.TempDir(), o)
	mustAppend(t, b, message.HumanNote{For: "planner", Message: "the first reads the log"})
	looked = nil
	mustAppend(t, b, message.HumanNote{For: "planner", Message: "a note"})
	// Whether the log is closed to writers, before the write and after the sync, and
	// whether the log is still the file that is open.
	if want := []string{"poisoned", "log.jsonl", "poisoned"}; !slices.Equal(looked, want) {
		t.Errorf("an append looked at %v, want %v", looked, want)
	}
}

func TestConditions(t *testing.T) {
	root := t.TempDir()
	b := mustInit(t, root, personOptions)
	refused := errors.New("no")
	tests := []struct {
		name   string
		option AppendOption
		want   func(error) bool
	}{
		{"a seq that passed", IfSeq(0), func(err error) bool {
			var moved *SeqError
			return errors.As(err, &moved) && moved.Have == 1 && moved.Want == 0
		}},
		{"a condition", If(func(*State) error { return refused }), func(err error) bool { return err == refused }},
	}
	for _, test := range tests {
		_, err := b.Append(quiet, message.Message{Body: batch(0, 1)}, test.option)
		if !test.want(err) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	if _, err := b.AppendFunc(quiet, func(*State) (message.Message, error) { return message.Message{}, refused }); err != refused {
		t.Errorf("a refused draft: %v", err)
	}
	if _, err := b.Append(quiet, message.Message{}); err == nil {
		t.Error("a message without a body is appended")
	}
	m := mustAppend(t, b, batch(0, 1), IfSeq(1), If(func(s *State) error {
		if seq, _ := s.Head(); seq != 1 {
			return fmt.Errorf("seq %d", seq)
		}
		return nil
	}))
	if m.Seq != 2 {
		t.Errorf("appended at %d", m.Seq)
	}
}

func TestRefusedByTheFold(t *testing.T) {
	root := t.TempDir()
	b := mustInit(t, root, personOptions)
	mustAppend(t, b, batch(0, 1))
	before := filesIn(t, b.path())[b.path("log.jsonl")]
	state := boardContents(t, b)
	if _, err := b.Append(quiet, message.Message{Body: batch(0, 1)}); err == nil {
		t.Error("the same task is added twice")
	}
	if after := filesIn(t, b.path())[b.path("log.jsonl")]; after != before {
		t.Errorf("the log changed:\n%s", after)
	}
	sameContents(t, "state", boardContents(t, b), state)
}

func TestBoundary(t *testing.T) {
	root := t.TempDir()
	mustInit(t, root, personOptions)
	b := mustOpen(t, root, boardOptions("executor-1", message.Executor))
	_, err := b.Append(quiet, message.Message{Subject: "g", From: message.GGS, Body: message.FinalResult{}})
	var boundary *BoundaryError
	if !errors.As(err, &boundary) || boundary.Hint() == "" {
		t.Fatalf("an executor ends a goal: %v", err)
	}
	var last message.Message
	for m, err := range b.Messages(2) {
		if err != nil {
			t.Fatal(err)
		}
		last = m
	}
	violation, ok := last.Body.(message.BoundaryViolation)
	if last.Seq != 2 || !ok || last.From != message.Board || last.To != message.Auditor || violation != boundary.Violation {
		t.Errorf("the log says %+v", last)
	}
	if violation.By != "executor-1" || violation.From != message.GGS || violation.Refused != "FinalResult" || violation.Subject != "g" {
		t.Errorf("the violation is %+v", violation)
	}
}

func TestNobodySpeaks(t *testing.T) {
	root := t.TempDir()
	mustInit(t, root, personOptions)
	for _, agent := range []message.AgentID{"", "me", "nobody-1"} {
		b := mustOpen(t, root, boardOptions(agent, message.Human))
		_, err := b.Append(quiet, message.Message{Body: batch(0, 1)})
		var wrong *IdentityError
		if !errors.As(err, &wrong) {
			t.Errorf("agent %q: %v", agent, err)
		}
	}
}

func TestNoSecretIsWritten(t *testing.T) {
	root := t.TempDir()
	secret := "Tr0ub4dor&3\"x"
	o := personOptions
	o.Redact = NewRedactor([]string{"MY_PASSWORD=" + secret})
	b := mustInit(t, root, o)
	added := batch(0, 1)
	added.Tasks[0].Intent = "use " + secret + " and " + tokens[0]
	added.Tasks[0].Context = tokens[5]
	got := mustAppend(t, b, added)
	if text := got.Body.(message.TaskAdded).Tasks[0].Intent; text != "use "+Redacted+" and "+Redacted {
		t.Errorf("appended %q", text)
	}
	hash, err := b.PutBlob("g", []byte("output "+secret))
	if err != nil {
		t.Fatal(err)
	}
	if data, err := b.Blob("g", hash); err != nil || string(data) != "output "+Redacted {
		t.Errorf("blob %q, %v", data, err)
	}
	if err := b.Checkpoint(quiet); err != nil {
		t.Fatal(err)
	}
	for name, data := range filesIn(t, root) {
		for _, word := range []string{secret, "Tr0ub4dor", tokens[0], "MIIE"} {
			if strings.Contains(data, word) {
				t.Errorf("%s has %q", name, word)
			}
		}
	}
}

func TestTooLong(t *testing.T) {
	b := mustInit(t, t.TempDir(), personOptions)
	added := batch(0, 1)
	added.Tasks[0].Context = strings.Repeat("x", journal.MaxLineBytes)
	_, err := b.Append(quiet, message.Message{Body: added})
	var long *journal.TooLongError
	if !errors.As(err, &long) {
		t.Fatalf("a long message: %v", err)
	}
	if got := mustAppend(t, b, batch(0, 1)); got.Seq != 2 {
		t.Errorf("the next one is at %d", got.Seq)
	}
}

func TestBlobs(t *testing.T) {
	b := mustInit(t, t.TempDir(), personOptions)
	hash, err := b.PutBlob("g", []byte("data"))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := b.PutBlob("g", []byte("data")); err != nil || again != hash {
		t.Errorf("put again: %s, %v", again, err)
	}
	if err := os.WriteFile(b.BlobPath("g", hash), []byte("other"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{hash, strings.Repeat("0", 64), "../../log.jsonl", ""} {
		_, err := b.Blob("g", name)
		var wrong *BlobError
		if !errors.As(err, &wrong) {
			t.Errorf("blob %q: %v", name, err)
		}
	}
}

// Who appends is told of it, and before it closes: once, and only who appended.
func TestWhoAppendsIsToldOfItAndOfTheEnd(t *testing.T) {
	root := t.TempDir()
	var told []string
	o := personOptions
	note := func(what string) func(*Board) {
		return func(b *Board) {
			err := b.View(quiet, func(s *State) error { // the board may be called
				seq, _ := s.Head()
				told = append(told, fmt.Sprint(what, " ", seq))
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		}
	}
	o.Appended, o.Closing = note("appended"), note("closing")
	a, silent := mustInit(t, root, o), mustOpen(t, root, o)
	mustAppend(t, a, batch(0, 1))
	mustAppend(t, mustOpen(t, root, personOptions), batch(1, 1))
	for range 2 {
		if err := errors.Join(a.Close(), silent.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"appended 2", "closing 3"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}

func TestWatch(t *testing.T) {
	root := t.TempDir()
	a := mustInit(t, root, personOptions)
	b := mustOpen(t, root, personOptions)
	ctx, cancel := context.WithCancel(quiet)
	defer cancel()
	var got []uint64
	done := make(chan error, 1)
	go func() {
		for m, err := range b.Watch(ctx, 2) {
			if err != nil {
				done <- err
				return
			}
			if got = append(got, m.Seq); len(got) == 3 {
				done <- nil
				return
			}
		}
	}()
	for n := range 3 {
		mustAppend(t, a, batch(n, 1))
	}
	if err := <-done; err != nil || !slices.Equal(got, []uint64{2, 3, 4}) {
		t.Errorf("watched %v, %v", got, err)
	}
}
