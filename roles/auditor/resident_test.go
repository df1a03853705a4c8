package auditor

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"orch/blackboard/journal"
	"orch/blackboard/message"
	"orch/roles/run/config"
)

// site is a board directory with a log that a script wrote.
type site struct {
	t     *testing.T
	dir   string
	log   *journal.Journal
	wrote int
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{t: t, dir: t.TempDir()}
	log, err := journal.Create(t.Context(), s.dir, journal.Options{}, journal.Draft{Type: "Genesis", From: "board", To: "all", Payload: []byte(`{"format":1,"board":"b"}`)})
	if err != nil {
		t.Fatal(err)
	}
	s.log = log
	t.Cleanup(func() { _ = log.Close() })
	return s
}

// write appends the messages of a script that are not in the log yet.
func (s *site) write(from *script) {
	s.t.Helper()
	for _, r := range from.records[s.wrote:] {
		_, err := s.log.Append(s.t.Context(), journal.Draft{TS: r.TS, ID: r.ID, From: r.From, To: r.To, Type: r.Type, Goal: r.Goal, Subject: r.Subject,
			Agent: r.Agent, Fence: r.Fence, Payload: r.Payload}, nil)
		if err != nil {
			s.t.Fatal(err)
		}
		s.wrote++
	}
}

func (s *site) audit() string { return filepath.Join(s.dir, "audit") }

// faulty is a script with faults of three kinds.
func faulty(t *testing.T) *script {
	s := newScript(t)
	s.begin()
	s.draft("t1", "p")
	s.draft("t1", "p")
	s.dispatch("p", "t1")
	s.directive(message.BreakSymmetry, 1)
	s.directive(message.BreakSymmetry, 1)
	s.anomalies("workaround", "what", "skipped it", "skipped it")
	return s
}

// run keeps a resident up until it has read and recorded everything: so many findings.
func (s *site) run(want int) []Entry {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 5*time.Minute)
	defer cancel()
	var mu sync.Mutex
	var warned []string
	r := Resident{BoardDir: s.dir, AuditDir: s.audit(), Params: config.Default().Audit, Now: func() time.Time { return time.Date(2026, 1, 2, 3, 1, 0, 0, time.UTC) },
		Warn: func(err error) { mu.Lock(); defer mu.Unlock(); warned = append(warned, err.Error()) }}
	caught := make(chan struct{}, 1)
	r.Caught = func() {
		select {
		case caught <- struct{}{}:
		default:
		}
	}
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	select {
	case <-caught:
	case err := <-ended:
		s.t.Fatalf("the resident ended: %v; warned: %q", err, warned)
	}
	cancel()
	if err := <-ended; err != nil {
		s.t.Fatal(err)
	}
	s.t.Logf("warned: %q", warned)
	entries, err := ReadLedger(s.audit(), journal.Options{})
	if err != nil || len(entries) != want {
		s.t.Fatalf("%d findings, want %d: %v\n%v", len(entries), want, err, kindsOf(entries))
	}
	return entries
}

func kindsOf(entries []Entry) (kinds []string) {
	for _, e := range entries {
		kinds = append(kinds, string(e.Finding.Kind)+" "+e.Finding.ID)
	}
	slices.Sort(kinds)
	return kinds
}

