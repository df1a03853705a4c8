package blackboard

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"orch/blackboard/message"
)

func (c *script) claimable(role message.Role, want ...message.TaskID) {
	c.t.Helper()
	for name, s := range map[string]*State{"folded": c.s, "reopened": reopened(c.t, c.s)} {
		if got := ids(s.Claimable(role)); !slices.Equal(got, append([]message.TaskID{}, want...)) {
			c.t.Fatalf("%s: claimable %v, want %v", name, got, want)
		}
	}
}

func TestClaimableInOrderOfPriorityThenCreation(t *testing.T) {
	c := newScript(t)
	add := func(id message.TaskID, priority int) {
		x := sub(id, "", 0)
		x.Priority = priority
		c.say(message.TaskAdded{Tasks: []message.SubTask{x}})
	}
	add("b", 5)
	add("a", 5)
	add("urgent", -1)
	add("later", 100)
	c.say(message.TaskAdded{Tasks: []message.SubTask{{ID: "z", Intent: "i", Priority: 5}, {ID: "y", Intent: "i", Priority: 5}}})
	c.claimable(message.Executor, "urgent", "b", "a", "z", "y", "later")
}

func TestClaimableWaitsForDependencies(t *testing.T) {
	c := newScript(t)
	c.perceived("g")
	a, b := sub("a", "p", 1), sub("b", "p", 1)
	b.DependsOn = []message.TaskID{"a"}
	c.planned("g", "p", b, a)
	c.claimable(message.Executor, "a")
	err := c.refused("it depends on a, which is UNCLAIMED", message.Claimed{Task: "b", Agent: "executor-1", Fence: 1})
	var not *NotClaimableError
	if !errors.As(err, &not) || not.Task != "b" {
		t.Errorf("got %T", err)
	}
	c.matched("a")
	c.claimable(message.Executor, "b")
}

func TestClaimableWaitsForLowerSequences(t *testing.T) {
	c := newScript(t)
	c.perceived("g")
	c.planned("g", "p", sub("a", "p", 1), sub("b", "p", 1), sub("c", "p", 5), sub("d", "p", 9))
	c.claimable(message.Executor, "a", "b")
	c.matched("a")
	c.claimable(message.Executor, "b")
	c.matched("b")
	c.claimable(message.Executor, "c")
	c.failed("c")
	c.claimable(message.Executor)
	if ok, why := c.s.FanIn(c.goal("g")); !ok {
		t.Errorf("a task that can never start keeps the fan-in open: %s", why)
	}
	c.say(message.Unblocked{Task: "c"})
	c.claimable(message.Executor, "c")
	c.matched("c")
	c.claimable(message.Executor, "d")
}

func TestClaimableHeldBackWhenALowerTaskComesLate(t *testing.T) {
	c := newScript(t)
	x, y := sub("x", "hand", 2), sub("y", "hand", 1)
	c.say(message.TaskAdded{Tasks: []message.SubTask{x}})
	c.claimable(message.Executor, "x")
	c.say(message.TaskAdded{Tasks: []message.SubTask{y}})
	c.claimable(message.Executor, "y")
}

func TestClaimableKeepsApartWhatMayChangeTheSameFiles(t *testing.T) {
	for name, tc := range map[string]struct {
		held, other []string
		readOnly    bool
		free        bool
	}{
		"both undeclared":          {nil, nil, false, false},
		"a reader":                 {nil, nil, true, true},
		"disjoint":                 {[]string{"src/a"}, []string{"src/ab", "docs"}, false, true},
		"same file":                {[]string{"src/a.go"}, []string{"./src//a.go"}, false, false},
		"below a directory":        {[]string{"src"}, []string{"src/a.go"}, false, false},
		"above a file":             {[]string{"src/x/a.go"}, []string{"src/"}, false, false},
		"undeclared and declared":  {[]string{"src"}, nil, false, false},
		"declared and undeclared":  {nil, []string{"src"}, false, false},
		"wildcard":                 {[]string{"src/*.go"}, []string{"src/a.txt"}, false, false},
		"wildcard elsewhere":       {[]string{"src/**/x"}, []string{"docs/**"}, false, true},
		"leaves the workspace":     {[]string{"../x"}, []string{"docs"}, false, false},
		"backslashes":              {[]string{`src\a`}, []string{"src/a/b"}, false, false},
		"wildcard in the first":    {[]string{"*.go"}, []string{"docs"}, false, false},
		"the whole by name":        {[]string{"."}, []string{"docs"}, false, false},
		"one of several overlaps":  {[]string{"a", "b"}, []string{"c", "b/x"}, false, false},
		"none of several overlaps": {[]string{"a", "b"}, []string{"c", "d"}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			c := newScript(t)
			c.perceived("g")
			a, b := sub("a", "p", 1), sub("b", "p", 1)
			a.ReadOnly, a.Targets = false, tc.held
			b.ReadOnly, b.Targets = tc.readOnly, tc.other
			c.planned("g", "p", a, b)
			f := c.claim("a", "executor-1")
			if tc.free {
				c.claimable(message.Executor, "b")
				c.claim("b", "executor-2")
				return
			}
			c.claimable(message.Executor)
			c.refused("a of executor-1 may change the same files", message.Claimed{Task: "b", Agent: "executor-2", Fence: 1})
			c.say(message.Released{Task: "a", Agent: "executor-1", Fence: f})
			c.claimable(message.Executor, "a", "b")
		})
	}
}

