package blackboard

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"orch/blackboard/message"
)

// world draws messages that mostly fit the state it looks at, so that runs get
// deep, and now and then do not.
type world struct {
	*rapid.T
	s   *State
	now time.Time
	n   int
}

func (w *world) pick(of ...string) string { return rapid.SampledFrom(of).Draw(w.T, "pick") }
func (w *world) odd() bool                { return rapid.IntRange(0, 11).Draw(w.T, "odd") == 0 }
func (w *world) small() int               { return rapid.IntRange(0, 3).Draw(w.T, "small") }

func (w *world) someGoal() message.GoalID {
	return message.GoalID(w.pick("g1", "g2"))
}

func (w *world) someTask(st ...Status) Task {
	var all []Task
	for t := range w.s.Tasks(st...) {
		all = append(all, t)
	}
	if len(all) == 0 || w.odd() {
		return Task{SubTask: message.SubTask{ID: message.TaskID(w.pick("t0", "t1", "nope"))}}
	}
	return rapid.SampledFrom(all).Draw(w.T, "task")
}

// newTask makes a task that may depend on one of the others, or on any.
func (w *world) newTask(plan message.PlanID, others ...message.TaskID) message.SubTask {
	id := fmt.Sprintf("t%d", w.n)
	t := message.SubTask{ID: message.TaskID(id), PlanID: plan, Intent: "i", Sequence: w.small(), Priority: w.small() - 1,
		SuccessCriteria: []message.Criterion{criterion("c")}, ReadOnly: w.odd(), Slot: id}
	if w.small() < 3 {
		t.Targets = []string{w.pick("a", "a/b", "c", ".")}
	}
	switch {
	case len(others) > 0 && w.small() > 0:
		t.DependsOn = others[:1]
		dep, _ := w.s.Task(others[0])
		t.Sequence = dep.Sequence
	case w.small() == 0:
		t.DependsOn = []message.TaskID{w.someTask().ID}
	}
	return t
}

// draw makes one message. Its kinds are repeated as often as runs need them.
func (w *world) draw() message.Message {
	w.n++
	w.now = w.now.Add(time.Duration(rapid.IntRange(-1000, 60_000).Draw(w.T, "ms")) * time.Millisecond)
	m := message.Message{Seq: w.s.seq + 1, TS: w.now, ID: message.ID(fmt.Sprintf("m%d", w.s.seq+1))}
	makers := []func(*message.Message) message.Body{
		w.goalWord, w.planWord, w.roundWord, w.stepWord, w.stepWord, w.holdWord, w.workWord, w.judgeWord, w.reviewWord, w.handWord, w.brakeWord,
	}
	if rapid.IntRange(0, 9).Draw(w.T, "useful") > 2 {
		makers = w.useful()
	}
	m.Body = rapid.SampledFrom(makers).Draw(w.T, "maker")(&m)
	if m.To == "" {
		m.To = message.DefaultTo(m.Body.Type())
	}
	if m.From == "" {
		for _, e := range message.Catalogue() {
			if e.Type == m.Body.Type() {
				m.From = e.From()[0]
			}
		}
	}
	w.spoil(&m)
	return m
}

// useful lists what would bring some goal on.
func (w *world) useful() []func(*message.Message) message.Body {
	makers := []func(*message.Message) message.Body{w.planWord}
	if w.s.Brakes().why() != "" {
		makers = append(makers, w.brakeWord)
	}
	for _, g := range w.s.OpenGoals() {
		fanned, _ := w.s.FanIn(g)
		switch {
		case g.Status == GoalSuspended && g.Suspended.Why != WhyClarification:
			makers = append(makers, w.brakeWord)
		case g.Spec == nil:
			makers = append(makers, w.goalWord)
		case g.PlanCause.Seq == 0 && fanned:
			makers = append(makers, w.roundWord, w.roundWord)
		}
	}
	for range w.s.Claimable("") {
		makers = append(makers, w.holdWord, w.holdWord)
		break
	}
	counts := w.s.Counts("")
	if counts[Claimed] > 0 {
		makers = append(makers, w.workWord, w.workWord)
	}
	if counts[ReadyForReview] > 0 {
		makers = append(makers, w.judgeWord, w.judgeWord, w.reviewWord)
	}
	if counts[Approved] > 0 {
		makers = append(makers, w.reviewWord)
	}
	return makers
}