// Stop it, delete its offsets, start it: the same findings, none twice.
func TestFindingsAreAFunctionOfTheLog(t *testing.T) {
	s := newSite(t)
	log := faulty(t)
	s.write(log)
	first := kindsOf(s.run(3))
	if len(first) != 3 {
		t.Fatalf("found %v", first)
	}
	for name, harm := range map[string]func(){
		"stopped and started": func() {},
		"offset deleted":      func() { remove(t, filepath.Join(s.audit(), "run", offsetFile)) },
		"offset garbled":      func() { put(t, filepath.Join(s.audit(), "run", offsetFile), "{") },
		"run deleted":         func() { remove(t, filepath.Join(s.audit(), "run")) },
		"everything deleted":  func() { remove(t, s.audit()) },
	} {
		harm()
		if got := kindsOf(s.run(3)); !slices.Equal(got, first) {
			t.Errorf("%s: %v, want %v", name, got, first)
		}
	}
	log.draft("t1", "p") // and it reads on
	s.write(log)
	if got := s.run(4); len(got) != 4 {
		t.Errorf("%d findings, want 4", len(got))
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Whatever is done to audit.jsonl is reported, kept, and undone from the log.
func TestHarmToTheLedgerIsReportedAndUndone(t *testing.T) {
	for name, harm := range map[string]func(text []byte) []byte{
		"a finding edited": func(b []byte) []byte { return bytes.Replace(b, []byte("CRITICAL"), []byte("INFO"), 1) },
		"a line removed": func(b []byte) []byte {
			lines := bytes.SplitAfter(b, []byte("\n"))
			return bytes.Join(append(lines[:1], lines[2:]...), nil)
		},
		"the end cut off": func(b []byte) []byte { return b[:len(b)-40] },
		"emptied":         func([]byte) []byte { return nil },
		"replaced":        func([]byte) []byte { return []byte("nothing to see\n") },
		"removed":         nil,
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.write(faulty(t))
			before := kindsOf(s.run(3))
			path := filepath.Join(s.audit(), LedgerName)
			if harm == nil {
				remove(t, path)
			} else {
				put(t, path, string(harm(get(t, path))))
			}
			after := kindsOf(s.run(4))
			damage := slices.DeleteFunc(slices.Clone(after), func(k string) bool { return slices.Contains(before, k) })
			if len(damage) != 1 || !strings.HasPrefix(damage[0], string(AuditLogDamaged)) || len(after) != 4 {
				t.Errorf("findings %v, before %v", after, before)
			}
			if again := kindsOf(s.run(4)); !slices.Equal(again, after) {
				t.Errorf("started once more: %v, want %v", again, after)
			}
		})
	}
}

// A ledger that is forged with a chain that fits is found out by what it says.
func TestAForgedLedgerIsFoundOut(t *testing.T) {
	s := newSite(t)
	s.write(faulty(t))
	entries := s.run(3)
	remove(t, s.audit())
	forged, err := OpenLedger(t.Context(), s.audit(), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		e.Finding.Severity, e.Finding.Trips = Info, false
		if _, err := forged.Add(t.Context(), e.Finding, e.Log); err != nil {
			t.Fatal(err)
		}
	}
	forged.Close()
	found := s.run(4)
	if !slices.ContainsFunc(found, func(e Entry) bool { return e.Finding.Kind == AuditLogDamaged }) ||
		!slices.ContainsFunc(found, func(e Entry) bool { return e.Finding.Trips }) {
		t.Errorf("found %v", kindsOf(found))
	}
}

