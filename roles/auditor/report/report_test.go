package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"orch/blackboard/journal"
	"orch/blackboard/message"
	"orch/roles/auditor"
)

var began = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

// sample is a report in which every text that comes from the log is s.
func sample(s string) Report {
	at := func(seconds int) time.Time { return began.Add(time.Duration(seconds) * time.Second) }
	fig := auditor.Figures{
		Messages: 120, FirstTS: at(0), LastTS: at(90), ByType: map[message.Type]int{message.Type(s): 3},
		Goals: []auditor.GoalStand{
			{Goal: message.GoalID(s), Text: s, Result: message.Abandon, Rounds: 4, Unmet: 2, Seq: 90, Why: s, Next: []string{s}},
			{Goal: "other", Text: "make it so", Result: message.Accept, Rounds: 1, Seq: 95, Next: []string{}},
			{Goal: "third", Next: []string{}},
		},
		Needs: []auditor.Need{{Goal: message.GoalID(s), What: s, Command: "orch task unblock " + s, Seq: 91}, {What: "the pause: lunch", Command: "orch resume", Seq: 92}},
		Loss: []auditor.Trajectory{{Goal: message.GoalID(s), Points: []auditor.LossPoint{
			{Round: 1, Seq: 20, TS: at(10), Loss: message.Loss{D: 0.75, P: 0.2, Omega: 0.1, L: 0.5}, Directive: message.Init},
			{Round: 2, Seq: 40, TS: at(40), Loss: message.Loss{D: 0.5, P: 0.3, Omega: 0.2, L: 0.4}, GradL: -0.1, Directive: message.Directive(s)},
			{Round: 3, Seq: 80, TS: at(80), Loss: message.Loss{D: 0, P: 0.3, Omega: 0.3, L: 0.12}, GradL: -0.28, Directive: message.Success, Final: true},
		}}},
		Steps: []auditor.StepSpan{
			{Role: message.Planner, Subject: s, Goal: message.GoalID(s), Start: at(0), End: at(10), StartSeq: 3, EndSeq: 9, Class: message.EndDone},
			{Role: message.Role(s), Subject: s, Start: at(10), End: at(12), StartSeq: 10, EndSeq: 12, Class: s},
		},
		Spend:    []auditor.Spend{{Role: message.Role(s), Model: s, Steps: 2, Cost: 0.5, InputTokens: 12345, OutputTokens: 67, ModelCalls: 4, DurationMS: 12_000}},
		Approval: []auditor.RateWindow{{Role: message.Role(s), What: "approvals", Samples: 20, Yes: 19, FirstSeq: 4, LastSeq: 60}},
	}
	found := []auditor.Finding{{ID: "00112233aabbccdd", Kind: auditor.RubberStamping, Severity: auditor.Critical, Goal: message.GoalID(s), Subject: s,
		Role: message.Role(s), Message: s, Seqs: []uint64{4, 60}, Evidence: 2, FirstTS: at(3), LastTS: at(60), Trips: true}}
	r := New(journal.Head{Seq: 120, Hash: strings.Repeat("ab", 32)}, journal.Head{Seq: 1, Hash: strings.Repeat("cd", 32)},
		auditor.Window{Goal: message.GoalID(s)}, found, map[auditor.Kind]int{auditor.LogFlood: 7}, fig)
	r.Query = s
	return r
}

func forms(t *testing.T, r Report) (md, html, js string) {
	t.Helper()
	var out [3]bytes.Buffer
	for i, write := range []func(io.Writer) error{r.Markdown, r.HTML, r.JSON} {
		if err := write(&out[i]); err != nil {
			t.Fatal(err)
		}
	}
	return out[0].String(), out[1].String(), out[2].String()
}

func TestEveryFormStatesTheHeadAndIsTheSameTwice(t *testing.T) {
	md, html, js := forms(t, sample("fix_it"))
	for form, text := range map[string]string{"md": md, "html": html, "json": js} {
		for _, want := range []string{"120", strings.Repeat("ab", 32), strings.Repeat("cd", 32), "fix_it", "00112233aabbccdd", "4"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %q", form, want)
			}
		}
	}
	md2, html2, js2 := forms(t, sample("fix_it"))
	if md != md2 || html != html2 || js != js2 {
		t.Error("the same report was written in two ways")
	}
	var back Report
	if err := json.Unmarshal([]byte(js), &back); err != nil || back.Log.Seq != 120 || len(back.Figures.Loss[0].Points) != 3 {
		t.Errorf("JSON read back: %v, %+v", err, back.Log)
	}
}

// TestReportsLeadWithHowGoalsEnded: who opens a report sees first what came of
// the goals and what waits for them, then what was found.
func TestReportsLeadWithHowGoalsEnded(t *testing.T) {
	md, html, js := forms(t, sample("fix_it"))
	for form, text := range map[string]string{"md": md, "html": html, "text": strings.Join(Lines(sample("fix_it").Figures), "\n") + "\n00112233aabbccdd"} {
		at := -1
		for _, want := range []string{"given up, 2 criteria unmet", "accepted", "third", "orch task unblock fix_it", "orch resume", "00112233aabbccdd"} {
			next := strings.Index(text, want)
			if next <= at {
				t.Errorf("%s: %q stands at %d, what comes before it at %d", form, want, next, at)
			}
			at = next
		}
	}
	for _, want := range []string{`"result": "abandon"`, `"command": "orch resume"`} {
		if !strings.Contains(js, want) {
			t.Errorf("json lacks %s", want)
		}
	}
}