func TestTasksByHandThatDeclareNothingAreFree(t *testing.T) {
	c := newScript(t)
	c.say(message.TaskAdded{Tasks: []message.SubTask{{ID: "a", Intent: "i"}, {ID: "b", Intent: "i"}}})
	c.claim("a", "executor-1")
	c.claimable(message.Executor, "b")
}

func TestClaimableByRole(t *testing.T) {
	c := newScript(t)
	c.perceived("g")
	cause := c.goal("g").PlanCause.ID
	c.say(sub("e", "p", 1), inGoal("g"), sentTo(message.Executor))
	c.say(sub("k", "p", 1), inGoal("g"), sentTo(message.Coder))
	c.say(c.manifest("g", "p", "e", "k"), inGoal("g"), because(cause))
	c.say(message.TaskAdded{Tasks: []message.SubTask{{ID: "h", Intent: "i", Priority: 100}}})
	c.claimable(message.Executor, "e", "h")
	c.claimable(message.Coder, "k", "h")
	c.claimable(message.Human, "h")
	c.claimable("", "e", "k", "h")
	c.refused("for the coder", message.Claimed{Task: "k", Agent: "executor-1", Fence: 1})
	c.claim("k", "human-1")
}

func TestNothingIsClaimableUnderABrakeOrOutsideAnOpenGoal(t *testing.T) {
	c := newScript(t)
	c.perceived("g")
	c.planned("g", "p", sub("a", "p", 1))
	c.claimable(message.Executor, "a")
	for _, stop := range []struct {
		say, lift message.Body
		opts      []with
		why       string
	}{
		{message.Paused{}, message.Resumed{}, nil, "paused"},
		{message.CheckpointReached{Name: "n"}, message.Resumed{}, nil, "checkpoint"},
		{message.Aborted{}, message.Resumed{}, nil, "SUSPENDED"},
		{message.Paused{}, message.Resumed{}, []with{inGoal("g")}, "SUSPENDED"},
		{message.CircuitBreaker{Finding: "f"}, message.Resumed{}, []with{inGoal("g")}, "SUSPENDED"},
		{message.BudgetReached{Cap: "cost"}, message.Unblocked{}, []with{inGoal("g")}, "SUSPENDED"},
		{message.CheckpointReached{Name: "step-crashed"}, message.Unblocked{}, []with{inGoal("g")}, "SUSPENDED"},
	} {
		c.say(stop.say, stop.opts...)
		c.claimable(message.Executor)
		c.refused(stop.why, message.Claimed{Task: "a", Agent: "executor-1", Fence: 1})
		c.say(stop.lift, stop.opts...)
		c.claimable(message.Executor, "a")
	}
}

func TestLateMessagesAreTold(t *testing.T) {
	c := newScript(t)
	c.perceived("g")
	c.planned("g", "p", sub("a", "p", 1))
	old := c.claim("a", "executor-1")
	c.say(message.LeaseLapsed{Task: "a", Agent: "executor-1", Fence: old})
	now := c.claim("a", "executor-2")
	for name, body := range map[string]message.Body{
		"start":  message.ToolStarted{Call: "c"},
		"call":   message.ToolCall{Call: "c"},
		"result": message.ExecutionResult{SubtaskID: "a", Attempt: 1, Status: message.Completed},
		"extend": message.LeaseExtended{Task: "a", Agent: "executor-1", Fence: old},
	} {
		var late *LateError
		if _, err := c.try(body, about("a"), as("executor-1"), under(old)); !errors.As(err, &late) || late.Holder != "executor-2" || late.Now != now {
			t.Errorf("%s: got %v", name, err)
		}
	}
	c.say(message.LateResult{Task: "a", Fence: old, Hash: "h"}, as("executor-1"))
	if got := c.task("a"); got.Status != Claimed || got.Expired != 1 {
		t.Errorf("got %+v", got)
	}
}