// While the resident runs, too.
func TestHarmToTheLedgerIsNoticedWhileItRuns(t *testing.T) {
	s := newSite(t)
	s.write(faulty(t))
	ledger, err := OpenLedger(t.Context(), s.audit(), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer ledger.Close()
	a, err := Survey(t.Context(), s.dir, journal.Options{}, config.Default().Audit, Window{}, time.Time{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if added, err := ledger.Record(t.Context(), a.Findings(), a.Head()); err != nil || len(added) != 3 {
		t.Fatalf("%d added, %v", len(added), err)
	}
	path := filepath.Join(s.audit(), LedgerName)
	put(t, path, string(bytes.Replace(get(t, path), []byte("CRITICAL"), []byte("INFOXXXX"), 1)))
	if err := ledger.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := ledger.Record(t.Context(), a.Findings(), a.Head()); err != nil {
		t.Fatal(err)
	}
	if got := kindsOf(ledger.Entries()); len(got) != 4 || len(ledger.Damage()) != 1 {
		t.Errorf("findings %v", got)
	}
}

// Many processes may add at once: each finding is there once.
func TestOfManyWritersEachFindingIsThereOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			l, err := OpenLedger(t.Context(), dir, journal.Options{})
			if err != nil {
				t.Error(err)
				return
			}
			defer l.Close()
			for n := range 20 {
				f := Finding{Kind: Stall, Seqs: []uint64{uint64(n + 1)}}.seal()
				if _, err := l.Add(t.Context(), f, journal.Head{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	entries, err := ReadLedger(dir, journal.Options{})
	if err != nil || len(entries) != 20 {
		t.Errorf("%d entries, want 20: %v", len(entries), err)
	}
}

// A broken log is a finding, and what is behind the damage is read as well.
func TestABrokenLogIsAFindingAndIsReadOn(t *testing.T) {
	s := newSite(t)
	log := newScript(t)
	log.begin()
	log.draft("t1", "p")
	log.draft("t1", "p")
	s.write(log)
	if err := s.log.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.dir, "log.jsonl")
	put(t, path, string(bytes.Replace(get(t, path), []byte(`"raw_input":"x"`), []byte(`"raw_input":"y"`), 1)))
	found := s.run(2)
	kinds := strings.Join(kindsOf(found), " ")
	if !strings.Contains(kinds, string(BrokenChain)) || !strings.Contains(kinds, string(DuplicateTask)) {
		t.Errorf("found %s", kinds)
	}
	for _, e := range found {
		if f := e.Finding; f.Kind == BrokenChain && (!slices.Equal(f.Seqs, []uint64{3}) || !strings.Contains(f.Message, "line 4")) {
			t.Errorf("%+v", f)
		}
	}
	if again := s.run(2); !slices.Equal(kindsOf(again), kindsOf(found)) {
		t.Errorf("once more: %v", kindsOf(again))
	}
}

// A log that is replaced by another with a chain that fits is noticed: by the
// offset, and by the heads that findings noted.
func TestARewrittenLogIsAFinding(t *testing.T) {
	for _, witness := range []string{"offset", "ledger"} {
		t.Run(witness, func(t *testing.T) {
			s := newSite(t)
			s.write(faulty(t))
			s.run(3)
			if err := s.log.Close(); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"log.jsonl", "run", "archive"} {
				remove(t, filepath.Join(s.dir, name))
			}
			other := newSite(t)
			other.write(goodRun(t))
			if err := os.CopyFS(filepath.Join(s.dir, "copy"), os.DirFS(other.dir)); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(filepath.Join(s.dir, "copy", "log.jsonl"), filepath.Join(s.dir, "log.jsonl")); err != nil {
				t.Fatal(err)
			}
			if witness == "ledger" {
				remove(t, filepath.Join(s.audit(), "run", offsetFile))
			}
			found := s.run(4)
			if !slices.ContainsFunc(found, func(e Entry) bool { return e.Finding.Kind == LogRewritten }) {
				t.Errorf("found %v", kindsOf(found))
			}
		})
	}
}

// An auditor with other thresholds reads from the beginning.
func TestOtherThresholdsReadAnew(t *testing.T) {
	p := config.Default().Audit
	a := New(p, Window{})
	raw, err := a.Save()
	if err != nil {
		t.Fatal(err)
	}
	p.Attempts++
	if _, err := Load(p, raw); err != ErrOtherSnapshot {
		t.Errorf("loaded with other thresholds: %v", err)
	}
}

func BenchmarkObserve(b *testing.B) {
	s := newScript(b)
	records := mixed(b, s, 20_000)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		a := New(config.Default().Audit, Window{})
		for _, r := range records {
			a.ObserveRecord(r)
		}
	}
	b.ReportMetric(float64(len(records)*b.N)/b.Elapsed().Seconds(), "messages/s")
}

// mixed are messages in the proportions of a real run, one goal after the other.
func mixed(t testing.TB, s *script, n int) []journal.Record {
	t.Helper()
	for goal := 0; len(s.records) < n; goal++ {
		s.goal = message.GoalID(fmt.Sprint("g", goal))
		id := message.TaskID(fmt.Sprint("t", goal))
		s.planned(id)
		for fence := range message.Fence(2) {
			s.step(message.Executor, message.EndDone, 0.01, 100)
			s.claim(id, fence+1)
			for call := range 3 {
				c := message.CallID(fmt.Sprint(id, call))
				s.say(message.ToolStarted{Call: c, Tool: "shell", Input: []byte(`{"command":"go test ./..."}`), Approach: "shell:go"}, said{from: message.Executor, subject: string(id), fence: fence + 1})
				s.say(message.ToolCall{Call: c, Tool: "shell", Input: []byte(`{"command":"go test ./..."}`), Approach: "shell:go", Tail: strings.Repeat("x", 120)},
					said{from: message.Executor, subject: string(id), fence: fence + 1})
				s.say(message.LeaseExtended{Task: id, Agent: "executor-1", Fence: fence + 1}, said{from: message.Supervisor, subject: string(id), fence: fence + 1})
			}
			s.result(id, fence+1)
			if fence == 0 {
				s.correct(id)
			}
		}
		s.judge(outcomeOf(id, message.Matched, pass("c")))
		s.summary(outcomeOf(id, message.Matched, pass("c")))
		s.final(message.FinalResult{Directive: message.Accept, Accomplished: []string{"a"}})
	}
	return s.records
}
