package view

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"orch/blackboard"
	"orch/blackboard/journal"
	"orch/blackboard/message"
)

// fakeState is a state made of plain lists.
type fakeState struct {
	seq       uint64
	goals     []blackboard.Goal
	tasks     []blackboard.Task
	agents    []blackboard.Agent
	approvals []blackboard.Approval
	sprint    *blackboard.Sprint
	brakes    blackboard.Brakes
	anomalies []blackboard.AnomalyRecord
	limits    map[string]time.Time
}

func (s *fakeState) Head() (uint64, string)                { return s.seq, fmt.Sprintf("%064x", s.seq) }
func (s *fakeState) BoardID() string                       { return "0190a1b2-0000-7000-8000-00000000b0a2" }
func (s *fakeState) Goals() []blackboard.Goal              { return s.goals }
func (s *fakeState) Agents() []blackboard.Agent            { return s.agents }
func (s *fakeState) Approvals() []blackboard.Approval      { return s.approvals }
func (s *fakeState) Brakes() blackboard.Brakes             { return s.brakes }
func (s *fakeState) Sprint() *blackboard.Sprint            { return s.sprint }
func (s *fakeState) Anomalies() []blackboard.AnomalyRecord { return s.anomalies }
func (s *fakeState) Limits() map[string]time.Time          { return s.limits }
func (s *fakeState) Err() error                            { return nil }

func (s *fakeState) at(id message.TaskID) *blackboard.Task {
	for i := range s.tasks {
		if s.tasks[i].ID == id {
			return &s.tasks[i]
		}
	}
	return nil
}

func (s *fakeState) Task(id message.TaskID) (blackboard.Task, bool) {
	if t := s.at(id); t != nil {
		return *t, true
	}
	return blackboard.Task{}, false
}

func (s *fakeState) Tasks(st ...blackboard.Status) iter.Seq[blackboard.Task] {
	return func(yield func(blackboard.Task) bool) {
		for _, t := range s.tasks {
			if slices.Contains(st, t.Status) && !yield(t) {
				return
			}
		}
	}
}

func (s *fakeState) TaskRows(st blackboard.Status) iter.Seq[blackboard.TaskRow] {
	return s.rows(st, func(blackboard.Task) bool { return true })
}

func (s *fakeState) TaskRowsOf(goal message.GoalID, st blackboard.Status) iter.Seq[blackboard.TaskRow] {
	return s.rows(st, func(t blackboard.Task) bool { return t.Goal == goal })
}

func (s *fakeState) rows(st blackboard.Status, want func(blackboard.Task) bool) iter.Seq[blackboard.TaskRow] {
	return func(yield func(blackboard.TaskRow) bool) {
		for t := range s.Tasks(st) {
			if want(t) && !yield(blackboard.TaskRow{ID: t.ID, Created: t.Created.Seq}) {
				return
			}
		}
	}
}

func (s *fakeState) Counts(goal message.GoalID) map[blackboard.Status]int {
	counts := map[blackboard.Status]int{}
	for _, t := range s.tasks {
		if goal == "" || t.Goal == goal {
			counts[t.Status]++
		}
	}
	return counts
}

func (s *fakeState) clone() *fakeState {
	c := *s
	c.goals, c.tasks = slices.Clone(s.goals), slices.Clone(s.tasks)
	c.limits = maps.Clone(s.limits)
	for i := range c.tasks {
		c.tasks[i].HumanNotes = slices.Clone(c.tasks[i].HumanNotes)
	}
	return &c
}

// fakeBoard remembers the state at every seq.
type fakeBoard struct {
	mu     sync.Mutex
	states []*fakeState // index is seq - 1
	edits  []message.Message
	fail   error
}

func newBoard(first *fakeState) *fakeBoard {
	first.seq = 1
	return &fakeBoard{states: []*fakeState{first}}
}

func (b *fakeBoard) now() *fakeState { return b.states[len(b.states)-1] }

// advance appends a message that does change to the state.
func (b *fakeBoard) advance(change func(*fakeState)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.push(change)
}

func (b *fakeBoard) push(change func(*fakeState)) {
	next := b.now().clone()
	next.seq++
	if change != nil {
		change(next)
	}
	b.states = append(b.states, next)
}

func (b *fakeBoard) View(_ context.Context, f func(State) error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return f(b.now())
}

func (b *fakeBoard) StateAt(_ context.Context, seq uint64) (State, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if seq == 0 || seq > uint64(len(b.states)) {
		return nil, errors.New("no such seq")
	}
	return b.states[seq-1], nil
}

func (b *fakeBoard) AppendFunc(_ context.Context, f func(State) (message.Message, error)) (message.Message, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	m, err := f(b.now())
	if err == nil {
		err = b.fail
	}
	if err != nil {
		return message.Message{}, err
	}
	edit := m.Body.(message.HumanEdit)
	if _, err := message.Encode(edit); err != nil {
		return message.Message{}, err
	}
	b.push(func(s *fakeState) {
		for _, e := range edit.Edits {
			applyEdit(s.at(e.Task), e)
		}
	})
	m.Seq = b.now().seq
	b.edits = append(b.edits, m)
	return m, nil
}

