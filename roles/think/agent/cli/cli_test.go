package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orch/roles/think/model"
)

func parse(t *testing.T, preset, file string, exit int) (*Seen, []Event) {
	t.Helper()
	p, ok := Find(preset)
	if !ok {
		t.Fatalf("no preset %s", preset)
	}
	raw, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	var events []Event
	s := NewSeen(func(e Event) { events = append(events, e) })
	parser := p.Parser(s)
	lines := &Lines{MaxBytes: MaxLineBytes, Each: parser.Line}
	for len(raw) > 0 { // in pieces that end nowhere in particular
		n := min(len(raw), 37)
		if _, err := lines.Write(raw[:n]); err != nil {
			t.Fatal(err)
		}
		raw = raw[n:]
	}
	if err := lines.Close(); err != nil {
		t.Fatal(err)
	}
	parser.Exit(exit)
	return s, events
}

// The streams of the real programs, as recorded from one shell call that wrote
// a file and a final message.
func TestRecordedSuccess(t *testing.T) {
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			s, events := parse(t, name, name+"-ok.jsonl", 0)
			if !s.Done || s.Failed != "" || s.Text != "all done" {
				t.Fatalf("done %v, failed %q, text %q", s.Done, s.Failed, s.Text)
			}
			if s.Session == "" || s.Calls != 1 || len(s.Denials) != 0 || s.Unknown != 0 {
				t.Errorf("session %q, %d calls, denials %v, %d unknown", s.Session, s.Calls, s.Denials, s.Unknown)
			}
			if len(s.Tools) != 1 || !strings.Contains(string(s.Tools[0].Input), "made.txt") || s.Tools[0].Failed {
				t.Errorf("tools %+v", s.Tools)
			}
			if name != "copilot" && (s.Usage.OutputTokens != 14 || s.Usage.InputTokens < 22 || s.Usage.CachedTokens != 6) {
				t.Errorf("usage %+v", s.Usage) // copilot's is in a file of its own
			}
			kinds := map[EventKind]int{}
			for _, e := range events {
				kinds[e.Kind]++
			}
			if kinds[Began] != 1 || kinds[Called] != 1 || kinds[Returned] != 1 || kinds[Done] != 1 {
				t.Errorf("events %v", kinds)
			}
		})
	}
}

func TestRecordedFailures(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		preset, file string
		want         model.Kind
	}{
		{"claude", "claude-429.jsonl", model.Limit}, {"claude", "claude-401.jsonl", model.Auth}, {"claude", "claude-500.jsonl", model.Server},
		{"codex", "codex-429.jsonl", model.Limit}, {"codex", "codex-401.jsonl", model.Auth},
		{"gemini", "gemini-401.jsonl", model.Auth}, {"qwen", "qwen-401.jsonl", model.Auth},
		{"pi", "pi-429.jsonl", model.Limit}, {"pi", "pi-401.jsonl", model.Auth}, {"copilot", "copilot-401.jsonl", model.Auth},
	} {
		s, _ := parse(t, c.preset, c.file, 0) // whatever they exit with
		if !s.Done || s.Failed == "" {
			t.Errorf("%s: done %v, failed %q", c.file, s.Done, s.Failed)
			continue
		}
		text := s.Failed
		if c.file == "gemini-401.jsonl" {
			text = "status: 401" // it is on the other stream
		}
		if e := Failure(text, s.Status, now); e.Kind != c.want {
			t.Errorf("%s: %s, want %s: %s", c.file, e.Kind, c.want, s.Failed)
		}
	}
}

