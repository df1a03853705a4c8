//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"orch/roles/think/fakemodel"
)

// terminalTable says with which words each command is tried on the hostile
// board; {…} are names of it. A command that is not here fails the test.
var terminalTable = map[string][]string{
	"agent": {""}, "board": {""}, "role": {""}, "controller": {""}, "memory": {""}, "note": {""}, "sprint": {""}, "task": {""}, // these list what is below them
	"version": {""}, "status": {""}, "goals": {"", "--open"}, "cost": {"", "--by task"}, "log": {""}, "show": {"{seq}", "{long}", "{fact}"},
	"why": {"{goal}", "{done}", "{task}"}, "prompt": {"planner --subject {goal}"}, "state": {"", "--full"}, "diff": {"1"}, "replay": {""}, "verify": {""},
	"config": {""}, "doctor": {""}, "audit": {"", "--format md", "--format html", "--report"}, "auditor": {"--attached"}, "trust": {"", "--list"},
	"memory ls": {""}, "memory show": {"{megram}"}, "memory query": {"{evil}=path:x", "fact:x"}, "memory why": {"{evil}"}, "memory add": {"{evil}"},
	"memory forget": {"{evil}"}, "memory rebuild": {""}, "memory export": {"", "--out -"}, "memory serve": {"--attached"}, "dream": {"--once"},
	"task ls": {""}, "task show": {"{task}", "{long task}"}, "task add": {"{evil}"}, "task done": {"{task} --as {evil}"},
	"sprint open": {"--goal {goal} --deadline 8h"}, "sprint show": {""}, "sprint close": {"--retrospective {evil}"},
	"note human": {"--for {goal} {evil}"}, "note anomaly": {"{evil}"}, "note discovery": {"{evil}"}, "note blocked": {"--reason {evil} --question {evil}"},
	"note handoff": {"--summary {evil} --next {evil}"}, "submit": {""}, "agent ls": {""}, "agent test": {"{evil}"},
	"claim": {"{task} --as {evil}", "{task} --as executor-9"}, "release": {"{task} --as executor-9 --reason {evil}"},
	"answer": {"{evil}"}, "allow": {"", "{evil}"}, "deny": {"", "{evil}"}, "accept": {"{goal} {evil}"}, "unblock": {"{task} --reason {evil}"},
	"retry": {"{goal} --reason {evil}"}, "edit": {"{task}"}, "track": {"", "--off"}, "gc": {"--dry-run"}, "repair": {""}, "restore": {""},
	"controller decide": {""}, "step": {"perceiver"}, "ggs": {"--attached"}, "integrate": {"--once"}, "init": {""},
	"guard": {""}, "confine": {"-- echo {evil}"}, "run": {"--dry-run {evil}", "--continue {done}", "{evil}"},
	"pause": {"--reason {evil}"}, "checkpoint": {"--reason {evil}"}, "resume": {""}, "abort": {""}, "goals drop": {"{goal}"},
}

// passesOn are commands that give the terminal to the person's own command.
var passesOn = []string{"confine", "guard"}

// evil is what every source says: it wipes, hides, moves, names the window,
// turns, and tries to add a line like orch's own.
const evil = "EVIL\x1b[8m\x1b[2K\x1b[2J\x1b[3J\x1b[1;1H\x1b[41m\x1b]0;owned\x07\x1b[?1049h\x1bc\rover\u009b2J\u202egnp\u2066\u200b\u2028\U000e0041\x7f\b\nerror: forged by a text"

// evilBytes are for what need not be UTF-8.
const evilBytes = evil + "\x9b2J\xff\xc2"

// hostileBoard is a project in which every source says evil.
type hostileBoard struct {
	t     *testing.T
	root  string
	names map[string]string
}

