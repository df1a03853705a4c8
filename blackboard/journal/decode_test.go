package journal_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"orch/blackboard/journal"
)

func sample() journal.Record {
	return journal.Record{
		Seq: 12, TS: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), ID: "id", From: "planner", To: "all", Type: "Note",
		Goal: "g", Subject: "F-1", Cause: "c", Agent: "planner-1", Fence: 3,
		Payload: json.RawMessage(`{"a":[1,2],"b":"\u0000"}`), Synced: 11, Prev: strings.Repeat("ab", 32),
	}
}

func TestLineFormat(t *testing.T) {
	r := sample()
	line, err := journal.Encode(&r)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"seq":12,"ts":"2026-01-02T03:04:05.000000006Z","id":"id","from":"planner","to":"all","type":"Note",` +
		`"goal":"g","subject":"F-1","cause":"c","agent":"planner-1","fence":3,"payload":{"a":[1,2],"b":"\u0000"},` +
		`"synced":11,"prev":"` + strings.Repeat("ab", 32) + `","hash":"` + r.Hash + "\"}\n"
	if string(line) != want {
		t.Errorf("got  %s\nwant %s", line, want)
	}
	// Whoever has no Go can check a line: sha256 of what is before `,"hash":`.
	if want := "c6a2e817157d8c075d6bd26b3f236817c7c7a1da309f1d339e15c72ecc48faa3"; r.Hash != want {
		t.Errorf("hash %s", r.Hash)
	}
}

func TestEncodeThenDecode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String()
		payload, err := json.Marshal(rapid.MapOf(text, text).Draw(t, "payload"))
		if err != nil {
			t.Fatal(err)
		}
		r := journal.Record{
			Seq: rapid.Uint64Min(1).Draw(t, "seq"), TS: time.Unix(rapid.Int64Range(0, 1<<37).Draw(t, "s"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns")).UTC(),
			ID: text.Draw(t, "id"), From: text.Draw(t, "from"), To: text.Draw(t, "to"), Type: "T" + text.Draw(t, "type"),
			Goal: text.Draw(t, "goal"), Subject: text.Draw(t, "subject"), Cause: text.Draw(t, "cause"), Agent: text.Draw(t, "agent"),
			Fence: rapid.Uint64().Draw(t, "fence"), Payload: payload, Synced: rapid.Uint64().Draw(t, "synced"),
			Prev: rapid.StringMatching(`[0-9a-f]{64}`).Draw(t, "prev"),
		}
		line, err := journal.Encode(&r)
		if err != nil {
			t.Fatal(err)
		}
		if !json.Valid(line) || bytes.IndexByte(line, '\n') != len(line)-1 {
			t.Fatalf("not one line of JSON: %q", line)
		}
		got, err := journal.Decode(line[:len(line)-1])
		if err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if !reflect.DeepEqual(got, r) {
			t.Fatalf("got %+v, want %+v", got, r)
		}
	})
}

// rehash gives a changed line a hash that fits.
func rehash(line string) string {
	covered := line[:strings.LastIndex(line, `,"hash":"`)]
	return covered + `,"hash":"` + journal.HashOf([]byte(covered)) + `"}`
}

// Lines whose hash fits but which no append wrote.
func TestDecodeRefusesWellHashedNonsense(t *testing.T) {
	r := sample()
	line, err := journal.Encode(&r)
	if err != nil {
		t.Fatal(err)
	}
	good := strings.TrimSuffix(string(line), "\n")
	if _, err := journal.Decode([]byte(rehash(good))); err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{
		{`{"seq":12,`, `{"seq":012,`}, {`{"seq":12,`, `{"seq":-1,`}, {`{"seq":12,`, `{"seq":0,`}, {`{"seq":12,`, `{"seq":,`},
		{`{"seq":12,`, `{"seq":18446744073709551616,`}, {`{"seq":12,`, `{ "seq":12,`},
		{`05.000000006Z`, `05.000000006+`}, {`05.000000006Z`, `05Z`}, {`2026-01`, `2026-13`}, {`"ts":"`, `"ts":`},
		{`"id":"id",`, ``}, {`"id":"id","from":"planner"`, `"from":"planner","id":"id"`}, {`"from":"planner"`, `"from":null`},
		{`"from":"planner"`, "\"from\":\"pl\x01anner\""}, {`"from":"planner"`, `"from":"pl\qanner"`}, {`"from":"planner"`, "\"from\":\"\xff\""},
		{`"type":"Note"`, `"type":""`}, {`"fence":3`, `"fence":"3"`}, {`"fence":3`, `"fence":3,"more":1`}, {`,"fence":3`, ``},
		{`"payload":{"a"`, `"payload":{a`}, {`"payload":{"a":[1,2],"b":"\u0000"}`, `"payload":`}, {`,"payload":{"a":[1,2],"b":"\u0000"}`, ``},
		{`"synced":11`, `"synced":`}, {`"synced":11`, `"synced":1e1`}, {`"prev":"ab`, `"prev":"AB`}, {`"prev":"ab`, `"prev":"`},
	} {
		changed := strings.Replace(good, change[0], change[1], 1)
		if changed == good {
			t.Fatalf("%q is not in the line", change[0])
		}
		if r, err := journal.Decode([]byte(rehash(changed))); err == nil {
			t.Errorf("%q for %q: accepted as %+v", change[1], change[0], r)
		}
	}
}

func FuzzDecode(f *testing.F) {
	r := sample()
	line, err := journal.Encode(&r)
	if err != nil {
		f.Fatal(err)
	}
	good := strings.TrimSuffix(string(line), "\n")
	for _, seed := range []string{good, "", "{}", `{"seq":1}`, good[:len(good)/2], strings.Replace(good, "Note", `N\"ote`, 1), "\x00\x00", strings.Repeat("[", 200)} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	f.Fuzz(func(t *testing.T, line []byte, fix bool) {
		if fix && bytes.Contains(line, []byte(`,"hash":"`)) {
			line = []byte(rehash(string(line))) // get past the hash
		}
		r, err := journal.Decode(line)
		if err != nil {
			return
		}
		if !json.Valid(line) || !utf8.Valid(line) || r.Seq == 0 || r.Type == "" {
			t.Fatalf("accepted %q as %+v", line, r)
		}
		// What was understood can be said again, with the same meaning.
		again := r
		if _, err := journal.Encode(&again); err != nil {
			t.Fatalf("cannot encode %+v: %v", r, err)
		}
		again.Hash, again.Payload = r.Hash, r.Payload
		if !reflect.DeepEqual(again, r) {
			t.Fatalf("got %+v, want %+v", again, r)
		}
	})
}