func applyEdit(t *blackboard.Task, e message.Edit) {
	var into any
	switch e.Field {
	case FieldPriority:
		into = &t.Priority
	case FieldHumanNotes:
		t.HumanNotes = nil
		into = &t.HumanNotes
	case FieldStatus:
		into = &t.Status
	default:
		panic("edit of " + e.Field)
	}
	if err := json.Unmarshal(e.New, into); err != nil {
		panic(err)
	}
	if len(t.HumanNotes) == 0 {
		t.HumanNotes = nil
	}
}

// clock is moved by hand; it starts at the real time because the times of
// files are real.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func newClock() *clock { return &clock{t: time.Now().Add(time.Hour)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// desk is a directory with a view, a board behind it and a person before it.
type desk struct {
	t     *testing.T
	fs    journal.FS
	dir   string
	board *fakeBoard
	clock *clock
	k     *Keeper
}

func newDesk(t *testing.T, fsys journal.FS, s *fakeState) *desk {
	d := &desk{t: t, fs: fsys, dir: t.TempDir(), board: newBoard(s), clock: newClock()}
	if err := fsys.MkdirAll(d.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	d.k = d.keeper()
	return d
}

func (d *desk) keeper() *Keeper {
	return NewKeeper(Config{Dir: d.dir, FS: d.fs, Clock: d.clock})
}

func (d *desk) flush() Freshness {
	d.t.Helper()
	out, err := d.k.Flush(d.t.Context(), d.board)
	if err != nil {
		d.t.Fatal(err)
	}
	return out
}

func (d *desk) file() string {
	d.t.Helper()
	return d.read("state.yaml")
}

func (d *desk) read(name string) string {
	d.t.Helper()
	data, _, err := readFile(d.fs, filepath.Join(d.dir, name))
	if err != nil {
		d.t.Fatal(err)
	}
	return string(data)
}

// save is what an editor does that writes in place.
func (d *desk) save(text string) {
	d.t.Helper()
	f, err := d.fs.OpenFile(filepath.Join(d.dir, "state.yaml"), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		d.t.Fatal(err)
	}
	_, werr := f.Write([]byte(text))
	if err := errors.Join(werr, f.Sync(), f.Close()); err != nil {
		d.t.Fatal(err)
	}
	if err := d.fs.SyncDir(d.dir); err != nil {
		d.t.Fatal(err)
	}
}

// edit replaces one piece of the view and saves it.
func (d *desk) edit(old, new string) string {
	d.t.Helper()
	text := d.file()
	if strings.Count(text, old) != 1 {
		d.t.Fatalf("%q is there %d times in\n%s", old, strings.Count(text, old), text)
	}
	text = strings.Replace(text, old, new, 1)
	d.save(text)
	return text
}

func (d *desk) importOnce() Result {
	d.t.Helper()
	res, err := d.k.Import(d.t.Context(), d.board)
	if err != nil {
		d.t.Fatal(err)
	}
	return res
}

func (d *desk) wantFresh() {
	d.t.Helper()
	if got, want := d.file(), string(Render(d.board.now(), Options{})); got != want {
		d.t.Fatalf("the view is not fresh:\n%s", DiffYAML([]byte(want), []byte(got)))
	}
	for _, name := range d.leftovers() {
		if !strings.Contains(name, "rejected") {
			d.t.Errorf("%s was left behind", name)
		}
	}
}

func (d *desk) leftovers() []string {
	d.t.Helper()
	names, err := d.fs.ReadDir(d.dir)
	if err != nil {
		d.t.Fatal(err)
	}
	return slices.DeleteFunc(names, func(n string) bool { return n == "state.yaml" || n == "run" })
}

// day is when everything in these tests happens.
func day(second int) time.Time { return time.Date(2026, 3, 4, 5, 6, second, 0, time.UTC) }

func ref(seq uint64) blackboard.Ref {
	return blackboard.Ref{ID: message.ID(fmt.Sprintf("m-%d", seq)), Seq: seq, TS: day(int(seq))}
}

func plainTask(id string, st blackboard.Status) blackboard.Task {
	t := blackboard.Task{Status: st, Created: ref(1), Changed: ref(1)}
	t.ID, t.Intent, t.Priority = message.TaskID(id), "do "+id, 100
	return t
}

// twoTasks is a board with an unclaimed and a blocked task.
func twoTasks() *fakeState {
	blocked := plainTask("B-2", blackboard.Blocked)
	blocked.BlockedReason, blocked.HumanNotes = "nobody knows the port", []string{"asked Ann"}
	return &fakeState{tasks: []blackboard.Task{plainTask("A-1", blackboard.Unclaimed), blocked}}
}
