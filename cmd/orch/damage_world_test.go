//go:build !windows

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"orch/blackboard"
	"orch/blackboard/journal"
)

// ward is a project whose record somebody harms, a backup of it, and the state
// directory that remembers it.
type ward struct {
	*testing.T
	root, backup, other string // the project, a whole copy of .orch, another project's .orch
	older               string // .orch as it was some messages ago
}

func (w *ward) orch(name ...string) string {
	return filepath.Join(append([]string{w.root, ".orch"}, name...)...)
}

func (w *ward) log() string { return w.orch("log.jsonl") }

// segment is the oldest closed segment of the log.
func (w *ward) segment() string {
	w.Helper()
	found, err := filepath.Glob(w.orch("archive", "log-*.jsonl"))
	if err != nil || len(found) == 0 {
		w.Fatalf("segments %v, %v", found, err)
	}
	return found[0]
}

func (w *ward) read(name string) []byte {
	w.Helper()
	data, err := os.ReadFile(name)
	w.check(err)
	return data
}

func (w *ward) write(name string, data []byte) {
	w.Helper()
	w.check(os.WriteFile(name, data, 0o600))
}

func (w *ward) check(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *ward) remove(names ...string) {
	w.Helper()
	for _, name := range names {
		w.check(os.RemoveAll(name))
	}
}

// edit changes a file.
func (w *ward) edit(name string, f func([]byte) []byte) {
	w.Helper()
	w.write(name, f(w.read(name)))
}

// lines changes the lines of the live log, each with its end.
func (w *ward) lines(f func([][]byte) [][]byte) {
	w.Helper()
	w.edit(w.log(), func(data []byte) []byte { return bytes.Join(f(bytes.SplitAfter(data, []byte("\n"))), nil) })
}

// copyOver replaces a file or folder by another one.
func (w *ward) copyOver(from, to string) {
	w.Helper()
	w.remove(to)
	info, err := os.Stat(from)
	w.check(err)
	if !info.IsDir() {
		w.write(to, w.read(from))
		return
	}
	w.check(os.CopyFS(to, os.DirFS(from)))
}

// noWitness removes all that remembers the log below .orch.
func (w *ward) noWitness() {
	w.remove(w.orch("run"), w.orch("audit"), w.orch("cache"), w.orch("state.yaml"))
}

// said is what a command came to.
type outcome struct {
	args string
	code int
	text string
}

// runs runs the program in this process, within a time no command needs.
func (w *ward) runs(args ...string) outcome {
	w.Helper()
	var out, errw bytes.Buffer
	if args[0] == "run" { // it starts processes of its own program
		cmd := exec.CommandContext(w.Context(), program, append([]string{"-C", w.root}, args...)...)
		cmd.Stdout, cmd.Stderr = &out, &errw
		_ = cmd.Run() // the exit code says it
		return outcome{strings.Join(args, " "), cmd.ProcessState.ExitCode(), out.String() + errw.String()}
	}
	done := make(chan int, 1)
	go func() { done <- Main(append([]string{"-C", w.root}, args...), strings.NewReader(""), &out, &errw) }()
	select {
	case code := <-done:
		return outcome{strings.Join(args, " "), code, out.String() + errw.String()}
	case <-time.After(30 * time.Second):
		w.Fatalf("orch %v hangs", args)
		return outcome{}
	}
}

// records are the messages of the log that can be read, as seq and hash.
func (w *ward) records(dir string) []journal.Head {
	w.Helper()
	var heads []journal.Head
	j, err := journal.Open(dir, journal.Options{})
	w.check(err)
	defer j.Close()
	for r, err := range j.Read(0) {
		w.check(err)
		heads = append(heads, r.Head())
	}
	return heads
}

var aCommand = regexp.MustCompile("`((?:orch|chmod) [^`]*)`")

// looks are the commands a person looks with. All have to be content in the end.
var looks = [][]string{{"verify"}, {"replay"}, {"status"}, {"task", "add", "a look"}}

// complaint is the first of the looks that is not content.
func (w *ward) complaint() (outcome, bool) {
	w.Helper()
	for _, look := range looks {
		if o := w.runs(look...); o.code != exitOK {
			return o, true
		}
	}
	return outcome{}, false
}

// follow types the command that a message names, and the one that its message
// names, until nobody complains. It says what it typed.
func (w *ward) follow(o outcome, copy string) (typed []string) {
	w.Helper()
	for range 3 {
		found := aCommand.FindStringSubmatch(o.text)
		if found == nil {
			w.Fatalf("orch %s ends with %d and names no command:\n%s\ntyped so far: %q", o.args, o.code, o.text, typed)
		}
		line := strings.ReplaceAll(found[1], "COPY", copy)
		typed = append(typed, line)
		words := strings.Fields(line)
		if words[0] == "chmod" {
			if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
				w.Fatalf("%s: %v: %s", line, err, out)
			}
		} else if o = w.runs(words[1:]...); o.code != exitOK {
			continue
		}
		next, more := w.complaint()
		if !more {
			return typed
		}
		o = next
	}
	w.Fatalf("typed %q, and still orch %s ends with %d:\n%s", typed, o.args, o.code, o.text)
	return nil
}