func newHostileBoard(t *testing.T) *hostileBoard {
	t.Helper()
	base, err := os.MkdirTemp("", "t-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	h := &hostileBoard{t: t, root: filepath.Join(base, "o", "p\x1b[8m\u202e"), names: map[string]string{"evil": evil}}
	srv := serve(t, hostileModel())
	// The program of the role that reviews plans, which has none to review, has a name that says it too.
	config := "models: {default: " + asked(srv, "openai", "/v1", "false") + ", plan-reviewer: {backend: exec, name: \"EVIL\\e[8m\\u202e\", options: {command: loud}}"
	const rest = "}\ncontroller: {max_replans: 1}\n" + quick
	writeBelow(t, filepath.Join(h.root, "loud.sh"), `printf 'EVIL\033[8m\033[2J\r\2342J\n' >&2; exit 1`)
	loud := ", planner: {backend: exec, options: {command: sh loud.sh}}"
	writeBelow(t, filepath.Join(h.root, ".orch", "config.yaml"), config+loud+rest)
	writeBelow(t, filepath.Join(h.root, ".orch", "playbooks", "evil.yaml"), fmt.Sprintf(hostileBook, evilYAML, evilYAML, evilYAML))
	writeBelow(t, filepath.Join(h.root, "name\x1b[2J\u202e\xff.txt"), "x")
	for _, args := range [][]string{{"init", "-q"}, {"checkout", "-qb", "b\u202e\u200b"}, {"add", "name*"},
		{"-c", "user.name=" + strings.ReplaceAll(evil, "\n", " "), "-c", "user.email=e@example.org", "commit", "-qm", evil}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = h.root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %s", args, out)
		}
	}
	h.orch("run", "stop at the planner "+evil)
	write(t, filepath.Join(h.root, ".orch", "config.yaml"), config+rest)
	h.orch("run", "greet me "+evil)
	h.orch("run", "--playbook", "evil", "work "+evil)
	h.orch("memory", "add", evil, "--tags", evil)
	h.orch("note", "human", "--for", "planner", evil)
	long := filepath.Join(base, "long.jsonl")
	write(t, long, `{"id":"11111111-long","intent":"EVIL\u001b[8m`+strings.Repeat("x", 1_000_000)+`","success_criteria":[{"id":"c1","criterion":"EVIL\r\u009b2J","mode":"verifiable","required":true}]}`+"\n")
	h.orch("task", "add", "--from", long)
	h.orch("task", "add", evil, "--criterion", evil, "--target", evil)
	h.learn()
	return h
}

// evilYAML is evil between double quotes of YAML.
const evilYAML = `EVIL\e[8m\e[2K\e[2J\e]0;owned\x07\r\u009b2J\u202e\u200b\nerror: forged by a text`

const hostileBook = `name: evil
describe: "%s"
examples: [never-said]
match: {words: [[never-said]]}
task_criteria: [{criterion: it is there, check: {file: {path: no.txt, exists: true}}}]
subtasks:
  - slot: evil
    intent: "%s"
    sequence: 1
    criteria: [{criterion: "%s", check: {run: {command: "printf 'EVIL\\033[8m\\033[2J\\r\\234' >&2; exit 1"}}}]
    approaches: [{name: loud, describe: loud, target: x, steps: [{run: "printf 'EVIL\\033[2J\\033[8m\\r\\2342J\\377'", idempotent: true}]}]
`

// hostileModel plays every role, and says evil in each.
func hostileModel() []fakemodel.Rule {
	j := strings.NewReplacer("EVIL", `EVIL\u001b[8m\u001b[2K\u001b[2J\u001b]0;owned\u0007\r\u009b2J\u202e\u200b\nerror: forged by a text`)
	rules := []fakemodel.Rule{
		says("perceiver", asPerceiver, j.Replace(`{"intent":"EVIL","tags":["EVIL"]}`)),
		says("candidates", asCandidates, j.Replace(`{"candidates":[{"tool":"EVIL","target":"EVIL"}]}`)),
		says("planner", asPlanner, j.Replace(`{"task_criteria":[{"criterion":"EVIL"}],"tasks":[{"slot":"greet","intent":"EVIL","approach":"EVIL","target":"EVIL","targets":["hello.txt"],"criteria":[{"criterion":"EVIL"}]}]}`)),
		{Name: "shell", When: fakemodel.When{System: asExecutor, Turn: 1}, Reply: calls("shell", map[string]any{"command": `printf 'EVIL\033[8m\033[2J\r\2342J\377'`})},
		{Name: "executor", When: fakemodel.When{System: asExecutor}, Reply: text(j.Replace(`{"status":"completed","output":"EVIL"}`))},
		says("next moves", asNextMoves, j.Replace(`{"next_moves":["EVIL","EVIL too"]}`)),
		says("merger", asMerger, j.Replace(`{"summary":"EVIL","output":"EVIL"}`)),
	}
	for name, as := range map[string]string{"validator": asValidator, "meta": asMeta} {
		rules = append(rules, says(name, as, j.Replace(`{"word":"{{word}}","verdict":"pass","evidence":"EVIL","record":"R1","quote":"EVIL"}`)))
	}
	return rules
}

// orch runs a command on the board; how it ends does not matter.
func (h *hostileBoard) orch(args ...string) string {
	h.t.Helper()
	r := orch(h.t, h.root, args...)
	if r.code == exitInternal && strings.Contains(r.err, "fault of orch") {
		h.t.Errorf("%q: %s", args, r.err)
	}
	return r.out + r.err
}

// learn finds the names of the board for the table.
func (h *hostileBoard) learn() {
	h.t.Helper()
	raw, err := os.ReadFile(filepath.Join(h.root, ".orch", "log.jsonl"))
	if err != nil {
		h.t.Fatal(err)
	}
	for name, pattern := range map[string]string{
		"seq": `"seq":(\d+)[^\n]*"type":"SubTask"`, "fact": `"seq":(\d+)[^\n]*"type":"MemoryFact"`, "megram": `"id":"([^"]+)"[^\n]*"type":"MemoryFact"`,
		"goal": `"type":"UserInput"[^\n]*?"goal":"([^"]*stop[^"]*)"`, "done": `"type":"UserInput"[^\n]*?"goal":"([^"]*greet[^"]*)"`,
		"task": `"type":"SubTask"[^\n]*?"payload":\{"id":"([^"]+)"`,
	} {
		found := regexp.MustCompile(pattern).FindSubmatch(raw)
		if found == nil {
			h.t.Fatalf("the board has no %s: %s; log: %.3000s", name, pattern, raw)
		}
		h.names[name] = string(found[1])
	}
	h.names["long task"], h.names["long"] = "11111111-long", regexp.MustCompile(`"seq":(\d+)[^\n]*11111111-long`).FindStringSubmatch(string(raw))[1]
}

// line is a row of the table with the names of the board in it.
func (h *hostileBoard) line(path, row string) []string {
	args := strings.Fields(path)
	for word := range strings.FieldsSeq(strings.ReplaceAll(row, "{long task}", "{long_task}")) {
		for name, value := range h.names {
			word = strings.ReplaceAll(word, "{"+strings.ReplaceAll(name, " ", "_")+"}", value)
		}
		args = append(args, word)
	}
	return args
}

// lines are all commands of the table, in the order in which a person meets
// them; what changes most comes last.
func (h *hostileBoard) lines() [][]string {
	h.t.Helper()
	var all [][]string
	var walk func(c *cobra.Command)
	seen := map[string]bool{}
	last := []string{"init", "run", "pause", "checkpoint", "resume", "abort", "goals drop"}
	var later [][]string
	walk = func(c *cobra.Command) {
		path := strings.TrimPrefix(strings.TrimPrefix(c.CommandPath(), "orch"), " ")
		if c.Runnable() && path != "" {
			name := path
			rows, known := terminalTable[name]
			if _, under, below := strings.Cut(path, " "); !known && below { // a command that stands below a noun and by itself
				name = under
				rows, known = terminalTable[name]
			}
			if !known {
				h.t.Errorf("orch %s is not in the table: say with which words it is to be tried", path)
			}
			seen[name] = true
			if slices.Contains(passesOn, name) {
				rows = nil
			}
			for _, row := range rows {
				if slices.Contains(last, name) {
					later = append(later, h.line(path, row))
				} else {
					all = append(all, h.line(path, row))
				}
			}
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot(&app{}, commands))
	for path := range terminalTable {
		if !seen[path] {
			h.t.Errorf("there is no orch %s", path)
		}
	}
	return append(all, later...)
}

// copied is the same board once more.
func (h *hostileBoard) copied(as string) *hostileBoard {
	h.t.Helper()
	from := filepath.Dir(h.root)
	base := filepath.Join(filepath.Dir(from), as)
	if out, err := exec.Command("cp", "-a", from, base).CombinedOutput(); err != nil { // with what this machine remembers of it
		h.t.Fatalf("%s", out)
	}
	root := filepath.Join(base, filepath.Base(h.root))
	return &hostileBoard{t: h.t, root: root, names: h.names}
}

// command is a command line on the board with no person at it.
func (h *hostileBoard) command(args []string) *exec.Cmd {
	cmd := orchCommand(h.root, args...)
	cmd.Env = append(cmd.Env, "EDITOR=true", "TERM=xterm-256color")
	return cmd
}

// leak is the first thing in an output that acts or hides; empty if nothing.
func leak(out string) string {
	for i, r := range out {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(out[i:], "\ufffd"), r != '\n' && r != '\t' && unicode.IsControl(r),
			unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control), r == 0x200b, r >= 0xe0000 && r < 0xe1000:
			return fmt.Sprintf("%q", out[max(i-60, 0):min(i+60, len(out))])
		}
	}
	return ""
}

