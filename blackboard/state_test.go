package blackboard

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"orch/blackboard/message"
)

// mapBase is a checkpoint in memory: what a state said it has to hold.
type mapBase struct {
	rows    map[string][]record // by kind
	entries map[string][]entry  // by index
	broken  error               // returned by every read
}

func baseOf(t testing.TB, s *State) *mapBase {
	t.Helper()
	b := &mapBase{rows: map[string][]record{}, entries: map[string][]entry{}}
	for r, err := range s.records() {
		if err != nil {
			t.Fatal(err)
		}
		b.rows[r.kind] = append(b.rows[r.kind], r)
	}
	for e := range s.entries() {
		b.entries[e.index] = append(b.entries[e.index], e)
	}
	for kind, rows := range b.rows {
		if !slices.IsSortedFunc(rows, func(a, b record) int { return strings.Compare(a.key, b.key) }) {
			t.Fatalf("the %s records are out of order", kind)
		}
	}
	for name, list := range b.entries {
		if !slices.IsSortedFunc(list, func(a, b entry) int {
			return cmp.Or(strings.Compare(a.key, b.key), strings.Compare(a.record, b.record))
		}) {
			t.Fatalf("index %s is out of order", name)
		}
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *mapBase) get(kind, key string) ([]byte, bool, error) {
	i, ok := slices.BinarySearchFunc(b.rows[kind], key, func(r record, k string) int { return strings.Compare(r.key, k) })
	if b.broken != nil || !ok {
		return nil, false, b.broken
	}
	return b.rows[kind][i].value, true, nil
}

func (b *mapBase) scan(index, prefix string) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		if b.broken != nil {
			yield(entry{}, b.broken)
			return
		}
		list := b.entries[index]
		i, _ := slices.BinarySearchFunc(list, prefix, func(e entry, p string) int { return strings.Compare(e.key, p) })
		for _, e := range list[i:] {
			if !strings.HasPrefix(e.key, prefix) || !yield(e, nil) {
				return
			}
		}
	}
}

