//go:build unix

// Command fakepair plays the roles of a coding goal for tests: a planner,
// coders and reviewers whose words and deeds are shell scripts. It is driven as
// any agent is, by backend exec with format json, and talks to nobody.
//
//	fakepair DIR
//	fakepair say TYPE JSON     # what a script wants its step to say, whatever it is
//
// DIR holds a folder for each role. For a task in slot S the first of these is
// run with sh -e, in the directory the role was given; without any, the role
// says nothing, and a reviewer approves:
//
//	coder/S.fix.sh      when approved work only has to be made to fit
//	coder/S.N.sh        in the N-th iteration of this coder
//	planner/S.KIND.sh   when it is woken
//	ROLE/S.sh
//	ROLE/KIND.sh        planner: what wakes it; "plan" when it plans
//	ROLE/default.sh
//
// What the script prints is the answer. A reviewer's script may print
// "approve", "accept" (approve, with all that code found), or
// "reject FILE LINE DEFECT" instead. A script finds in its
// environment PLAY (DIR), REQUEST (a file with the whole request), SLOT, TASK,
// ITERATION, CLAIM (how many times the task was claimed), INTEGRATION (of a
// fix) and KIND.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"orch/blackboard/message"
	"orch/roles/run/socket"
)

// request is what is read of what a role is asked.
type request struct {
	Role  string `json:"role"`
	Dir   string `json:"dir"`
	Input struct {
		Word string `json:"word"` // that a verdict repeats
		Task struct {
			ID       string      `json:"id"`
			Slot     string      `json:"slot"`
			Criteria []criterion `json:"success_criteria"`
		} `json:"task"`
		Iteration int `json:"iteration"`
		Fix       *struct {
			Integration string `json:"integration"`
		} `json:"fix"`
		Kind     string    `json:"kind"` // of what wakes a planner
		Pending  []blocker `json:"pending"`
		Findings []struct {
			ID string `json:"id"`
		} `json:"findings"`
	} `json:"input"`
}

type criterion struct {
	ID    string          `json:"id"`
	Check json.RawMessage `json:"check"`
}

type blocker struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Defect string `json:"defect"`
	Fix    string `json:"fix"`
}

func main() {
	var err error
	switch {
	case len(os.Args) == 2:
		err = play(os.Args[1])
	case len(os.Args) == 4 && os.Args[1] == "say":
		err = say(message.Type(os.Args[2]), os.Args[3])
	default:
		fmt.Fprintln(os.Stderr, "usage: fakepair DIR < request.json")
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "fakepair:", err)
		os.Exit(exitCode(err))
	}
}

// exitCode is 1, or what a shell exits with whose command was ended by a signal.
func exitCode(err error) int {
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		if ws, ok := ended.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
			return 128 + int(ws.Signal())
		}
	}
	return 1
}

// say sends a message to the step, past what orch note would let through.
func say(t message.Type, body string) error {
	b, err := message.Decode(t, json.RawMessage(body))
	if err != nil {
		return err
	}
	_, err = socket.Send(context.Background(), os.Getenv(socket.Env), os.Getenv(socket.TokenEnv), b)
	return err
}

func play(dir string) error {
	raw, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	var r request
	if err := json.Unmarshal(raw, &r); err != nil {
		return err
	}
	if strings.HasPrefix(r.Role, "planner-") {
		r.Role = "planner" // it is asked for a plan and when it is woken, in different words
	}
	said := ""
	if script := r.script(dir); script != "" {
		if said, err = r.run(dir, script, raw); err != nil {
			return err
		}
	}
	if r.Role == "code-reviewer" {
		if said, err = r.verdict(strings.TrimSpace(said)); err != nil {
			return err
		}
	}
	if said == "" {
		said = `{"text":""}`
	}
	_, err = fmt.Println(said)
	return err
}

// kind is what a planner is asked for.
func (r request) kind() string {
	switch {
	case r.Role == "planner" && r.Input.Kind != "":
		return r.Input.Kind
	case r.Role == "planner":
		return "plan"
	}
	return "default"
}

// script is the first that is there, or empty.
func (r request) script(dir string) string {
	slot := r.Input.Task.Slot
	names := []string{slot + "." + r.kind(), slot, r.kind(), "default"}
	if r.Role == "coder" {
		names = append([]string{slot + "." + strconv.Itoa(r.Input.Iteration)}, names...)
		if r.Input.Fix != nil {
			names = append([]string{slot + ".fix"}, names...)
		}
	}
	for _, n := range names {
		path := filepath.Join(dir, r.Role, n+".sh")
		if _, err := os.Stat(path); n != "" && err == nil {
			return path
		}
	}
	return ""
}

func (r request) run(dir, script string, raw []byte) (string, error) {
	at, err := os.CreateTemp("", "request-")
	if err != nil {
		return "", err
	}
	defer os.Remove(at.Name())
	if _, err := at.Write(raw); err != nil {
		return "", err
	}
	if err := at.Close(); err != nil {
		return "", err
	}
	cmd := exec.Command("sh", "-e", script)
	cmd.Dir, cmd.Stderr = r.Dir, os.Stderr
	cmd.Env = append(os.Environ(), "PLAY="+dir, "REQUEST="+at.Name(), "SLOT="+r.Input.Task.Slot, "TASK="+r.Input.Task.ID,
		"ITERATION="+strconv.Itoa(r.Input.Iteration), "CLAIM="+claim(r.Dir), "KIND="+r.kind())
	if f := r.Input.Fix; f != nil {
		cmd.Env = append(cmd.Env, "INTEGRATION="+f.Integration)
	}
	out, err := cmd.Output()
	return string(out), err
}

// claim is how many times a task was claimed: a worktree's name ends with it.
func claim(dir string) string {
	name := filepath.Base(dir)
	return name[strings.LastIndexByte(name, '-')+1:]
}

// verdict is what a reviewer's script said as a whole answer.
func (r request) verdict(said string) (string, error) {
	if strings.HasPrefix(said, "{") {
		return said, nil
	}
	a := map[string]any{"word": r.Input.Word, "decision": "approved", "blockers": []blocker{}, "prior_feedback": []any{}, "verdicts": []any{}}
	if rest, ok := strings.CutPrefix(said, "reject "); ok {
		f := strings.SplitN(rest, " ", 3)
		if len(f) != 3 {
			return "", fmt.Errorf("not a rejection: %q", said)
		}
		line, err := strconv.Atoi(f[1])
		if err != nil {
			return "", err
		}
		a["decision"], a["blockers"] = "rejected", []blocker{{f[0], line, f[2], "change it"}}
	}
	if said == "accept" {
		accepted := []map[string]string{}
		for _, f := range r.Input.Findings {
			accepted = append(accepted, map[string]string{"finding": f.ID, "reason": "the task demands it"})
		}
		a["accepted_findings"] = accepted
	}
	verdicts, feedback := []any{}, []any{}
	for _, c := range r.Input.Task.Criteria {
		if len(c.Check) == 0 || string(c.Check) == "null" {
			verdicts = append(verdicts, map[string]any{"id": c.ID, "pass": a["decision"] == "approved", "evidence": "the change shows it"})
		}
	}
	for _, b := range r.Input.Pending {
		feedback = append(feedback, map[string]any{"what": fmt.Sprintf("%s:%d: %s", b.File, b.Line, b.Defect), "state": "RESOLVED"})
	}
	a["verdicts"], a["prior_feedback"] = verdicts, feedback
	raw, err := json.Marshal(a)
	return string(raw), err
}
