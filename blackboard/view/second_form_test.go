package view

import (
	"os"
	"slices"
	"strings"
	"testing"

	"orch/blackboard"
	"orch/blackboard/journal"
	"orch/blackboard/message"
)

// slotted is a task of a coding goal in a slot.
func slotted(id, slot string, goal message.GoalID, st blackboard.Status, created uint64) blackboard.Task {
	t := plainTask(id, st)
	t.Slot, t.Goal, t.For, t.Fence, t.Agent, t.Created = slot, goal, message.Coder, 1, "coder-1", ref(created)
	t.SuccessCriteria = []message.Criterion{{ID: "done_when", Criterion: "it is there", Required: true}}
	return t
}

// aboveBooks is what a view shows of decisions.
func aboveBooks(t *testing.T, view []byte) string {
	t.Helper()
	at := bookkeepingAt(view)
	if at < 0 {
		t.Fatalf("no bookkeeping in\n%s", view)
	}
	return string(view[:at+1])
}

// What is merged or superseded stays, in short, as long as its goal is the last
// one; then the view is about the next.
func TestWhatIsDoneStaysInShort(t *testing.T) {
	merged := slotted("id-1", "base", "g", blackboard.Merged, 3)
	merged.Review = blackboard.Review{Commit: "abc", MergedAs: "f00", JudgedBy: "code-reviewer-2", Verdict: &message.ReviewVerdict{ReviewCommit: "abc", Decision: message.Approved}}
	old := slotted("id-2", "parser", "g", blackboard.Superseded, 4)
	next := slotted("id-3", "parser", "g", blackboard.Claimed, 9)
	next.Supersedes, next.DependsOn = "id-2", []message.TaskID{"id-1"}
	s := &fakeState{seq: 10, tasks: []blackboard.Task{next, old, merged}, goals: []blackboard.Goal{{ID: "g", Status: blackboard.GoalOpen}}}
	text := string(Render(s, Options{}))
	for _, want := range []string{
		"\n  base:\n    status: MERGED\n    agent: coder-1\n    verdict: approved by code-reviewer-2\n    merged_as: f00\n    intent: do id-1\n    id: id-1\n  parser:\n",
		"\n  parser:\n    status: SUPERSEDED\n    agent: coder-1\n    intent: do id-2\n    id: id-2\n  parser.2:\n",
		"\n  parser.2:\n    status: CLAIMED\n", "    depends_on:\n      - base\n    supersedes: parser\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	s.goals[0].Status, s.goals[0].Final = blackboard.GoalEnded, &message.FinalResult{}
	if text := string(Render(s, Options{})); !strings.Contains(text, "\n  base:\n    status: MERGED\n") {
		t.Errorf("it is gone with the end of its goal:\n%s", text)
	}
	s.goals = append(s.goals, blackboard.Goal{ID: "h", Status: blackboard.GoalOpen})
	if text := string(Render(s, Options{})); strings.Contains(text, "\n  base:") || !strings.Contains(text, "\n  parser:\n    status: CLAIMED\n") {
		t.Errorf("it is there beside the next goal:\n%s", text)
	}
}

func TestWhatIsDoneTakesNoPlaceOfWhatIsOpen(t *testing.T) {
	s := &fakeState{seq: 10, goals: []blackboard.Goal{{ID: "g", Status: blackboard.GoalOpen}}}
	for n, name := range []string{"a", "b", "c", "d"} {
		s.tasks = append(s.tasks, slotted("m-"+name, "m"+name, "g", blackboard.Merged, uint64(n+2)))
	}
	s.tasks = append(s.tasks, slotted("o-1", "open", "g", blackboard.Claimed, 8), slotted("o-2", "approved", "g", blackboard.Approved, 2))
	text := string(Render(s, Options{MaxTasks: 4}))
	for _, want := range []string{"\n  open:\n", "\n  approved:\n", "\n  mc:\n", "\n  md:\n", "\ndone_tasks_not_shown: 2\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}

// Two slots that are the same, or the name of another task, or no plain word.
func TestNamesOfTasksAreTheirOwn(t *testing.T) {
	names := func(slots ...string) string {
		s := &fakeState{seq: 1}
		for n, slot := range slots {
			s.tasks = append(s.tasks, slotted("id-"+string(rune('a'+n)), slot, "", blackboard.Unclaimed, uint64(n+1)))
		}
		shown, _ := NewRenderer(Options{}).pick(s)
		nameTasks(shown)
		var out []string
		for _, b := range shown {
			out = append(out, b.name)
		}
		return strings.Join(out, " ")
	}
	for _, c := range []struct {
		slots []string
		want  string
	}{
		{[]string{"a", "b"}, "a b"},
		{[]string{"a", "a", "a"}, "a a.2 a.3"},
		{[]string{"a", "a.2", "a"}, "a a.2 a.3"},
		{[]string{"", "id-a"}, "id-a id-a.2"},
		{[]string{"two\nlines", "yes", "a: b", strings.Repeat("x", maxSlotBytes+1)}, "id-a id-b id-c id-d"},
	} {
		if got := names(c.slots...); got != c.want {
			t.Errorf("%q are called %s, want %s", c.slots, got, c.want)
		}
	}
}

// What changes all the time changes nothing but the section at the end.
func TestOnlyTheEndOfAViewChangesAllTheTime(t *testing.T) {
	for name, change := range map[string]func(*fakeState){
		"the head":            func(s *fakeState) { s.seq += 7 },
		"an agent comes":      func(s *fakeState) { s.agents = append(s.agents, blackboard.Agent{ID: "coder-9"}) },
		"an agent is renewed": func(s *fakeState) { s.agents[0].Lease.ExpiresAt = day(58) },
		"an agent says else":  func(s *fakeState) { s.agents[0].Status = message.AgentIdle },
		"a lease is extended": func(s *fakeState) { s.at("0190a1b2-0000-7000-8000-000000000001").Lease.ExpiresAt = day(58) },
		"a tool ends":         func(s *fakeState) { s.at("0190a1b2-0000-7000-8000-000000000001").OpenCall = nil },
		"time passes":         func(s *fakeState) { s.goals[1].ActiveMS++ },
		"a step begins":       func(s *fakeState) { s.goals[1].Steps++; s.goals[1].Reserved++ },
		"money is spent":      func(s *fakeState) { s.goals[1].Cost++ },
		"a try is counted":    func(s *fakeState) { s.at("F-003").Attempt++ },
	} {
		s := richBoard()
		before := Render(s, Options{})
		change(s)
		after := Render(s, Options{})
		if aboveBooks(t, before) != aboveBooks(t, after) || string(before) == string(after) {
			t.Errorf("%s:\n%s", name, DiffYAML(before, after))
		}
	}
}

// firstForm is a view as earlier versions of orch showed it.
const firstForm = "# The board\nformat: 1\nboard: b\nseq: 1\nhead: \"00\"\ntasks:\n  A-1:\n    status: UNCLAIMED\n    priority: 100\n"

func TestAViewOfTheFirstFormIsRenderedAnewAndSaidOnce(t *testing.T) {
	d := newDesk(t, journal.OSFS{}, twoTasks())
	d.save(string(seal([]byte(firstForm))))
	if seq, ok := SeqOf([]byte(firstForm)); !ok || seq != 1 {
		t.Errorf("it is of %d, %v", seq, ok)
	}
	if out := d.flush(); !out.Written || !out.Renewed {
		t.Errorf("the first time: %+v", out)
	}
	d.wantFresh()
	d.board.advance(nil)
	if out := d.flush(); !out.Written || out.Renewed {
		t.Errorf("the second time: %+v", out)
	}
}

func TestAnEditOfTheFirstFormIsKeptAndRefused(t *testing.T) {
	d := newDesk(t, journal.OSFS{}, twoTasks())
	mine := strings.Replace(firstForm, "100", "7", 1)
	d.save(mine)
	res := d.importOnce()
	if res.Status != Refused || !strings.Contains(res.Why, "format: is 1, the form of an earlier version of orch") {
		t.Fatalf("got %+v", res)
	}
	if kept, err := os.ReadFile(res.Kept); err != nil || string(kept) != mine {
		t.Errorf("kept is %q, %v", kept, err)
	}
	d.wantFresh()
}

// An edit under the name of a task is one of the task with that id.
func TestAnEditUnderASlotIsOfItsTask(t *testing.T) {
	d := newDesk(t, journal.OSFS{}, &fakeState{tasks: []blackboard.Task{
		slotted("id-1", "base", "", blackboard.Unclaimed, 1), slotted("id-2", "base", "", blackboard.Blocked, 2),
	}})
	d.flush()
	d.edit("    id: id-2\n    priority: 100\n    human_notes: []", "    id: id-2\n    priority: 100\n    human_notes: [mind the gap]")
	res := d.importOnce()
	if res.Status != Imported || len(res.Edits) != 1 || res.Edits[0].Task != "id-2" {
		t.Fatalf("got %+v", res)
	}
	d.wantFresh()
	d.edit("id: id-2", "id: id-1")
	if res := d.importOnce(); res.Status != Refused || !strings.Contains(res.Why, "tasks.base.2.id: cannot be edited here; use: orch task edit id-2") {
		t.Errorf("another id: %+v", res)
	}
	if notes := d.board.now().at("id-2").HumanNotes; !slices.Equal(notes, []string{"mind the gap"}) {
		t.Errorf("notes are %q", notes)
	}
}