func (b *mapBase) all(kind string) iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		for _, r := range b.rows[kind] {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// reopened is the state as a process finds it that starts from a checkpoint.
func reopened(t testing.TB, s *State) *State {
	t.Helper()
	seq, hash := s.Head()
	return openState(baseOf(t, s), seq, hash)
}

// dump is everything a state holds, as text.
func dump(t testing.TB, s *State) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "seq %d\n", s.seq)
	for r, err := range s.records() {
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %q %s\n", r.kind, r.key, r.value)
	}
	for e := range s.entries() {
		fmt.Fprintf(&b, "%s %q %q\n", e.index, e.key, e.record)
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// script plays messages into a state.
type script struct {
	t   testing.TB
	s   *State
	now time.Time
	log []message.Message
}

func newScript(t testing.TB) *script {
	c := &script{t: t, s: NewState(), now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	c.say(message.Genesis{Format: 1, Board: "board"})
	return c
}

// with changes a message before it is said.
type with func(*message.Message)

func inGoal(g message.GoalID) with      { return func(m *message.Message) { m.Goal = g } }
func about(s string) with               { return func(m *message.Message) { m.Subject = s } }
func because(id message.ID) with        { return func(m *message.Message) { m.Cause = id } }
func as(a message.AgentID) with         { return func(m *message.Message) { m.Agent = a } }
func under(f message.Fence) with        { return func(m *message.Message) { m.Fence = f } }
func sentBy(from message.Role) with     { return func(m *message.Message) { m.From = from } }
func sentTo(to message.Role) with       { return func(m *message.Message) { m.To = to } }
func (c *script) after(d time.Duration) { c.now = c.now.Add(d) }

func (c *script) draft(b message.Body, opts ...with) message.Message {
	seq := c.s.seq + 1
	m := message.Message{Seq: seq, TS: c.now, ID: message.ID(fmt.Sprintf("m%d", seq)), To: message.DefaultTo(b.Type()), Body: b}
	for _, e := range message.Catalogue() {
		if e.Type == b.Type() {
			m.From = e.From()[0]
		}
	}
	for _, o := range opts {
		o(&m)
	}
	return m
}

// try says something that may be refused. A refusal must leave no trace.
func (c *script) try(b message.Body, opts ...with) (message.Message, error) {
	c.t.Helper()
	m := c.draft(b, opts...)
	before := dump(c.t, c.s)
	checked := Check(c.s, m)
	if dump(c.t, c.s) != before {
		c.t.Fatalf("checking %s changed the state", m.Type())
	}
	err := Apply(c.s, m)
	if (err == nil) != (checked == nil) {
		c.t.Fatalf("%s: checked %v, applied %v", m.Type(), checked, err)
	}
	if err != nil {
		if dump(c.t, c.s) != before {
			c.t.Fatalf("refused %s changed the state", m.Type())
		}
		return m, err
	}
	c.log = append(c.log, m)
	return m, nil
}

func (c *script) say(b message.Body, opts ...with) message.Message {
	c.t.Helper()
	m, err := c.try(b, opts...)
	if err != nil {
		c.t.Fatalf("%s: %v", m.Type(), err)
	}
	return m
}

// refused says something that must be refused with an error that contains want.
func (c *script) refused(want string, b message.Body, opts ...with) error {
	c.t.Helper()
	_, err := c.try(b, opts...)
	if err == nil || !strings.Contains(err.Error(), want) {
		c.t.Fatalf("%s: got %v, want a refusal with %q", b.Type(), err, want)
	}
	return err
}

func (c *script) task(id message.TaskID) Task {
	c.t.Helper()
	t, ok := c.s.Task(id)
	if !ok {
		c.t.Fatalf("there is no task %s", id)
	}
	return t
}

func (c *script) goal(id message.GoalID) Goal {
	c.t.Helper()
	g, ok := c.s.Goal(id)
	if !ok {
		c.t.Fatalf("there is no goal %s", id)
	}
	return g
}

func criterion(id string) message.Criterion {
	return message.Criterion{ID: id, Criterion: "it " + id + "s", Mode: message.Verifiable, Required: true}
}

func passes(id string) message.Verdict {
	return message.Verdict{CriterionID: id, Criterion: id, Mode: message.Verifiable, Verdict: message.Pass, Evidence: "seen", By: message.ByCode}
}

func fails(id string) message.Verdict {
	return message.Verdict{CriterionID: id, Criterion: id, Mode: message.Verifiable, Verdict: message.Fail, FailureClass: message.Logical, By: message.ByCode}
}

func sub(id message.TaskID, plan message.PlanID, sequence int) message.SubTask {
	return message.SubTask{ID: id, PlanID: plan, Intent: "do " + string(id), Sequence: sequence, Priority: 100,
		SuccessCriteria: []message.Criterion{criterion("c")}, ReadOnly: true, Slot: string(id)}
}

// perceived starts a goal and perceives it.
func (c *script) perceived(g message.GoalID) {
	c.t.Helper()
	c.say(message.UserInput{Text: "do " + string(g), Profile: "task"}, inGoal(g))
	c.say(message.TaskSpec{TaskID: g, Intent: "do it", RawInput: "do " + string(g)}, inGoal(g))
}

// planned gives a goal a plan of the tasks, which must be of that plan.
func (c *script) planned(g message.GoalID, plan message.PlanID, tasks ...message.SubTask) {
	c.t.Helper()
	cause := c.goal(g).PlanCause.ID
	ids := make([]message.TaskID, len(tasks))
	for i, t := range tasks {
		ids[i] = t.ID
		c.say(t, inGoal(g))
	}
	c.say(c.manifest(g, plan, ids...), inGoal(g), because(cause))
}

func (c *script) manifest(g message.GoalID, plan message.PlanID, ids ...message.TaskID) message.DispatchManifest {
	return message.DispatchManifest{PlanID: plan, TaskID: g, SubtaskIDs: ids, Fingerprint: "f", TaskCriteria: []message.Criterion{criterion("t")}}
}

func (c *script) claim(id message.TaskID, agent message.AgentID) message.Fence {
	c.t.Helper()
	f := c.task(id).Fence + 1
	c.say(message.Claimed{Task: id, Agent: agent, Fence: f, Lease: message.Lease{Boot: "b", AwakeMS: 1, ExpiresAt: c.now.Add(time.Minute)}})
	return f
}

func (c *script) attempt(id message.TaskID, agent message.AgentID) {
	c.t.Helper()
	f := c.claim(id, agent)
	c.say(message.ExecutionResult{SubtaskID: id, Attempt: c.task(id).Attempt + 1, Status: message.Completed}, as(agent), under(f))
}

func (c *script) matched(id message.TaskID) {
	c.t.Helper()
	c.attempt(id, "executor-1")
	c.say(message.SubTaskOutcome{SubtaskID: id, Status: message.Matched, CriteriaVerdicts: []message.Verdict{passes("c")}}, as("agent-validator-1"))
}

func (c *script) failed(id message.TaskID) {
	c.t.Helper()
	c.attempt(id, "executor-1")
	c.say(message.SubTaskOutcome{SubtaskID: id, Status: message.Failed, CriteriaVerdicts: []message.Verdict{fails("c")}}, as("agent-validator-1"))
}

func ids(seq iter.Seq[Task]) []message.TaskID {
	out := []message.TaskID{}
	for t := range seq {
		out = append(out, t.ID)
	}
	return out
}

func TestBrokenBaseIsNeverTakenForEmpty(t *testing.T) {
	c := newScript(t)
	c.perceived("g")
	b := baseOf(t, c.s)
	b.broken = errors.New("bad sector")
	s := openState(b, c.s.seq, "")
	c.s = s
	if err := Apply(s, c.draft(message.UserInput{Text: "more", Profile: "task"}, inGoal("h"))); !errors.Is(err, b.broken) {
		t.Errorf("applied over a broken base: %v", err)
	}
	if !errors.Is(s.Err(), b.broken) {
		t.Errorf("the state says %v", s.Err())
	}
}

func TestSnapshotDoesNotMove(t *testing.T) {
	c := newScript(t)
	c.perceived("g")
	c.planned("g", "p", sub("a", "p", 1))
	snap, before := c.s.snapshot(), dump(t, c.s)
	c.matched("a")
	if got := dump(t, snap); got != before {
		t.Error("the snapshot changed with the state")
	}
	if dump(t, c.s) == before {
		t.Error("the state did not change")
	}
}

func TestGettersOverACheckpoint(t *testing.T) {
	c := newScript(t)
	c.perceived("g")
	c.planned("g", "p", sub("b", "p", 1), sub("a", "p", 1), sub("z", "p", 2))
	c.say(message.Registered{Agent: "executor-1", Role: message.Executor})
	c.s = reopened(t, c.s)
	c.matched("b")
	if got := ids(c.s.TasksOf("g")); !slices.Equal(got, []message.TaskID{"b", "a", "z"}) {
		t.Errorf("tasks %v", got)
	}
	if got := ids(c.s.Tasks(Approved, Unclaimed)); !slices.Equal(got, []message.TaskID{"b", "a", "z"}) {
		t.Errorf("tasks %v", got)
	}
	if got := c.s.Counts("g"); got[Approved] != 1 || got[Unclaimed] != 2 {
		t.Errorf("counts %v", got)
	}
	if got := c.s.NextAgent(message.Executor); got != "executor-2" {
		t.Errorf("next agent %s", got)
	}
	if got := c.s.UniqueGoalID("g"); got != "g_2" {
		t.Errorf("unique goal %s", got)
	}
	if got := c.s.BoardID(); got != "board" {
		t.Errorf("board %q", got)
	}
	if got := c.s.Agents(); len(got) != 1 || got[0].ID != "executor-1" {
		t.Errorf("agents %v", got)
	}
}

func TestResolveTask(t *testing.T) {
	c := newScript(t)
	c.say(message.TaskAdded{Tasks: []message.SubTask{sub("abc", "", 0), sub("abd", "", 0), sub("abcd", "", 0), sub("x", "", 0)}})
	for prefix, want := range map[string]message.TaskID{"abc": "abc", "abcd": "abcd", "x": "x", "ab": "", "": "", "y": ""} {
		got, err := c.s.ResolveTask(prefix)
		var unknown *UnknownTaskError
		if got.ID != want || (want == "") != errors.As(err, &unknown) {
			t.Errorf("%q: got %s, %v", prefix, got.ID, err)
		}
	}
}
