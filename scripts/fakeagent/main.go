//go:build unix

// Command fakeagent plays an agent CLI for tests: well, or badly in one of many
// ways. It talks to nobody.
//
//	fakeagent [--as claude|codex|text|json|acp] [--write FILE] MODE [arguments of the preset]
//
// What it is told beyond that is in the environment: FAKEAGENT_MODE wins over
// MODE, FAKEAGENT_AS over --as, FAKEAGENT_PIDS names a file to which it adds the
// ids of processes it leaves, for tests that assert that none is left, and
// FAKEAGENT_MODEL is the root URL of a model server of package fakemodel.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// modes are the ways to behave, in words for the usage text.
var modes = map[string]string{
	"ok":           "one tool call that writes a file, then an answer",
	"asks":         "does and says what the model server at $FAKEAGENT_MODEL answers",
	"echo":         "answers with what it was asked",
	"schema":       "answers with a JSON object",
	"slow":         "ok, with a pause before each event",
	"silent":       "says nothing, for ever",
	"hang":         "begins, then says nothing, for ever, and ignores signals",
	"crash":        "dies in the middle of an event",
	"killed":       "is ended with SIGKILL by somebody else",
	"quiet":        "exits with 0 and says nothing",
	"noresult":     "works, exits with 0, never sends its terminal event",
	"chatty":       "many events that nobody knows, then ok",
	"flood":        "output without end",
	"longline":     "one line of 20 MB, then ok",
	"garbage":      "lines that are no events, then ok",
	"babble":       "lines that are no events, and the end",
	"huge":         "an answer of 10 MB",
	"wrong":        "an answer of another form than was asked for",
	"limit":        "its account is used up for an hour",
	"limit-open":   "its account is used up, and it does not say until when",
	"no-credit":    "its account has no credit left, said with status 402",
	"limit-retry":  "says that it retries after 429, for ever",
	"auth":         "its key is wrong",
	"forbidden":    "its account may not",
	"unreachable":  "its provider is not there",
	"overloaded":   "its provider has no room",
	"server":       "its provider fails with 500",
	"error":        "a failure it does not explain",
	"denied":       "a refused tool call, then claims success",
	"cheat":        "claims success without doing anything, and exits with 3",
	"empty":        "succeeds without an answer",
	"children":     "ok, and leaves children in sessions of their own",
	"stays":        "ok, and never exits",
	"stubborn":     "ok, never exits, ignores signals, leaves children",
	"calls":        "the shell calls of FAKEAGENT_CALLS, a line each, but for those it is told were made",
	"lies-on-term": "waits; on SIGTERM it claims success and exits with 0",
}

func main() {
	as, write, mode := "claude", "made.txt", ""
	args := os.Args[1:]
	for len(args) > 1 && (args[0] == "--as" || args[0] == "--write") {
		if args[0] == "--as" {
			as = args[1]
		} else {
			write = args[1]
		}
		args = args[2:]
	}
	if len(args) > 0 {
		mode = args[0]
	}
	as, mode = or(os.Getenv("FAKEAGENT_AS"), as), or(os.Getenv("FAKEAGENT_MODE"), mode)
	if mode == "--version" {
		fmt.Println("fakeagent 1.2.3")
		return
	}
	if _, known := modes[mode]; !known {
		usage()
	}
	if as == "acp" {
		playACP(mode, write)
		return
	}
	prompt, err := io.ReadAll(os.Stdin)
	if err != nil {
		fail(err)
	}
	a := &agent{voice: voices[as], prompt: string(prompt), write: write}
	if a.voice == nil {
		usage()
	}
	a.play(mode)
}

func usage() {
	fmt.Fprintln(os.Stderr, "usage: fakeagent [--as claude|codex|text|json|acp] [--write FILE] MODE")
	for name, text := range modes {
		fmt.Fprintf(os.Stderr, "  %-12s %s\n", name, text)
	}
	os.Exit(2)
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "fakeagent:", err)
	os.Exit(1)
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// What providers and models say.
const (
	usedUp     = "API Error: 429 usage limit reached"
	noCredit   = `API Error: 402 {"type":"error","error":{"type":"billing_error","message":"Payment Required"}}`
	notAllowed = "API Error: 403 Forbidden: this account may not"
	notThere   = "API Error: connect ECONNREFUSED 127.0.0.1:1"
	wrongForm  = `{"answer":"yes, certainly, all of it passes"}`
)

// agent is one run.
type agent struct {
	voice  voice
	prompt string
	write  string
	pause  time.Duration
}

func (a *agent) say(lines ...any) {
	for _, l := range lines {
		time.Sleep(a.pause)
		if s, ok := l.(string); ok {
			fmt.Println(s)
			continue
		}
		raw, err := json.Marshal(l)
		if err != nil {
			fail(err)
		}
		fmt.Println(string(raw))
	}
}