// TestHostileTextThroughEveryCommand tries every command on a board whose every
// text is hostile: to a pipe, to a terminal as bytes, and on the screen of a
// real terminal.
func TestHostileTextThroughEveryCommand(t *testing.T) {
	t.Parallel()
	h := newHostileBoard(t)
	lines := h.lines()
	for name, try := range map[string]func(*hostileBoard, [][]string){"pipe": (*hostileBoard).piped, "terminal": (*hostileBoard).typed, "screen": (*hostileBoard).drawn} {
		own := h.copied(name)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			own.t = t
			try(own, lines)
		})
	}
}

// piped reads what a pipe gets, of the table, with --json, and of mistakes.
func (h *hostileBoard) piped(lines [][]string) {
	said := 0
	for _, args := range lines {
		for _, args := range [][]string{append(slices.Clone(args), "--json"), append(slices.Clone(args), evilBytes)} {
			if args[0] == "run" && args[len(args)-1] == evilBytes {
				continue // which would run once more
			}
			out, _ := h.command(args).CombinedOutput() // its exit code says nothing here
			if bad := leak(string(out)); bad != "" {
				h.t.Errorf("orch %.200q: %s", args, bad)
			}
			said += strings.Count(string(out), "EVIL")
		}
	}
	if said < 300 {
		h.t.Errorf("the texts are shown only %d times", said)
	}
}