// hostile are texts an agent may say to get into the report of what it did.
var hostile = []string{
	`<script>alert(1)</script>`,
	`</title></svg></style><img src=x onerror=alert(1)>`,
	`"><svg onload=alert(1)><a href="https://evil.example/">x</a>`,
	`' onmouseover='alert(1)' style='background:url(https://evil.example/x)`,
	`{{.Log.Hash}}<!-- --><![CDATA[ ]]>`,
	"`` `</code>` ![x](https://evil.example/p.png) [x](javascript:alert(1))",
	"a\n\n# Nothing found.\n\n<b>| x | y |\n|---|---|\n",
	"https://evil.example/ www.evil.example someone@evil.example",
	"`", "|`|`|", `\`, " ", "", "safe\u202etxt.exe\u200b\x1b[2J\x00", strings.Repeat("`", 70) + "<i>",
}

func TestNothingTheLogSaysBecomesMarkup(t *testing.T) {
	cleanMD, clean, _ := forms(t, sample("fix_it"))
	for _, s := range hostile {
		md, html, _ := forms(t, sample(s))
		if got, want := skeleton(t, html), skeleton(t, clean); got != want {
			t.Errorf("%q changed the elements of the page:\n%s\nwant\n%s", s, got, want)
		}
		for _, bad := range []string{"\u202e", "\u200b", "\x1b", "\x00"} {
			if strings.Contains(html, bad) || strings.Contains(md, bad) {
				t.Errorf("%q reached the report from %q", bad, s)
			}
		}
		got := strings.ReplaceAll(outsideSpans(md), "``", "<span>") // of an empty text nothing is left but its backticks
		want := outsideSpans(cleanMD)
		if s == "" { // no goal and no query are not named
			want = regexp.MustCompile(`- Only .*\n`).ReplaceAllString(want, "")
		}
		if got != want {
			t.Errorf("%q changed what is outside the code spans:\n%s\nwant\n%s", s, got, want)
		}
	}
}

// outsideSpans is a page in Markdown with every code span taken out, read as
// CommonMark and GFM tables are: a row is cut into its cells first, at each bar
// that no backslash stands before; then a run of backticks opens a span that only
// a run of the same length in the same cell closes. Nothing the log says stands
// outside, so two pages of the same figures are the same.
func outsideSpans(md string) string {
	var out []string
	for _, line := range strings.Split(md, "\n") {
		parts := []string{line}
		if strings.HasPrefix(line, "|") {
			parts = nil
			from := 0
			for i := 1; i < len(line); i++ {
				if line[i] == '|' && line[i-1] != '\\' {
					parts, from = append(parts, line[from:i]), i
				}
			}
			parts = append(parts, line[from:])
		}
		for _, part := range parts {
			out = append(out, withoutSpans(part))
		}
		out = append(out, "\n")
	}
	return strings.Join(out, "")
}

func withoutSpans(s string) string {
	var out strings.Builder
	for s != "" {
		open := len(s) - len(strings.TrimLeft(s, "`"))
		if open == 0 {
			out.WriteByte(s[0])
			s = s[1:]
			continue
		}
		closed := false
		for i := open; i < len(s); {
			run := len(s[i:]) - len(strings.TrimLeft(s[i:], "`"))
			if run == open {
				s, closed = s[i+run:], true
				break
			}
			i += max(run, 1)
		}
		if !closed { // the backticks stand for themselves
			out.WriteString(s[:open])
			s = s[open:]
			continue
		}
		out.WriteString("<span>")
	}
	return out.String()
}

// TestOutsideSpans: the reader itself sees what leaves a span.
func TestOutsideSpans(t *testing.T) {
	for md, want := range map[string]string{
		"a `b` c":            "a <span> c\n",
		"`` ` `` x":          "<span> x\n",
		"| `a` | `b\\|c` |":  "| <span> | <span> |\n",
		"`a`` ` <b>":         "<span> <b>\n",
		"``a [l](u)":         "``a [l](u)\n",
		"x `a` [l](u) `b` y": "x <span> [l](u) <span> y\n",
	} {
		if got := outsideSpans(md); got != want {
			t.Errorf("%q: %q, want %q", md, got, want)
		}
	}
}

// elementNames are the tags with the names of their attributes.
var classAttr = regexp.MustCompile(`<([a-zA-Z]+)((?:\s+[\w:-]+(?:="[^"]*")?)*)\s*/?>`)

