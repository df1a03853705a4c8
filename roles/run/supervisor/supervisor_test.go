package supervisor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"orch/blackboard"
	"orch/blackboard/message"
	"orch/roles/act/process"
	"orch/roles/loop"
	"orch/roles/run/config"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a board with one goal, and a clock that only the test moves.
type world struct {
	t    *testing.T
	root string
	mu   sync.Mutex
	now  time.Time
	up   int64 // awake milliseconds
	ids  int
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, root: t.TempDir(), now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), up: 1000}
	b, err := blackboard.Init(w.root, w.options("human-1", message.Human))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if _, err := b.Append(t.Context(), message.Message{Goal: "g", Subject: "g", Body: message.UserInput{Text: "x", Profile: "task"}}); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) options(agent message.AgentID, speaks ...message.Role) blackboard.Options {
	return blackboard.Options{Clock: w, Identity: blackboard.Identity{Agent: agent, Speaks: speaks}}
}

func (w *world) Now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) Awake() (string, int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return "boot-1", w.up
}

// pass moves wall time and awake time, which differ when the machine sleeps.
func (w *world) pass(wall, awake time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now, w.up = w.now.Add(wall), w.up+awake.Milliseconds()
}

func (w *world) newID() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ids++
	return "id-" + strconv.Itoa(w.ids)
}

func (w *world) board(agent message.AgentID, speaks ...message.Role) *blackboard.Board {
	w.t.Helper()
	b, err := blackboard.Open(w.root, w.options(agent, speaks...))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { b.Close() })
	return b
}

func (w *world) starter(n int) *Starter {
	p := loop.PolicyOf(config.Default())
	p.Boot = "boot-1"
	agent := message.AgentID("supervisor-" + strconv.Itoa(n))
	return &Starter{Board: w.board(agent, message.Supervisor), Policy: p, Clock: w, NewID: w.newID,
		Holder: message.Process{PID: n, Boot: "boot-1", Start: int64(n)}, LeaseMS: 60_000, As: message.Supervisor}
}

func (w *world) due(s *Starter) []loop.Activation {
	w.t.Helper()
	var due []loop.Activation
	if err := s.Board.View(w.t.Context(), func(st *blackboard.State) error { due = loop.Due(st, s.Policy, w.Now()); return nil }); err != nil {
		w.t.Fatal(err)
	}
	return due
}

// spawner plays the steps of a run: it says what the role would say.
type spawner struct {
	mu    sync.Mutex
	steps []Claim
	play  func(context.Context, Claim) End
	dead  []int // pids that do not live
	swept []string
}

func (s *spawner) Step(ctx context.Context, c Claim) End {
	s.mu.Lock()
	s.steps = append(s.steps, c)
	s.mu.Unlock()
	return s.play(ctx, c)
}

func (s *spawner) Sweep(marker string) int { s.swept = append(s.swept, marker); return 2 }

func (s *spawner) Look(p message.Process) process.Liveness {
	if slices.Contains(s.dead, p.PID) {
		return process.Dead
	}
	return process.Living
}

func TestOfManySupervisorsExactlyOneStartsAnActivation(t *testing.T) {
	w := newWorld(t)
	a := w.due(w.starter(1))[0]
	const racers = 8
	starters := make([]*Starter, racers)
	for i := range starters {
		starters[i] = w.starter(i + 1)
	}
	won := make(chan int, racers)
	var all sync.WaitGroup
	for i, s := range starters {
		all.Go(func() {
			_, err := s.Start(t.Context(), a)
			switch {
			case err == nil:
				won <- i
			case !errors.Is(err, ErrNotDue) && !Refused(err):
				t.Error(err)
			}
		})
	}
	all.Wait()
	if len(won) != 1 {
		t.Errorf("%d of %d started it", len(won), racers)
	}
}