var wipedLine = regexp.MustCompile(`[^\n]*\r\x1b\[2K`)

// typed reads what a terminal is sent. Without colours every escape but the
// wiping of the bottom line is a leak.
func (h *hostileBoard) typed(lines [][]string) {
	cut := 0
	for _, args := range lines {
		out := wipedLine.ReplaceAllString(strings.ReplaceAll(h.onTerminal(args), "\r\n", "\n"), "")
		if bad := leak(out); bad != "" {
			h.t.Errorf("orch %.200q: %s", args, bad)
		}
		for line := range strings.SplitSeq(out, "\n") {
			if strings.HasPrefix(line, "error: forged") {
				h.t.Errorf("orch %.200q: a line is forged", args)
			}
			if len(line) > 2*lineBytes {
				h.t.Errorf("orch %.200q: a line of %d bytes", args, len(line))
			}
			if strings.HasSuffix(line, " | less -S") {
				cut++
			}
		}
	}
	if cut < 3 {
		h.t.Errorf("only %d lines were cut", cut)
	}
}

// onTerminal is what a command sends to a terminal of its own.
func (h *hostileBoard) onTerminal(args []string) string {
	h.t.Helper()
	ptm, pts := openPTY(h.t)
	null, err := os.Open(os.DevNull)
	if err != nil {
		h.t.Fatal(err)
	}
	defer null.Close()
	cmd := h.command(args)
	cmd.Env = append(cmd.Env, "NO_COLOR=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = null, pts, pts
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	pts.Close()
	var out strings.Builder
	buf := make([]byte, 64<<10)
	for {
		n, err := ptm.Read(buf) // an error, at last, once nobody has the other end
		out.Write(buf[:n])
		if err != nil {
			break
		}
	}
	ptm.Close()
	_ = cmd.Wait()
	return out.String()
}

func openPTY(t *testing.T) (ptm, pts *os.File) {
	t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0) // so that closing it ends a read
	if err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80})
	}
	if err != nil {
		t.Fatal(err)
	}
	pts, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return os.NewFile(uintptr(fd), "ptmx"), pts
}