// spoil breaks something about one message in a while.
func (w *world) spoil(m *message.Message) {
	if rapid.IntRange(0, 24).Draw(w.T, "spoil") != 0 {
		return
	}
	switch rapid.IntRange(0, 8).Draw(w.T, "how") {
	case 0:
		m.From = rapid.SampledFrom(message.Roles()).Draw(w.T, "from")
	case 1:
		m.Goal = message.GoalID(w.pick("g1", "g2", "nope", "", "a\x00b"))
	case 2:
		m.Cause = message.ID(w.pick("m1", "m5", ""))
	case 3:
		m.Agent = message.AgentID(w.pick("executor-1", "coder-2", "", "nobody"))
	case 4:
		m.Fence += message.Fence(w.small())
	case 5:
		m.Seq += uint64(w.small())
	case 6:
		m.Subject = w.pick("t1", "x", "")
	case 7:
		m.Body = w.garbage()
	case 8:
		m.To = rapid.SampledFrom(message.Roles()).Draw(w.T, "to")
	}
}

// garbage is a body of any type with anything in it, in the form it has once
// it has been in the log, if it can be there.
func (w *world) garbage() message.Body {
	v := reflect.New(reflect.TypeOf(rapid.SampledFrom(bodies()).Draw(w.T, "type"))).Elem()
	w.fill(v, 0)
	b := v.Interface().(message.Body)
	raw, err := message.Encode(b)
	if err != nil {
		return message.Genesis{}
	}
	if read, err := message.Decode(b.Type(), raw); err == nil {
		return read
	}
	return b
}

func (w *world) fill(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(w.pick("", "t1", "t2", "g1", "executor-1", "c", "\x00", "\xff", "done", "matched", "a\nb"))
	case reflect.Bool:
		v.SetBool(w.small() > 1)
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64Range(-2, 3).Draw(w.T, "int"))
	case reflect.Uint64:
		v.SetUint(rapid.Uint64Range(0, 3).Draw(w.T, "uint"))
	case reflect.Float64:
		v.SetFloat(rapid.SampledFrom([]float64{0, -1, 1e308, 0.5}).Draw(w.T, "float"))
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				w.fill(v.Field(i), depth+1)
			}
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte(w.pick("null", "1", `"x"`, `["t1"]`)))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), w.small()/2, 2))
		for i := range v.Len() {
			w.fill(v.Index(i), depth+1)
		}
	case reflect.Pointer:
		if w.small() > 1 && depth < 4 {
			v.Set(reflect.New(v.Type().Elem()))
			w.fill(v.Elem(), depth+1)
		}
	}
}

// bodies are zero values of every type.
func bodies() []message.Body {
	var out []message.Body
	for _, e := range message.Catalogue() {
		raw := []byte(`{}`)
		if b, err := message.Decode(e.Type, raw); err == nil {
			out = append(out, b)
		}
	}
	return append(out, message.SubTask{}, message.DispatchManifest{}, message.ExecutionResult{}, message.SubTaskOutcome{},
		message.FinalResult{}, message.TaskAdded{}, message.TaskSpec{}, message.UserInput{}, message.PlanDirective{}, message.Anomaly{})
}

func TestFoldProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := NewState()
		w := &world{T: rt, s: s, now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
		genesis := message.Message{Seq: 1, ID: "m1", TS: w.now, From: message.Board, To: message.All, Body: message.Genesis{Format: 1, Board: "b"}}
		if err := Apply(s, genesis); err != nil {
			rt.Fatal(err)
		}
		log := []message.Message{genesis}
		twin := reopened(t, s) // folds the same, but from one checkpoint to the next
		before := dump(t, s)
		for range rapid.IntRange(30, 150).Draw(rt, "length") {
			m := w.draw()
			old := maps.Collect(taskByID(s))
			err := Apply(s, m)
			if terr := Apply(twin, m); (err == nil) != (terr == nil) || err != nil && err.Error() != terr.Error() {
				rt.Fatalf("%s: %v, over a checkpoint %v", m.Type(), err, terr)
			}
			now := dump(t, s)
			if err != nil {
				if now != before {
					rt.Fatalf("refused %s (%v) changed the state", m.Type(), err)
				}
				continue
			}
			log = append(log, m)
			if got := dump(t, twin); got != now {
				rt.Fatalf("after %s the state over a checkpoint differs:\n%s\n%s", m.Type(), now, got)
			}
			if rapid.IntRange(0, 9).Draw(rt, "checkpoint") == 0 {
				twin = reopened(t, twin)
			}
			before = now
			checkTasks(rt, s, old, m)
			checkCounts(rt, s)
			checkClaimable(rt, s)
			checkGoals(rt, s)
			checkPlans(rt, s)
		}
		again := NewState()
		for _, m := range log {
			if err := Apply(again, m); err != nil {
				rt.Fatalf("replay of %s: %v", m.Type(), err)
			}
		}
		if got := dump(t, again); got != before {
			rt.Fatal("a replay gives another state")
		}
	})
}

func taskByID(s *State) func(func(message.TaskID, Task) bool) {
	return func(yield func(message.TaskID, Task) bool) {
		for t := range s.Tasks() {
			if !yield(t.ID, t) {
				return
			}
		}
	}
}

// checkTasks: fences only grow, nothing leaves a terminal status or appears
// approved, and every change is one the lifecycle has.
func checkTasks(rt *rapid.T, s *State, old map[message.TaskID]Task, m message.Message) {
	for t := range s.Tasks() {
		o, existed := old[t.ID]
		switch {
		case t.Fence < o.Fence:
			rt.Fatalf("the fence of %s fell from %d to %d", t.ID, o.Fence, t.Fence)
		case t.Claim != o.Claim && t.Fence != o.Fence+1:
			rt.Fatalf("%s was claimed under fence %d after %d", t.ID, t.Fence, o.Fence)
		case existed && o.Status.Terminal() && t.Status != o.Status:
			rt.Fatalf("%s left %s", t.ID, o.Status)
		case o.Status == Claimed && t.Status == Claimed && t.Agent != o.Agent:
			rt.Fatalf("%s went from %s to %s without being given back", t.ID, o.Agent, t.Agent)
		case t.Status != o.Status && !legal(m.Type(), m.From, o.Status, t.Status):
			rt.Fatalf("%s took %s from %q to %s", m.Type(), t.ID, o.Status, t.Status)
		case t.Status == Approved && o.Status != Approved && (o.Status != ReadyForReview || m.Agent == t.Agent):
			rt.Fatalf("%s was approved out of %s by %s", t.ID, o.Status, m.Agent)
		}
	}
	for id := range old {
		if _, ok := s.Task(id); !ok {
			rt.Fatalf("%s is gone", id)
		}
	}
}

func checkCounts(rt *rapid.T, s *State) {
	want := map[message.GoalID]map[Status]int{"": {}}
	for t := range s.Tasks() {
		want[""][t.Status]++
		if t.Goal != "" {
			if want[t.Goal] == nil {
				want[t.Goal] = map[Status]int{}
			}
			want[t.Goal][t.Status]++
		}
	}
	for g, counts := range want {
		if got := s.Counts(g); !maps.Equal(got, counts) {
			rt.Fatalf("counts of %q are %v, want %v", g, got, counts)
		}
	}
}

// checkClaimable compares the index with what the words of the kernel say,
// task by task.
func checkClaimable(rt *rapid.T, s *State) {
	all := slices.Collect(s.Tasks())
	var want []message.TaskID
	for _, t := range all {
		ok := plainlyClaimable(s, all, t)
		if err := s.CanClaim(t); (err == nil) != ok {
			rt.Fatalf("%s: claimable %v, but CanClaim says %v", t.ID, ok, err)
		}
		if ok {
			want = append(want, t.ID)
		}
	}
	if got := ids(s.Claimable("")); !slices.Equal(got, append([]message.TaskID{}, want...)) {
		rt.Fatalf("claimable %v, want %v", got, want)
	}
}