// board of n tasks that wait for one, m that are free, over a checkpoint.
func largeBoard(t testing.TB, n, free int) *State {
	s := NewState()
	say := func(b message.Body) {
		m := message.Message{Seq: s.seq + 1, ID: message.ID(fmt.Sprint(s.seq + 1)), TS: time.Unix(int64(s.seq), 0).UTC(), To: message.All, From: message.Human, Body: b}
		if b.Type() == "Genesis" {
			m.From = message.Board
		}
		if err := Apply(s, m); err != nil {
			t.Fatal(err)
		}
	}
	say(message.Genesis{Format: 1, Board: "b"})
	batch := message.TaskAdded{}
	add := func(x message.SubTask) {
		if batch.Tasks = append(batch.Tasks, x); len(batch.Tasks) == 500 {
			say(batch)
			batch = message.TaskAdded{}
		}
	}
	add(message.SubTask{ID: "first", Intent: "x", Priority: 200})
	for i := range n {
		add(message.SubTask{ID: message.TaskID(fmt.Sprintf("w%06d", i)), Intent: "x", DependsOn: []message.TaskID{"first"}})
	}
	for i := range free {
		add(message.SubTask{ID: message.TaskID(fmt.Sprintf("f%06d", i)), Intent: strings.Repeat("x", 200), Priority: 300})
	}
	if len(batch.Tasks) > 0 {
		say(batch)
	}
	return s
}

// counting wraps a base and counts what is read of it.
type counting struct {
	*mapBase
	gets int
}

func (b *counting) get(kind, key string) ([]byte, bool, error) {
	b.gets++
	return b.mapBase.get(kind, key)
}

func TestFirstClaimableDoesNotLookAtTheOthers(t *testing.T) {
	s := largeBoard(t, 2000, 2000)
	seq, hash := s.Head()
	b := &counting{mapBase: baseOf(t, s)}
	s = openState(b, seq, hash)
	for task := range s.Claimable(message.Executor) {
		if task.ID != "first" {
			t.Errorf("first is %s", task.ID)
		}
		break
	}
	m := message.Message{Seq: seq + 1, ID: "x", From: message.Human, To: message.All, Body: message.Claimed{Task: "first", Agent: "executor-1", Fence: 1}}
	if err := Apply(s, m); err != nil {
		t.Fatal(err)
	}
	if b.gets > 20 {
		t.Errorf("one claim read %d records of the checkpoint", b.gets)
	}
	if s.Err() != nil {
		t.Error(s.Err())
	}
}

func BenchmarkFirstClaimable(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		s := largeBoard(b, n/2, n/2)
		over := openState(baseOf(b, s), s.seq, "")
		for name, s := range map[string]*State{"folded": s, "checkpoint": over} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				for b.Loop() {
					for range s.Claimable(message.Executor) {
						break
					}
				}
			})
		}
	}
}

func BenchmarkFold(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		s := largeBoard(b, 0, 1000)
		b.StartTimer()
		seq := s.seq
		say := func(body message.Body, w ...with) {
			seq++
			m := message.Message{Seq: seq, ID: "x", TS: time.Unix(int64(seq), 0), From: message.Human, To: message.All, Body: body}
			for _, o := range w {
				o(&m)
			}
			if err := Apply(s, m); err != nil {
				b.Fatal(err)
			}
		}
		for i := range 1000 {
			id := message.TaskID(fmt.Sprintf("f%06d", i))
			say(message.Claimed{Task: id, Agent: "executor-1", Fence: 1})
			for range 8 {
				say(message.LeaseExtended{Task: id, Agent: "executor-1", Fence: 1})
			}
			say(message.TaskFinished{Task: id}, as("executor-1"), under(1))
		}
	}
	b.ReportMetric(float64(b.N)*10_000/b.Elapsed().Seconds(), "messages/s")
}