// drawn runs the table in a pane of tmux, which is a terminal as people have
// one, and reads the screen back: it shows every byte that was sent and no
// style but ours.
func (h *hostileBoard) drawn(lines [][]string) {
	t := h.t
	t.Helper()
	dir := filepath.Dir(h.root)
	sock, raw := filepath.Join(dir, "t"), filepath.Join(dir, "raw")
	tmux := func(args ...string) string {
		cmd := exec.Command("tmux", append([]string{"-S", sock, "-f", filepath.Join(dir, "conf")}, args...)...)
		cmd.Env = append(h.command(nil).Env, "LC_ALL=C.UTF-8")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %q: %v: %s (.ci/run installs what the tests need)", args[0], err, out)
		}
		return string(out)
	}
	var script strings.Builder
	script.WriteString("tmux -S " + sock + " wait-for begin\n")
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
	for i, args := range lines {
		fmt.Fprintf(&script, "echo '=== before %d ==='\n%s", i, quote(program))
		for _, arg := range args {
			script.WriteString(" " + quote(arg))
		}
		fmt.Fprintf(&script, " < /dev/null\necho '=== after %d ==='\n", i)
	}
	script.WriteString("tmux -S " + sock + " wait-for -S done\nsleep 600\n")
	write(t, filepath.Join(dir, "script"), script.String())
	write(t, filepath.Join(dir, "conf"), "set -g history-limit 1000000\nset -g default-terminal tmux-256color\nset -g status off\nset -g allow-rename on\nset -g set-titles on\n")
	tmux("new-session", "-d", "-x", "200", "-y", "50", "-c", h.root, "sh "+filepath.Join(dir, "script"))
	t.Cleanup(func() { tmux("kill-server") })
	tmux("select-pane", "-T", "ours")
	tmux("pipe-pane", "cat > "+raw)
	tmux("wait-for", "-S", "begin")
	tmux("wait-for", "done")
	screen := tmux("capture-pane", "-p", "-J", "-S", "-", "-E", "-")
	styled := tmux("capture-pane", "-p", "-e", "-S", "-", "-E", "-")
	if title := tmux("display-message", "-p", "#{pane_title} #{alternate_on}"); title != "ours 0\n" {
		t.Errorf("the window is now %q", title)
	}
	h.onScreen(lines, raw, screen, styled)
}