// skeleton lists elements and their attributes' names, in order. What is not one
// element after another makes it differ.
func skeleton(t *testing.T, html string) string {
	t.Helper()
	var b strings.Builder
	end := strings.Index(html, "</style>")
	body := html[end:]
	for _, m := range classAttr.FindAllStringSubmatch(body, -1) {
		fmt.Fprintf(&b, "%s(", m[1])
		for _, a := range regexp.MustCompile(`([\w:-]+)=`).FindAllStringSubmatch(regexp.MustCompile(`"[^"]*"`).ReplaceAllString(m[2], ""), -1) {
			b.WriteString(a[1] + " ")
		}
		b.WriteString(")")
	}
	if lt, tags := strings.Count(body, "<"), strings.Count(body, ">"); lt != tags {
		t.Errorf("%d times <, %d times >", lt, tags)
	}
	// goal-only lines come and go with an empty name
	return strings.NewReplacer("dt()dd()code()", "", "dt()dd()", "").Replace(b.String())
}

func TestThePageAsksForNothing(t *testing.T) {
	_, html, _ := forms(t, sample("fix_it"))
	for _, bad := range []string{"<script", "<link", "<img", "<iframe", "<object", "<embed", "href", "src=", "url(", "@import", "@font-face", "http://", "https://", "//", " on"} {
		for line := range strings.SplitSeq(html, "\n") {
			if bad == " on" && !regexp.MustCompile(`<[^>]* on\w+=`).MatchString(line) {
				continue
			}
			if strings.Contains(line, bad) {
				t.Errorf("the page has %q: %s", bad, line)
			}
		}
	}
	if !strings.Contains(html, `content="default-src 'none'; style-src 'unsafe-inline';`) {
		t.Error("the page has no policy that forbids requests")
	}
	for _, want := range []string{`<title id="lt0">`, `<desc id="ld0">`, `role="img"`, "prefers-color-scheme:dark", `lang="en"`} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

func TestEveryPictureIsWellFormed(t *testing.T) {
	for _, s := range append(hostile, "fix_it") {
		_, html, _ := forms(t, sample(s))
		pictures := regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(html, -1)
		if len(pictures) < 6 {
			t.Fatalf("%d pictures", len(pictures))
		}
		for _, p := range pictures {
			d := xml.NewDecoder(strings.NewReader(p))
			for {
				_, err := d.Token()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatalf("%v in %s", err, p)
				}
			}
		}
	}
}

func TestALongLogMakesAShortPage(t *testing.T) {
	r := sample("fix_it")
	r.Figures.StepsGone, r.Figures.GoalsGone, r.Figures.WindowsGone, r.Figures.SpendGone = 10_000, 5, 4321, 1234
	long := strings.Repeat("x", 50_000)
	for i := range 10_000 {
		f := r.Findings[0]
		f.ID, f.Message, f.Subject = fmt.Sprintf("%016x", i), long, long
		r.Findings = append(r.Findings, f)
		s := r.Figures.Steps[0]
		s.Subject = fmt.Sprint(i, long)
		r.Figures.Steps = append(r.Figures.Steps, s)
		w := r.Figures.Approval[0]
		w.Role = message.Role(fmt.Sprint(i / 50))
		r.Figures.Approval = append(r.Figures.Approval, w)
	}
	for i := range 300 {
		g := auditor.Trajectory{Goal: message.GoalID(fmt.Sprint("goal_", i))}
		for round := range 500 {
			g.Points = append(g.Points, auditor.LossPoint{Round: round, Loss: message.Loss{L: math.NaN(), D: math.Inf(1), P: -4, Omega: 1e9}})
		}
		r.Figures.Loss = append(r.Figures.Loss, g)
		r.Figures.Spend = append(r.Figures.Spend, auditor.Spend{Role: message.Role(fmt.Sprint(i)), Cost: float64(i)})
	}
	var md, html bytes.Buffer
	if err := errors.Join(r.Markdown(&md), r.HTML(&html)); err != nil {
		t.Fatal(err)
	}
	for form, text := range map[string]string{"md": md.String(), "html": html.String()} {
		if len(text) > 2<<20 {
			t.Errorf("%s has %d bytes", form, len(text))
		}
		for _, want := range []string{"9701 more", "left out", "1234 steps with still other models", "goal_299", "$299.00"} {
			if !strings.Contains(strings.ReplaceAll(text, "$299.0000", "$299.00"), want) {
				t.Errorf("%s lacks %q", form, want)
			}
		}
		if strings.Contains(text, "goal_100<") || strings.Contains(text, "goal_100`") {
			t.Errorf("%s draws a goal that is long gone", form)
		}
	}
	if bad := regexp.MustCompile(`(x|y|d|width|height|cx|cy)="[^"]*(NaN|Inf)`).FindString(html.String()); bad != "" {
		t.Errorf("a picture has %s", bad)
	}
}

func TestAnEmptyLogHasAReport(t *testing.T) {
	md, html, js := forms(t, New(journal.Head{}, journal.Head{}, auditor.Window{}, []auditor.Finding{}, nil, auditor.Figures{}))
	for form, text := range map[string]string{"md": md, "html": html} {
		if !strings.Contains(text, "Nothing found.") || !strings.Contains(text, "no message is in this window") {
			t.Errorf("%s: %s", form, text)
		}
	}
	if !strings.Contains(js, `"findings": []`) {
		t.Error(js)
	}
}