func plainlyClaimable(s *State, all []Task, t Task) bool {
	if t.Status != Unclaimed && t.Status != Rejected && t.Status != IntegrationFailed {
		return false
	}
	if b := s.Brakes(); b.Paused != nil || b.Checkpoint != nil {
		return false
	}
	if g, ok := s.Goal(t.Goal); ok && g.Status != GoalOpen {
		return false
	}
	for _, o := range all {
		isDone := o.Status == Merged || o.Status == Approved && o.For != message.Coder
		sameplan := o.PlanID != "" && o.PlanID == t.PlanID && o.Goal == t.Goal
		counts := o.Status != Draft && o.Status != Void && o.Status != Superseded
		if sameplan && counts && o.Sequence < t.Sequence && !isDone {
			return false
		}
		if slices.Contains(t.DependsOn, o.ID) && !isDone {
			return false
		}
		if o.Status == Claimed && plainlyConflict(o, t) {
			return false
		}
	}
	return true
}

func plainlyConflict(a, b Task) bool {
	free := func(t Task) bool {
		return t.ReadOnly || t.For == message.Coder || t.Goal == "" && len(t.Targets) == 0
	}
	if free(a) || free(b) {
		return false
	}
	parts := func(t Task) []string {
		if len(t.Targets) == 0 {
			return []string{"."}
		}
		return t.Targets
	}
	for _, p := range parts(a) {
		for _, q := range parts(b) {
			if p == "." || q == "." || p == q || p == "a" && q == "a/b" || q == "a" && p == "a/b" {
				return true
			}
		}
	}
	return false
}

// checkGoals: the money and time of a goal add up, and what is over stays over.
func checkGoals(rt *rapid.T, s *State) {
	live := map[message.GoalID]int{}
	for _, a := range s.LiveActivations() {
		live[a.Goal]++
	}
	for _, g := range s.Goals() {
		switch {
		case g.Running != live[g.ID]:
			rt.Fatalf("%s says %d steps run, %d do", g.ID, g.Running, live[g.ID])
		case g.Reserved < 0 || g.Cost < 0 || g.ActiveMS < 0:
			rt.Fatalf("%s has a negative meter: %+v", g.ID, g)
		case (g.Status == GoalEnded) != (g.Final != nil):
			rt.Fatalf("%s is %s, final %v", g.ID, g.Status, g.Final)
		case (g.Status == GoalSuspended) != (g.Suspended != nil):
			rt.Fatalf("%s is %s, suspension %v", g.ID, g.Status, g.Suspended)
		}
		checkBills(rt, s, g)
		if g.Status == GoalEnded {
			for t := range s.TasksOf(g.ID) {
				if !t.Status.Terminal() && t.Status != Approved {
					rt.Fatalf("%s ended with %s %s", g.ID, t.ID, t.Status)
				}
			}
		}
	}
}

// checkBills: what the controller waits for is a step of its goal that lives,
// and what it waited for is part of what the goal cost.
func checkBills(rt *rapid.T, s *State, g Goal) {
	bills := map[string]Bill{"the goal": g.Bill}
	for i, r := range g.Rounds {
		bills[fmt.Sprintf("round %d", i+1)] = r.Bill
	}
	for where, b := range bills {
		a, known := s.Activation(b.Step)
		switch {
		case b.Cost > g.Cost || b.ActiveMS > g.ActiveMS:
			rt.Fatalf("%s has %+v on its bill of %g and %d ms", where, b, g.Cost, g.ActiveMS)
		case !b.Open():
		case b != g.bill():
			rt.Fatalf("%s was answered and its bill is open: %+v", where, b)
		case !known || !a.Live() || a.Goal != g.ID:
			rt.Fatalf("%s waits for %+v", where, b)
		}
	}
}