func TestEndIsSaidOnceAndGivesTheTaskBack(t *testing.T) {
	w := newWorld(t)
	s := w.starter(1)
	w.plan(s)
	c, err := s.Start(t.Context(), w.due(s)[0])
	if err != nil || c.Fence != 1 || c.Agent != "executor-1" {
		t.Fatalf("claim %+v, %v", c, err)
	}
	for range 2 {
		if err := s.End(t.Context(), c, End{Exit: 1, Class: message.EndCrash}); err != nil {
			t.Fatal(err)
		}
	}
	err = s.Board.View(t.Context(), func(st *blackboard.State) error {
		task, _ := st.Task("t-1")
		if task.Status != blackboard.Unclaimed || len(st.LiveActivations()) != 0 {
			t.Errorf("task %s, live %v", task.Status, st.LiveActivations())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := w.count(s, "StepEnded"); n != 1 {
		t.Errorf("%d ends of one step", n)
	}
}

// begin claims the first of what is due.
func (w *world) begin(s *Starter) Claim {
	w.t.Helper()
	c, err := s.Start(w.t.Context(), w.due(s)[0])
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// plan takes the goal to where one task can be claimed.
func (w *world) plan(s *Starter) {
	w.t.Helper()
	perceiver, planner := w.board("perceiver-1", message.Perceiver), w.board("planner-1", message.Planner)
	spec := message.TaskSpec{TaskID: "g", Intent: "x", RawInput: "x"}
	said := w.say(perceiver, "", spec)
	asked := w.say(planner, said.ID, message.MemoryQuery{Space: "intent:x", Entity: loop.LocalEntity})
	w.say(s.Board, asked.ID, message.MemoryTimeout{Reason: "none"})
	c := message.Criterion{ID: "c1", Criterion: "it holds", Mode: message.Verifiable, Required: true}
	w.say(planner, said.ID, message.SubTask{ID: "t-1", PlanID: "p", ParentTaskID: "g", Intent: "x", Slot: "s", Approach: "a", Priority: 100, SuccessCriteria: []message.Criterion{c}})
	w.say(planner, said.ID, message.DispatchManifest{PlanID: "p", TaskID: "g", SubtaskIDs: []message.TaskID{"t-1"}, TaskSpec: spec, Fingerprint: "f"})
}

func (w *world) say(b *blackboard.Board, cause message.ID, body message.Body) message.Message {
	w.t.Helper()
	subject := "g"
	if t, ok := body.(message.SubTask); ok {
		subject = string(t.ID)
	}
	m, err := b.Append(w.t.Context(), message.Message{Goal: "g", Subject: subject, Cause: cause, Body: body})
	if err != nil {
		w.t.Fatalf("say %s: %v", body.Type(), err)
	}
	return m
}

func (w *world) count(s *Starter, typ message.Type) (n int) {
	w.t.Helper()
	for m, err := range s.Board.Messages(1) {
		if err != nil {
			w.t.Fatal(err)
		}
		if m.Type() == typ {
			n++
		}
	}
	return n
}

func TestALaptopAsleepForAnHourLosesNothing(t *testing.T) {
	w := newWorld(t)
	s := w.starter(1)
	w.plan(s)
	c := w.begin(s)
	w.pass(time.Hour, 2*time.Second)
	if _, err := s.Housekeep(t.Context(), &spawner{}); err != nil {
		t.Fatal(err)
	}
	w.say2(t, s, c)
	err := s.Board.View(t.Context(), func(st *blackboard.State) error {
		task, _ := st.Task("t-1")
		goal, _ := st.Goal("g")
		if task.Status != blackboard.Claimed || task.Fence != c.Fence {
			t.Errorf("the task was taken: %s", task.Status)
		}
		if goal.ActiveMS > 2*blackboard.ActiveGapMS {
			t.Errorf("the hour asleep counts as %d ms of work", goal.ActiveMS)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// say2 extends the lease, so that the goal hears of time again.
func (w *world) say2(t *testing.T, s *Starter, c Claim) {
	t.Helper()
	m := message.Message{Goal: "g", Subject: "t-1", Fence: c.Fence, Body: message.LeaseExtended{Task: "t-1", Agent: c.Agent, Fence: c.Fence, Lease: NewLease(w, 60_000)}}
	b := w.board(c.Agent, message.Executor)
	if _, err := b.Append(t.Context(), m); err != nil {
		t.Fatal(err)
	}
}

func TestWhatADeadSupervisorLeftIsSweptBeforeItIsCalledLost(t *testing.T) {
	w := newWorld(t)
	dead := w.starter(1)
	w.plan(dead)
	c := w.begin(dead)
	s, p := w.starter(2), &spawner{dead: []int{1}}
	for range 3 { // one thing may make the next one due
		if _, err := s.Housekeep(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(p.swept, []string{c.Marker}) {
		t.Errorf("swept %v, want the marker of the lost step once", p.swept)
	}
	if due := w.due(s); len(due) != 1 || due[0].Key.Subject != "t-1" {
		t.Errorf("due after the loss: %v", due)
	}
}

func (w *world) supervisor(p Spawner) *Supervisor {
	return &Supervisor{Starter: *w.starter(1), Config: config.Default(), Goal: "g", Spawner: p, Brakes: BrakeFiles{Dir: filepath.Join(w.root, ".orch")},
		Warn: func(err error) { w.t.Errorf("warning: %v", err) }, Tend: func(context.Context) time.Time { return time.Time{} }}
}

func TestInterruptStopsEveryStepAndClosesIt(t *testing.T) {
	w := newWorld(t)
	ctx, stop := context.WithCancel(t.Context())
	p := &spawner{play: func(ctx context.Context, c Claim) End {
		stop()
		<-ctx.Done()
		return End{Exit: -1, Class: message.EndInterrupted}
	}}
	s := w.supervisor(p)
	ending, err := s.Run(ctx)
	if err != nil || ending != Interrupted {
		t.Fatalf("%s, %v", ending, err)
	}
	if n := w.count(&s.Starter, "StepEnded"); n != len(p.steps) || n == 0 {
		t.Errorf("%d of %d steps closed", n, len(p.steps))
	}
}

func TestASuspendedGoalEndsTheRunWaiting(t *testing.T) {
	w := newWorld(t)
	b := w.board("perceiver-1", message.Perceiver)
	p := &spawner{play: func(ctx context.Context, c Claim) End {
		if _, err := b.Append(ctx, message.Message{Goal: "g", Subject: "g", Cause: c.Activation.Key.Cause,
			Body: message.ClarificationQuestion{Round: 1, Questions: []string{"which?"}}}); err != nil {
			t.Error(err)
		}
		return End{Class: message.EndDone}
	}}
	s := w.supervisor(p)
	s.Policy.Terminal = true
	if ending, err := s.Run(t.Context()); err != nil || ending != Waiting {
		t.Fatalf("%s, %v", ending, err)
	}
	if len(p.steps) != 1 {
		t.Errorf("%d steps for one question", len(p.steps))
	}
}

func TestBrakeFilesReachTheLogOnceAndAreLiftedByRemoval(t *testing.T) {
	w := newWorld(t)
	s := w.supervisor(&spawner{})
	pause := filepath.Join(s.Brakes.Dir, PauseFile)
	apply := func() {
		t.Helper()
		if stop, err := s.Brakes.apply(t.Context(), s); err != nil || stop {
			t.Fatalf("stop %t, %v", stop, err)
		}
	}
	if err := os.WriteFile(pause, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	apply()
	apply()
	if len(w.due(&s.Starter)) != 0 {
		t.Error("something is due while paused")
	}
	if err := os.Remove(pause); err != nil {
		t.Fatal(err)
	}
	apply()
	apply()
	if p, r := w.count(&s.Starter, "Paused"), w.count(&s.Starter, "Resumed"); p != 1 || r != 1 {
		t.Errorf("%d pauses, %d resumes in the log", p, r)
	}
	if len(w.due(&s.Starter)) != 1 {
		t.Error("nothing is due after the pause")
	}
	abort := filepath.Join(s.Brakes.Dir, AbortFile)
	if err := os.WriteFile(abort, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if stop, err := s.Brakes.apply(t.Context(), s); err != nil || !stop {
		t.Fatalf("stop %t, %v", stop, err)
	}
	if _, err := os.Stat(abort); !os.IsNotExist(err) {
		t.Error("ABORT would stop the next run as well")
	}
}

func TestHowAProcessEndedIsClassified(t *testing.T) {
	report := []byte(`{"usage":{"input_tokens":7},"cost":0.5,"detail":"said"}` + "\n")
	for name, c := range map[string]struct {
		r      process.Result
		report []byte
		class  string
		detail string
	}{
		"done":             {process.Result{}, report, message.EndDone, "said"},
		"again":            {process.Result{Exit: 42}, nil, message.EndAgain, ""},
		"moved":            {process.Result{Exit: 42}, []byte(`{"moved":true}`), message.EndMoved, ""},
		"its agent killed": {process.Result{Exit: 42}, []byte(`{"killed":true,"detail":"said"}`), message.EndKilled, "said"},
		"crash":            {process.Result{Exit: 1, Tail: []byte("a\nerror: b\n")}, nil, message.EndCrash, "error: b"},
		"crash, said":      {process.Result{Exit: 1, Tail: []byte("x")}, report, message.EndCrash, "said"},
		"killed":           {process.Result{Exit: -1, Signal: "SIGKILL"}, nil, message.EndKilled, "SIGKILL"},
		"wall":             {process.Result{Exit: -1, Signal: "SIGTERM", TimedOut: true}, nil, message.EndTimeout, "time limit reached"},
		"stopped by us":    {process.Result{Exit: -1, Signal: "SIGTERM", Canceled: true}, nil, message.EndInterrupted, ""},
		"did not start":    {process.Result{Exit: -1, Err: errors.New("no")}, nil, message.EndCrash, "no"},
		"garbage report":   {process.Result{}, []byte("hello"), message.EndDone, ""},
	} {
		e := endOf(c.r, c.report)
		if e.Class != c.class || e.Detail != c.detail {
			t.Errorf("%s: got %s %q, want %s %q", name, e.Class, e.Detail, c.class, c.detail)
		}
		if c.report != nil && c.class == message.EndDone && c.detail != "" && (e.Usage.InputTokens != 7 || e.Cost != 0.5) {
			t.Errorf("%s: usage was lost: %+v", name, e)
		}
	}
}

func TestHooksAreBoundedAndOnlyWarn(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"on-final":   "#!/bin/sh\ncat > \"$ORCH_ROOT/seen\"; echo \"$ORCH_GOAL $ORCH_ROLE $ORCH_HOOK\" >> \"$ORCH_ROOT/seen\"\n",
		"post-step":  "#!/bin/sh\necho broken; exit 3\n",
		"on-problem": "#!/bin/sh\nsleep 600\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "pre-step"), []byte("#!/bin/sh\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var warned []string
	h := Hooks{Dir: dir, Root: dir, Env: os.Environ(), Warn: func(err error) { warned = append(warned, err.Error()) }}
	for _, name := range []string{"on-final", "post-step", "on-problem", "pre-step", "on-merged"} {
		if h.LimitMS = 120_000; name == "on-problem" {
			h.LimitMS = 300
		}
		h.Run(t.Context(), Moment{Name: name, Goal: "g", Role: message.GGS}, map[string]int{"n": 1})
	}
	seen, err := os.ReadFile(filepath.Join(dir, "seen"))
	if err != nil || string(seen) != "{\"n\":1}g ggs on-final\n" {
		t.Errorf("the hook saw %q, %v", seen, err)
	}
	all := strings.Join(warned, "\n")
	for _, want := range []string{"post-step: exit 3: broken", "on-problem: still running", "pre-step: it is not executable"} {
		if !strings.Contains(all, want) {
			t.Errorf("no warning %q in\n%s", want, all)
		}
	}
	if len(warned) != 3 {
		t.Errorf("%d warnings, want 3: %v", len(warned), warned)
	}
}

func TestAGoalThatNothingMovesIsShownToAPerson(t *testing.T) {
	w := newWorld(t)
	s := w.supervisor(&spawner{})
	if err := s.stalled(t.Context()); err == nil || !strings.Contains(err.Error(), "does not move") {
		t.Fatalf("got %v", err)
	}
	err := s.Board.View(t.Context(), func(st *blackboard.State) error {
		if g, _ := st.Goal("g"); g.Status != blackboard.GoalSuspended || g.Suspended.Command == "" {
			t.Errorf("goal %s, %+v", g.Status, g.Suspended)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A finding of the auditor stops the goal once; resumed, it goes on.
func TestAFindingStopsTheGoalOnce(t *testing.T) {
	w := newWorld(t)
	sp := &spawner{}
	s := w.supervisor(sp)
	trips := []Trip{{Finding: "f1", Goal: "g", Severity: "ARCHITECTURE", Evidence: []uint64{3, 4}, Report: "retry_cluster; orch audit"}, {Finding: "f2", Goal: "gone"}}
	s.Trips = func() ([]Trip, error) { return trips, nil }
	if ending, err := s.Run(t.Context()); err != nil || ending != Waiting {
		t.Fatalf("%s, %v", ending, err)
	}
	if len(sp.steps) > 0 {
		t.Errorf("started %v", sp.steps)
	}
	var g blackboard.Goal
	look := func() {
		t.Helper()
		if err := s.Board.View(t.Context(), func(st *blackboard.State) error { g, _ = st.Goal("g"); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if look(); g.Suspended == nil || g.Suspended.Why != blackboard.WhyBreaker || g.Suspended.Detail != "retry_cluster; orch audit" || g.Suspended.Command != "orch resume" {
		t.Fatalf("suspended: %+v", g.Suspended)
	}
	w.say(w.board("human-1", message.Human), "g", message.Resumed{Reason: "seen"})
	for range 3 {
		if err := s.trip(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if look(); g.Status != blackboard.GoalOpen {
		t.Errorf("stopped again by the same finding: %+v", g.Suspended)
	}
	n := 0
	for m, err := range s.Board.Messages(1) {
		if err != nil {
			t.Fatal(err)
		}
		if b, ok := m.Body.(message.CircuitBreaker); ok {
			n++
			if b.Finding != "f1" || !slices.Equal(b.Evidence, []uint64{3, 4}) {
				t.Errorf("%+v", b)
			}
		}
	}
	if n != 1 {
		t.Errorf("%d messages, want 1", n)
	}
}

// An audit log that can not be read stops nothing, and is said once.
func TestAnUnreadableAuditLogIsSaidOnce(t *testing.T) {
	w := newWorld(t)
	s := w.supervisor(&spawner{})
	var warned []string
	s.Warn = func(err error) { warned = append(warned, err.Error()) }
	s.Trips = func() ([]Trip, error) { return nil, errors.New("corrupt") }
	for range 3 {
		if err := s.trip(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(warned, []string{"read the auditor's findings: corrupt"}) {
		t.Errorf("warned %q", warned)
	}
}

// A step that is killed in the middle of a question reports nothing, and leaves
// nothing reserved: what it may have cost is on its bill.
func TestAKilledStepLeavesNoMoneyReserved(t *testing.T) {
	took := message.Spent{Model: "m", Cost: 0.5, Usage: message.Usage{InputTokens: 10, Model: "m"}}
	for name, end := range map[string]func(*world, *Starter, Claim){
		"by its supervisor": func(w *world, s *Starter, c Claim) {
			if err := s.End(w.t.Context(), c, End{Exit: -1, Class: message.EndKilled}); err != nil {
				w.t.Fatal(err)
			}
		},
		"by who tidies up": func(w *world, s *Starter, c Claim) {
			if _, err := w.starter(2).Housekeep(w.t.Context(), &spawner{dead: []int{1}}); err != nil {
				w.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			s := w.starter(1)
			w.plan(s)
			c := w.begin(s)
			k := c.Activation.Key
			reserved := message.CostReserved{Role: k.Role, Subject: k.Subject, Cause: k.Cause, Model: "m", Reserved: 0.25, Spent: []message.Spent{took}}
			w.say(w.board(c.Agent, k.Role), k.Cause, reserved)
			end(w, s, c)
			err := s.Board.View(t.Context(), func(st *blackboard.State) error {
				g, _ := st.Goal("g")
				if g.Cost != 0.5 || g.Doubt != 0.25 || g.Reserved != 0 || g.Unpriced != 1 {
					t.Errorf("$%g, $%g in doubt, $%g reserved, %d unpriced", g.Cost, g.Doubt, g.Reserved, g.Unpriced)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}