func (a *agent) play(mode string) {
	switch mode {
	case "silent":
		forever()
	case "quiet":
		return
	case "flood":
		flood()
	case "slow":
		a.pause = 50 * time.Millisecond
	case "hang", "stubborn":
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT)
	}
	a.say(a.voice.begin()...)
	switch mode {
	case "hang":
		forever()
	case "crash":
		fmt.Print(`{"type":"assist`)
		fmt.Fprintln(os.Stderr, "panic: something is nil")
		os.Exit(2)
	case "killed":
		endSelf()
	case "chatty":
		w := bufio.NewWriter(os.Stdout)
		for i := range 20_000 {
			fmt.Fprintf(w, "{\"type\":\"weather\",\"n\":%d,\"nested\":{\"type\":\"result\"}}\n", i)
		}
		w.Flush()
	case "longline":
		a.say(`{"type":"assistant","message":{"content":[{"type":"text","text":"` + strings.Repeat("x", 20<<20) + `"}]}}`)
	case "garbage":
		a.say("npm warn something", "{", `{"type":42}`, `[1,2]`, "\xff\xfe\x00", `{"type":"assistant","message":"no"}`, `null`)
	case "babble":
		a.end([]any{"npm warn something", "{", `{"type":42}`, "\xff\xfe\x00", "null"}, 0)
	case "huge":
		a.end(a.voice.done(strings.Repeat("x", 10<<20), nil), 0)
	case "wrong":
		a.end(a.voice.done(wrongForm, nil), 0)
	case "limit-open":
		a.end(a.voice.failed(usedUp, 429), 1)
	case "no-credit":
		a.end(a.voice.failed(noCredit, 402), 1)
	case "forbidden":
		a.end(a.voice.failed(notAllowed, 403), 1)
	case "unreachable":
		a.end(a.voice.failed(notThere, 0), 1)
	case "limit":
		a.end(a.voice.failed(fmt.Sprintf("usage limit reached|%d", time.Now().Add(time.Hour).Unix()), 429), 1)
	case "limit-retry":
		a.say(a.voice.retry(429)...)
		forever()
	case "auth":
		a.end(a.voice.failed("Failed to authenticate. API Error: 401 invalid x-api-key", 401), 1)
	case "overloaded":
		a.end(a.voice.failed("API Error: 529 Overloaded", 529), 1)
	case "server":
		a.end(a.voice.failed("API Error: 500 Internal server error", 500), 1)
	case "error":
		a.end(a.voice.failed("something did not work", 0), 0)
	case "empty":
		a.end(a.voice.done("", nil), 0)
	case "asks":
		said, err := consult(a.prompt, ".", func(command, output string, failed bool) {
			a.say(a.voice.called(command)...)
			a.say(a.voice.returned(output, failed)...)
		})
		var down *providerError
		if errors.As(err, &down) {
			a.end(a.voice.failed(err.Error(), down.status), 1)
		}
		if err != nil {
			fail(err)
		}
		a.end(a.voice.done(said, nil), 0)
	case "cheat":
		a.end(a.voice.done("All tests pass now.", nil), 3)
	case "denied":
		a.end(a.voice.done("I would have done it.", []string{"Bash"}), 0)
	case "echo":
		a.end(a.voice.done(fmt.Sprintf("%d bytes: %s", len(a.prompt), head(a.prompt)), nil), 0)
	case "schema":
		a.end(a.voice.done(`{"status":"completed","output":"it is done"}`, nil), 0)
	case "lies-on-term":
		got := make(chan os.Signal, 1)
		signal.Notify(got, syscall.SIGTERM, syscall.SIGINT)
		<-got
		a.end(a.voice.done("all done", nil), 0)
	}
	if mode != "calls" {
		a.work()
	}
	switch mode {
	case "calls":
		for command := range strings.Lines(os.Getenv("FAKEAGENT_CALLS")) {
			if command = strings.TrimSpace(command); !strings.Contains(a.prompt, "Bash:"+command+" ") {
				a.call(command)
			}
		}
	case "noresult":
		return
	case "children", "stubborn":
		leave()
	}
	a.say(a.voice.done("all done", nil)...)
	if mode == "stays" || mode == "stubborn" {
		forever()
	}
}

// work does what the prompt is about: one shell call that writes a file.
func (a *agent) work() {
	a.call("echo hi > " + a.write)
}

func (a *agent) call(command string) {
	a.say(a.voice.called(command)...)
	out, err := exec.Command("sh", "-c", command).CombinedOutput()
	a.say(a.voice.returned(string(out), err != nil)...)
}

func (a *agent) end(lines []any, exit int) {
	a.say(lines...)
	os.Exit(exit)
}

func head(s string) string {
	if len(s) > 200 {
		return s[:200]
	}
	return s
}

func flood() {
	line := []byte(strings.Repeat("y", 1<<16) + "\n")
	for {
		if _, err := os.Stdout.Write(line); err != nil {
			os.Exit(1)
		}
	}
}

func forever() {
	for {
		time.Sleep(time.Hour)
	}
}

// leave starts children that outlive it: one in its group, one in a session of
// its own, one in a session of its own with a parent that is gone and an empty
// environment.
func leave() {
	note := filepath.Clean(or(os.Getenv("FAKEAGENT_PIDS"), os.DevNull))
	script := "echo $$ >> " + strconv.Quote(note) + "; exec sleep 600"
	var cmds []*exec.Cmd
	for i := range 3 {
		c := exec.Command("/bin/sh", "-c", script)
		if i > 0 {
			c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		}
		if i == 2 {
			c = exec.Command("/bin/sh", "-c", "( "+script+" ) & exit 0")
			c.SysProcAttr, c.Env = &syscall.SysProcAttr{Setsid: true}, []string{"PATH=/usr/bin:/bin"}
		}
		if err := c.Start(); err != nil {
			fail(err)
		}
		cmds = append(cmds, c)
	}
	_ = cmds[2].Wait() // its child is what stays
	f, err := os.OpenFile(note, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil || note == os.DevNull {
		return // they cannot note it either
	}
	_ = f.Close()
	for range 24_000 { // until all have noted who they are; two minutes at most
		if raw, err := os.ReadFile(note); err == nil && strings.Count(string(raw), "\n") >= 3 {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// endSelf ends it as somebody else would.
func endSelf() {
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Kill() // there is nobody to tell
	}
	forever()
}
