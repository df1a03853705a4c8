package blackboard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"orch/blackboard/journal"
	"orch/blackboard/message"
)

func boardOptions(agent message.AgentID, speaks ...message.Role) Options {
	return Options{Identity: Identity{Agent: agent, Speaks: speaks}}
}

var personOptions = boardOptions("human-1", message.Human)

func mustInit(t testing.TB, root string, o Options) *Board {
	t.Helper()
	b, err := Init(root, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mustClose(t, b) })
	return b
}

func mustOpen(t testing.TB, root string, o Options) *Board {
	t.Helper()
	b, err := Open(root, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mustClose(t, b) })
	return b
}

func mustClose(t testing.TB, b *Board) {
	t.Helper()
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}

func mustAppend(t testing.TB, b *Board, body message.Body, o ...AppendOption) message.Message {
	t.Helper()
	m, err := b.Append(quiet, message.Message{Body: body}, o...)
	if err != nil {
		t.Fatalf("append %s: %v", body.Type(), err)
	}
	return m
}

// batch makes tasks t-<from> and so on.
func batch(from, count int) message.TaskAdded {
	var tasks []message.SubTask
	for n := from; n < from+count; n++ {
		tasks = append(tasks, message.SubTask{ID: message.TaskID(fmt.Sprintf("t-%06d", n)), Intent: "do it", Priority: 100})
	}
	return message.TaskAdded{Tasks: tasks}
}

// claim takes a task for the board's own agent.
func claim(b *Board, id message.TaskID) error {
	_, err := b.AppendFunc(quiet, func(s *State) (message.Message, error) {
		t, _ := s.Task(id)
		if err := s.CanClaim(t); err != nil {
			return message.Message{}, err
		}
		return message.Message{Subject: string(id), Body: message.Claimed{Task: id, Agent: b.opts.Identity.Agent, Fence: t.Fence + 1}}, nil
	})
	return err
}

func isTaken(err error) bool {
	var taken *NotClaimableError
	return errors.As(err, &taken)
}

// contents is everything a state remembers, and every way to find it.
func contents(t testing.TB, s *State) []string {
	t.Helper()
	seq, hash := s.Head()
	lines := []string{fmt.Sprint(seq, hash)}
	for r, err := range s.records() {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, fmt.Sprintf("%s %q %s", r.kind, r.key, r.value))
	}
	for e := range s.entries() {
		lines = append(lines, fmt.Sprintf("%s %q %q", e.index, e.key, e.record))
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return lines
}