// A stream that breaks off anywhere before its terminal event is never a success.
func TestTruncatedStreamsAreNoSuccess(t *testing.T) {
	for _, p := range Presets() {
		raw, err := os.ReadFile(filepath.Join("testdata", p.Name+"-ok.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		lines := bytes.SplitAfter(raw, []byte("\n"))
		last := len(lines) - 1
		for last > 0 && !terminal(p.Name, lines[last-1]) {
			last--
		}
		for n := range last {
			s := NewSeen(nil)
			parser := p.Parser(s)
			for _, line := range lines[:n] {
				parser.Line(bytes.TrimSpace(line))
			}
			if n == last-1 { // the terminal event in halves
				parser.Line(lines[n][:len(lines[n])/2])
			}
			parser.Exit(0)
			if s.Done && s.Failed == "" {
				t.Errorf("%s: done after %d of %d lines", p.Name, n, len(lines))
			}
		}
	}
}

func terminal(preset string, line []byte) bool {
	mark := map[string]string{"codex": `"turn.completed"`, "opencode": `"reason":"stop"`, "pi": `"agent_settled"`}[preset]
	if mark == "" {
		mark = `"type":"result"`
	}
	return bytes.Contains(line, []byte(mark))
}

// No line makes a parser panic, and none but a terminal event ends a run.
func FuzzParsers(f *testing.F) {
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for line := range bytes.Lines(raw) {
			f.Add(line)
		}
	}
	f.Add([]byte(`{"type":"tool_result","tool_id":""}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		for _, p := range append(Presets(), Plain(true), Plain(false)) {
			s := NewSeen(nil)
			parser := p.Parser(s)
			for range 3 {
				parser.Line(line)
			}
			parser.Exit(1)
			if s.Done && s.Failed == "" && !json.Valid(line) && p.Name != "command" {
				t.Errorf("%s took %q for its end", p.Name, line)
			}
		}
	})
}

func TestLimits(t *testing.T) {
	now := time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC)
	paris, err := time.LoadLocation("Europe/Paris")
	if err != nil {
		t.Fatal(err)
	}
	in := func(d time.Duration) time.Time { return now.Add(d) }
	for text, want := range map[string]time.Time{
		"Claude AI usage limit reached|1772625600":                                              time.Unix(1772625600, 0),
		"You've hit your limit · resets 3pm (UTC)":                                              time.Date(2026, 3, 4, 15, 0, 0, 0, time.UTC),
		"5-hour limit reached ∙ resets 9:30am (UTC)":                                            time.Date(2026, 3, 5, 9, 30, 0, 0, time.UTC),
		"You've hit your weekly limit · resets 3pm (Europe/Paris)":                              time.Date(2026, 3, 4, 15, 0, 0, 0, paris),
		"You've hit your usage limit. Try again in 3 days 1 hour 5 minutes.":                    in(73*time.Hour + 5*time.Minute),
		"You've hit your usage limit. Upgrade to Pro, or try again at Mar 5th, 2026 3:04 PM.":   time.Date(2026, 3, 5, 15, 4, 0, 0, time.UTC),
		"rate limit exceeded, please try again in 20s":                                          in(20 * time.Second),
		"Rate limit reached for gpt-x. Please try again in 6m0s.":                               in(6 * time.Minute),
		"Rate limit reached. Please try again in 1.5s.":                                         in(1500 * time.Millisecond),
		"You exceeded your current quota. Please retry in 34.07s.":                              in(34070 * time.Millisecond),
		`{"error":{"code":429,"details":[{"retryDelay":"34s"}]}} RESOURCE_EXHAUSTED`:            in(34 * time.Second),
		"You have exhausted your capacity on this model. Your quota will reset after 18h31m9s.": in(18*time.Hour + 31*time.Minute + 9*time.Second),
		`{"type":"usage_limit_reached","resets_in_seconds":8640}`:                               in(8640 * time.Second),
		"429 Too Many Requests; retry-after: 120":                                               in(2 * time.Minute),
		"too many requests, retry after 3 hours":                                                in(3 * time.Hour),
		"quota exceeded, resets at 2026-03-04T18:00:00Z":                                        time.Date(2026, 3, 4, 18, 0, 0, 0, time.UTC),
		"rate limit: resets at 2026-03-04 18:00 UTC":                                            time.Date(2026, 3, 4, 18, 0, 0, 0, time.UTC),
		"exceeded retry limit, last status: 429 Too Many Requests":                              {},
		"rate limit; resets at 1999-01-01T00:00:00Z":                                            {}, // the past is no reset
	} {
		e := Failure(text, 0, now)
		if e.Kind != model.Limit || !e.Until.Equal(want) {
			t.Errorf("%q: %s until %v, want limit until %v", text, e.Kind, e.Until, want)
		}
	}
}

// qwen counts what came from the cache in its input tokens, claude beside them.
func TestCachedTokensCountOnce(t *testing.T) {
	const usage = `{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"ok","usage":{"input_tokens":100,"output_tokens":5,"cache_read_input_tokens":80}}`
	for name, want := range map[string]int64{"claude": 180, "qwen": 100} {
		p, ok := Find(name)
		if !ok {
			t.Fatalf("no preset %s", name)
		}
		s := NewSeen(nil)
		p.Parser(s).Line([]byte(usage))
		if s.Usage.InputTokens != want || s.Usage.CachedTokens != 80 {
			t.Errorf("%s: %+v, want %d", name, s.Usage, want)
		}
	}
}

func TestFailureKinds(t *testing.T) {
	for text, want := range map[string]model.Kind{
		"API Error: 529 Overloaded":                                     model.Overloaded,
		"unexpected status 503 Service Unavailable":                     model.Overloaded,
		"unexpected status 500 Internal Server Error: url: http://x":    model.Server,
		"401: {\"message\":\"bad\"}":                                    model.Auth,
		"Invalid API key · Please run /login":                           model.Auth,
		"Not logged in":                                                 model.Auth,
		"fetch failed: ECONNREFUSED 127.0.0.1:1":                        model.Unreachable,
		"stream disconnected before completion":                         model.Unreachable,
		"unexpected status 404 Not Found: The model `x` does not exist": model.BadRequest,
		"unknown option '--foo'":                                        model.BadRequest,
		"HTTP 400 invalid_request_error: credit balance is too low":     model.UsedUp,
		"credit balance is too low":                                     model.UsedUp,
		"API Error: 402 Payment Required":                               model.UsedUp,
		"API Error: 402 {\"type\":\"error\"}":                           model.UsedUp,
		"usage limit reached":                                           model.UsedUp,
		"You exceeded your current quota, please check your plan":       model.UsedUp,
		"API Error: 429 rate limit exceeded":                            model.Limit,
		"429 Too Many Requests":                                         model.Limit,
		"refusal: it declined":                                          model.Refused,
		"something else":                                                model.Ended,
		"":                                                              model.Ended,
		"I read port 4290 and 5000 lines":                               model.Ended,
	} {
		if got := Failure(text, 0, time.Now()).Kind; got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestLinesAreBounded(t *testing.T) {
	var got []string
	l := &Lines{MaxBytes: 10, Each: func(b []byte) { got = append(got, string(b)) }}
	for _, part := range []string{"ab", "c\r\n", strings.Repeat("x", 100), "yyy\nshort\n", "last"} {
		if _, err := l.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if strings.Join(got, "|") != "abc|short|last" || l.Dropped != 1 {
		t.Errorf("%q, %d dropped", got, l.Dropped)
	}
}

func TestToolsAreBoundedAndFollowed(t *testing.T) {
	s := NewSeen(nil)
	for i := range 3 * MaxTools {
		id := time.Duration(i).String()
		s.Call(ToolUse{ID: id, Name: "Bash", Input: json.RawMessage(`{}`)})
		s.Return(id, "", "out "+id, false)
	}
	if len(s.Tools) > MaxTools || s.Calls != 3*MaxTools {
		t.Errorf("%d kept of %d", len(s.Tools), s.Calls)
	}
	if last := s.Tools[len(s.Tools)-1]; last.Output != "out "+last.ID || s.Tools[0].Output != "out 0s" {
		t.Errorf("first %+v, last %+v", s.Tools[0], last)
	}
}