// whole checks that the log begins with everything that was acknowledged, and
// that the board can be used.
func (w *ward) whole(acknowledged []journal.Head) {
	w.Helper()
	if have := w.records(w.orch()); len(have) < len(acknowledged) || !slices.Equal(have[:len(acknowledged)], acknowledged) {
		w.Fatalf("the log has %d messages, and not the %d that were acknowledged", len(have), len(acknowledged))
	}
	w.usable()
	if o := w.runs("run", "--continue"); o.code != exitOK || !strings.Contains(o.text, "All 4 criteria pass") {
		w.Fatalf("orch run --continue ends with %d afterwards:\n%s", o.code, o.text)
	}
}

// usable checks that work goes on.
func (w *ward) usable() {
	w.Helper()
	for _, args := range append([][]string{{"goals"}}, looks...) {
		if o := w.runs(args...); o.code != exitOK {
			w.Fatalf("orch %s ends with %d afterwards:\n%s", o.args, o.code, o.text)
		}
	}
}

// wards makes a board by a real run, with a closed segment, and a copy of it for
// every kind of damage.
func wards(t *testing.T) func(t *testing.T) (*ward, []journal.Head) {
	made := t.TempDir()
	t.Setenv("XDG_STATE_HOME", filepath.Join(made, "state"))
	real := func(project string, args ...string) {
		t.Helper()
		out, err := exec.Command(program, append([]string{"-C", filepath.Join(made, project)}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("orch %v: %v: %s", args, err, out)
		}
	}
	for _, project := range []string{"other", "one"} {
		if err := os.CopyFS(filepath.Join(made, project), os.DirFS(filepath.Join("..", "..", "examples", "make-stale"))); err != nil {
			t.Fatal(err)
		}
		real(project, "init")
		real(project, "task", "add", "first of "+project, "--id", "t-1")
		real(project, "task", "add", "second of "+project, "--id", "t-2")
		rotateBoard(t, filepath.Join(made, project))
		if project == "one" {
			real(project, "run", "make the tests pass")
		}
		real(project, "task", "add", "third of "+project, "--id", "t-3")
	}
	one := filepath.Join(made, "one", ".orch")
	older := filepath.Join(made, "older")
	if err := os.CopyFS(older, os.DirFS(one)); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"t-4", "t-5", "t-6"} {
		real("one", "task", "add", "more", "--id", id)
	}
	real("one", "audit")
	return func(t *testing.T) (*ward, []journal.Head) {
		dir := t.TempDir()
		w := &ward{T: t, root: filepath.Join(dir, "project"), backup: filepath.Join(dir, "backup"), older: older, other: filepath.Join(made, "other", ".orch")}
		w.check(os.Mkdir(w.root, 0o755))
		w.copyOver(one, w.orch())
		state := filepath.Join(dir, "state")
		w.copyOver(filepath.Join(made, "state"), state)
		t.Setenv("XDG_STATE_HOME", state)
		if o, bad := w.complaint(); bad { // it also makes this machine remember the place
			t.Fatalf("before any damage: orch %s: %s", o.args, o.text)
		}
		w.copyOver(w.orch(), w.backup)
		return w, w.records(w.orch())
	}
}

func rotateBoard(t *testing.T, root string) {
	t.Helper()
	b, err := blackboard.Open(root, blackboard.Options{RotateBytes: 1, Identity: person(), StateDir: filepath.Join(os.Getenv("XDG_STATE_HOME"), "orch")})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if done, err := b.Rotate(t.Context()); err != nil || !done {
		t.Fatalf("rotate: %v, %v", done, err)
	}
}

// rechain writes records anew so that
// every hash fits: what somebody does who knows the format.
func rechain(t *testing.T, lines [][]byte, from int, change func(line string) string) [][]byte {
	t.Helper()
	var out [][]byte
	prev := string(aPrev.FindSubmatch(lines[0])[1])
	for i, line := range lines {
		if len(line) == 0 {
			continue
		}
		text := strings.TrimSuffix(string(line), "\n")
		if i >= from {
			text = reseal(t, change(text), prev)
		}
		prev = string(aHash.FindSubmatch([]byte(text))[1])
		out = append(out, []byte(text+"\n"))
	}
	return out
}

// reseal gives a line the hash of the one before and its own.
func reseal(t *testing.T, line, prev string) string {
	t.Helper()
	const prevKey, hashKey = `,"prev":"`, `,"hash":"`
	at := strings.LastIndex(line, prevKey)
	if at < 0 || len(prev) != 64 {
		t.Fatalf("can not reseal %q after %q", line, prev)
	}
	covered := line[:at] + prevKey + prev + `"`
	sum := sha256.Sum256([]byte(covered))
	return covered + hashKey + hex.EncodeToString(sum[:]) + `"}`
}

// aHash is the hash at the end of a line.
var aHash = regexp.MustCompile(`,"hash":"([0-9a-f]{64})"}\s*$`)

var aPrev = regexp.MustCompile(`,"prev":"([0-9a-f]{64})"`)

// longer adds a message to a log, as its last one is.
func longer(t *testing.T, lines [][]byte) [][]byte {
	t.Helper()
	last := string(lines[len(lines)-2]) // behind the last line end is nothing
	seq := regexp.MustCompile(`^{"seq":([0-9]+)`).FindStringSubmatch(last)
	n, err := strconv.Atoi(seq[1])
	if err != nil {
		t.Fatal(err)
	}
	next := fmt.Sprintf(`{"seq":%d`, n+1) + strings.TrimPrefix(strings.TrimSpace(last), seq[0])
	return append(lines[:len(lines)-1], []byte(reseal(t, next, string(aHash.FindSubmatch([]byte(last))[1]))+"\n"))
}