func boardContents(t testing.TB, b *Board) (lines []string) {
	t.Helper()
	err := b.View(quiet, func(s *State) error {
		lines = contents(t, s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// refold is the state that the log alone leads to.
func refold(t testing.TB, b *Board, upTo uint64) *State {
	t.Helper()
	s := NewState()
	if err := b.replayTo(quiet, s, upTo, nil); err != nil {
		t.Fatal(err)
	}
	return s
}

func sameContents(t testing.TB, what string, got, want []string) {
	t.Helper()
	if slices.Equal(got, want) {
		return
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("%s: line %d of %d and %d differs:\ngot  %.300s\nwant %.300s", what, i, len(got), len(want), append(got, "nothing")[min(i, len(got))], append(want, "nothing")[min(i, len(want))])
		}
	}
}

// filesIn is the content of every file below a directory.
func filesIn(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		files[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestInitTwice(t *testing.T) {
	root := t.TempDir()
	_, err := Open(root, personOptions)
	if !errors.Is(err, ErrNoBoard) {
		t.Fatalf("open without a board: %v", err)
	}
	a := mustInit(t, root, personOptions)
	mustAppend(t, a, batch(0, 1))
	b := mustInit(t, root, personOptions)
	sameContents(t, "second init", boardContents(t, b), boardContents(t, a))
	if a.id == "" || a.Root() != root || a.Dir() != filepath.Join(root, DirName) {
		t.Errorf("board %q in %q", a.id, a.Dir())
	}
	if got := a.GoalDir("g_1"); got != filepath.Join(a.Dir(), GoalsDir, "g_1") {
		t.Errorf("goal in %s", got)
	}
}

func TestInitAtOnce(t *testing.T) {
	root := t.TempDir()
	ids := make([]string, 8)
	var wg sync.WaitGroup
	for n := range ids {
		wg.Go(func() {
			b, err := Init(root, personOptions)
			if err != nil {
				t.Error(err)
				return
			}
			ids[n] = b.id
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if ids = slices.Compact(ids); len(ids) != 1 || ids[0] == "" {
		t.Errorf("boards %v came of it", ids)
	}
}

func TestAppendIsSeenEverywhere(t *testing.T) {
	root := t.TempDir()
	a := mustInit(t, root, personOptions)
	b := mustOpen(t, root, boardOptions("executor-1", message.Executor))
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

func TestReadOnlyWritesNothing(t *testing.T) {
	root := t.TempDir()
	o := personOptions
	o.CheckpointMessages = 1
	a, err := Init(root, o)
	if err != nil {
		t.Fatal(err)
	}
	mustAppend(t, a, batch(0, 2000))
	mustClose(t, a)
	if err := os.RemoveAll(a.path(CacheDir)); err != nil {
		t.Fatal(err)
	}
	before := filesIn(t, root)
	o.ReadOnly = true
	b, err := Open(root, o)
	if err != nil {
		t.Fatal(err)
	}
	boardContents(t, b)
	_, appendErr := b.Append(quiet, message.Message{Body: batch(0, 1)})
	_, rotateErr := b.Rotate(quiet)
	_, repairErr := b.Repair(quiet)
	for _, err := range []error{appendErr, rotateErr, repairErr, b.Checkpoint(quiet)} {
		if !errors.Is(err, ErrReadOnly) {
			t.Errorf("not refused: %v", err)
		}
	}
	mustClose(t, b)
	if after := filesIn(t, root); !maps.Equal(before, after) {
		t.Errorf("files changed: %v, were %v", slices.Sorted(maps.Keys(after)), slices.Sorted(maps.Keys(before)))
	}
}

func TestClosed(t *testing.T) {
	b := mustInit(t, t.TempDir(), personOptions)
	mustClose(t, b)
	mustClose(t, b)
	if err := b.View(quiet, func(*State) error { return nil }); !errors.Is(err, ErrClosed) {
		t.Errorf("view: %v", err)
	}
	if _, err := b.Append(quiet, message.Message{Body: batch(0, 1)}); err == nil {
		t.Error("append to a closed board")
	}
}

func TestOnAdvance(t *testing.T) {
	root := t.TempDir()
	var seqs []uint64
	o := personOptions
	o.OnAdvance = func(s *State) {
		seq, _ := s.Head()
		seqs = append(seqs, seq)
	}
	a := mustInit(t, root, o)
	mustAppend(t, a, batch(0, 1))
	mustAppend(t, mustOpen(t, root, personOptions), batch(1, 1))
	boardContents(t, a)
	if !slices.Equal(seqs, []uint64{2, 3}) {
		t.Errorf("advanced to %v", seqs)
	}
}

func TestNetworkIsRefused(t *testing.T) {
	root := t.TempDir()
	o := personOptions
	o.FS = networkFS{}
	_, err := Init(root, o)
	var network *journal.NetworkFSError
	if !errors.As(err, &network) {
		t.Fatalf("init: %v", err)
	}
	if len(filesIn(t, root)) > 0 {
		t.Error("a refused init leaves files")
	}
	o.UnsafeFS = true
	mustInit(t, root, o)
	o.UnsafeFS = false
	if _, err := Open(root, o); !errors.As(err, &network) {
		t.Errorf("open: %v", err)
	}
}

type networkFS struct{ journal.OSFS }

func (networkFS) NetworkKind(string) (string, error) { return "NFS", nil }

func TestNewerLog(t *testing.T) {
	root := t.TempDir()
	if err := makeLayout(journal.OSFS{}, filepath.Join(root, DirName)); err != nil {
		t.Fatal(err)
	}
	log, err := journal.Create(quiet, filepath.Join(root, DirName), journal.Options{}, journal.Draft{
		From: "board", To: "all", Type: "Genesis", Payload: []byte(`{"format":2,"board":"b"}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	_, err = Open(root, personOptions)
	var newer *NewerFormatError
	if !errors.As(err, &newer) || newer.Format != 2 || newer.Hint() == "" {
		t.Errorf("open: %v", err)
	}
}

func TestUnknownMessage(t *testing.T) {
	root := t.TempDir()
	b := mustInit(t, root, personOptions)
	if _, err := b.log.Append(quiet, journal.Draft{From: "human", To: "all", Type: "FromTheFuture"}, nil); err != nil {
		t.Fatal(err)
	}
	_, err := Open(root, personOptions)
	var fold *FoldError
	if !errors.As(err, &fold) || fold.Seq != 2 || !strings.Contains(fold.Hint(), "update orch") {
		t.Errorf("open: %v", err)
	}
	if err := b.View(quiet, func(*State) error { return nil }); !errors.As(err, &fold) {
		t.Errorf("view: %v", err)
	}
}

func TestTornTailIsReported(t *testing.T) {
	root := t.TempDir()
	b := mustInit(t, root, personOptions)
	mustAppend(t, b, batch(0, 1))
	log, err := os.OpenFile(b.path("log.jsonl"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := log.WriteString(`{"seq":3,"ts":`); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	c := mustOpen(t, root, personOptions)
	if m := mustAppend(t, c, batch(1, 1)); m.Seq != 4 {
		t.Errorf("appended at %d", m.Seq)
	}
	for m, err := range c.Messages(3) {
		if err != nil {
			t.Fatal(err)
		}
		repaired, ok := m.Body.(message.JournalRepaired)
		if !ok || repaired.FromSeq != 3 || repaired.Bytes != 14 || !strings.HasPrefix(repaired.Kept, ArchiveDir+"/torn-") {
			t.Errorf("the log says %+v", m)
		}
		kept, err := os.ReadFile(c.path(filepath.FromSlash(repaired.Kept)))
		if err != nil || !bytes.Equal(kept, []byte(`{"seq":3,"ts":`)) {
			t.Errorf("kept %q, %v", kept, err)
		}
		break
	}
	sameContents(t, "the other board", boardContents(t, b), boardContents(t, c))
}

// TestReplacedLog puts an old copy of the whole directory back, run/head and all.
func TestReplacedLog(t *testing.T) {
	root, home := t.TempDir(), t.TempDir()
	o := personOptions
	o.StateDir = home
	b, err := Init(root, o)
	if err != nil {
		t.Fatal(err)
	}
	mustAppend(t, b, batch(0, 1))
	mustClose(t, b)
	old := filesIn(t, b.path())
	if b, err = Open(root, o); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, b, batch(1, 1))
	mustClose(t, b)
	if err := os.RemoveAll(b.path()); err != nil {
		t.Fatal(err)
	}
	for name, data := range old {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(data), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	_, err = Open(root, o)
	var backwards *journal.WentBackwardsError
	if !errors.As(err, &backwards) || !strings.Contains(backwards.Hint(), "orch restore") {
		t.Errorf("open: %v", err)
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