// onScreen compares what was sent with what is to be seen.
func (h *hostileBoard) onScreen(lines [][]string, raw, screen, styled string) {
	h.t.Helper()
	var sent string
	for deadline := time.Now().Add(runLimit); ; time.Sleep(10 * time.Millisecond) { // until cat has written all
		all, err := os.ReadFile(raw)
		if err != nil {
			h.t.Fatal(err)
		}
		if sent = string(all); strings.Contains(sent, fmt.Sprintf("=== after %d ===", len(lines)-1)) || time.Now().After(deadline) {
			break
		}
	}
	sgr := regexp.MustCompile(`\x1b\[([0-9;]*)m`)
	ours := []string{"", "0", "1", "2", "22", "31", "32", "33", "36", "39", "49"}
	for _, style := range sgr.FindAllStringSubmatch(sent+styled, -1) {
		for code := range strings.SplitSeq(style[1], ";") {
			if !slices.Contains(ours, code) {
				h.t.Errorf("something is styled %q", style[1])
			}
		}
	}
	sent = wipedLine.ReplaceAllString(strings.ReplaceAll(sgr.ReplaceAllString(sent, ""), "\r\n", "\n"), "")
	if bad := leak(sent); bad != "" {
		h.t.Errorf("the terminal was sent %s", bad)
	}
	for i, args := range lines {
		before, after := fmt.Sprintf("=== before %d ===\n", i), fmt.Sprintf("=== after %d ===\n", i)
		between := func(text string) (string, bool) {
			_, rest, begun := strings.Cut(text, before)
			shown, _, ended := strings.Cut(rest, after)
			return shown, begun && ended && strings.Count(text, before) == 1 && strings.Count(text, after) == 1
		}
		was, ok := between(sent)
		is, seen := between(screen)
		if !ok || !seen {
			h.t.Errorf("orch %.200q: what stood before or after it is gone", args)
		}
		if was, is = flat(was), flat(is); was != is {
			at := 0
			for at < min(len(was), len(is)) && was[at] == is[at] {
				at++
			}
			h.t.Errorf("orch %.100q: sent\n%q, to be seen is\n%q", args, was[max(at-50, 0):min(at+100, len(was))], is[max(at-50, 0):min(at+100, len(is))])
		}
	}
}

// flat is text without the white space that a screen may show as it likes.
func flat(s string) string { return strings.Join(strings.Fields(s), " ") }

// TestHostileVerdictsAndCommits reads a coding board on which the coder's notes
// and the reviewer's verdict are hostile.
func TestHostileVerdictsAndCommits(t *testing.T) {
	t.Parallel()
	p := newPair(t, quick)
	p.plan("sh check.sh", task("only"))
	const says = `"$(printf 'EVIL\033[8m\033[2K\033[2J\033]0;owned\007\r\302\2332J\342\200\256')"`
	p.script("coder/only.sh", strings.NewReplacer(`"Add $SLOT"`, says, `"lib/$SLOT.sh prints its name"`, says).Replace(work))
	p.script("code-reviewer/only.sh", "echo reject lib/only.sh 1 "+says+"\n")
	p.run("--max-replans", "1", "print names")
	raw, err := os.ReadFile(filepath.Join(p.root, ".orch", "log.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	verdict := regexp.MustCompile(`"seq":(\d+)[^\n]*"type":"ReviewVerdict"[^\n]*"subject":"([^"]+)"[^\n]*EVIL`).FindSubmatch(raw)
	if verdict == nil {
		t.Fatal("no verdict says it")
	}
	id := string(verdict[2])
	h := &hostileBoard{t: t, root: p.root}
	said := 0
	for _, line := range []string{"status", "goals", "log", "show " + string(verdict[1]), "why " + id, "task ls", "task show " + id, "diff 1", "audit", "board state --full"} {
		args := strings.Fields(line)
		piped, _ := h.command(args).CombinedOutput() // its exit code says nothing here
		typed := wipedLine.ReplaceAllString(strings.ReplaceAll(h.onTerminal(args), "\r\n", "\n"), "")
		for _, out := range []string{string(piped), typed} {
			if bad := leak(out); bad != "" {
				t.Errorf("orch %s: %s", line, bad)
			}
			said += strings.Count(out, "EVIL")
		}
	}
	if said < 10 {
		t.Errorf("the texts are shown only %d times", said)
	}
}
