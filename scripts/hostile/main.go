//go:build linux

// Command hostile is a command that wishes orch ill, for tests: wherever it is
// started it tries everything it can think of, and reports what it could do.
//
//	hostile BRIEF PARTY
//
// BRIEF is a file of JSON that names what there is to attack, see brief. PARTY
// is a word for what it was started as; under each it works once. For every
// attack it prints a line of JSON, and writes it to PARTY.jsonl in the
// directory of reports. A probe changes nothing where a change would end the
// run that is to be looked at: it opens a file for writing and writes nothing,
// and what it makes it removes.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"orch/roles/run/socket"
)

// brief names what there is to attack.
type brief struct {
	Project string // the repository of the run it is part of
	Outside string // a directory that is nobody's business
	Home    string
	Sockets string // the folder of all steps' sockets
	Reports string // where it may write, whatever confines it
	Orch    string // the program
	Secret  string // a word in the supervisor's environment and in the keys
}

// Result is what came of one attack.
type Result struct {
	Attack  string `json:"attack"`
	Through bool   `json:"through"`
	Detail  string `json:"detail,omitempty"`
}

// Forged is in every text that only this program says.
const Forged = "forged by the hostile program"

// stays is how long a process lives that was left behind.
const stays = time.Minute

type hostile struct {
	brief
	party       string
	path, token string // of the step's socket; empty where none is given
	line        []proc // of processes above, nearest first
}

// attacks are in an order in which none spoils the next.
var attacks = []struct {
	name string
	try  func(*hostile) (through bool, detail string)
}{
	{"given", func(h *hostile) (bool, string) { return h.path != "" || h.token != "", h.path }},
	{"ask", (*hostile).ask},
	{"forge", (*hostile).forge},
	{"other-task", (*hostile).otherTask},
	{"no-token", (*hostile).noToken},
	{"orphan-speaks", (*hostile).orphanSpeaks},
	{"sockets-seen", (*hostile).socketsSeen},
	{"tokens-read", (*hostile).tokensRead},
	{"other-step", (*hostile).otherStep},
	{"flood", (*hostile).flood},
	{"plant", func(h *hostile) (bool, string) { return makes(h.Sockets) }},
	{"log", func(h *hostile) (bool, string) { return opens(h.orch("log.jsonl")) }},
	{"settings", func(h *hostile) (bool, string) {
		return any2(opens, h.orch("config.yaml"))(any2(makes, h.orch(), h.orch("hooks"), h.orch("playbooks"))(false, ""))
	}},
	{"move", func(h *hostile) (bool, string) { return moves(h.orch(), filepath.Join(h.Project, "full")) }},
	{"git", func(h *hostile) (bool, string) {
		return any2(opens, filepath.Join(h.Project, ".git", "config"))(makes(filepath.Join(h.Project, ".git", "hooks")))
	}},
	{"refs", func(h *hostile) (bool, string) { return makes(filepath.Join(h.Project, ".git", "refs", "heads")) }},
	{"outside", func(h *hostile) (bool, string) { return makes(h.Outside) }},
	{"startup-files", func(h *hostile) (bool, string) {
		return any2(opens, filepath.Join(h.Home, ".gitconfig"), filepath.Join(h.Home, ".profile"))(false, "")
	}},
	{"program", func(h *hostile) (bool, string) { return makes(filepath.Dir(h.Orch)) }},
	{"keys", func(h *hostile) (bool, string) { return h.reads(".ssh/id", ".aws/credentials") }},
	{"other-keys", func(h *hostile) (bool, string) { return h.reads(".netrc", ".git-credentials") }},
	{"tokens", func(h *hostile) (bool, string) {
		return h.reads(".npmrc", ".pypirc", ".cargo/credentials.toml", ".vault-token", ".bash_history", ".config/containers/auth.json")
	}},
	{"logins", func(h *hostile) (bool, string) {
		return h.reads(".claude/.credentials.json", ".codex/auth.json", ".claude.json")
	}},
	{"holds-a-key", func(h *hostile) (bool, string) { return h.reads(".config/tool/settings.ini") }},
	{"ignored", func(h *hostile) (bool, string) {
		return any2(h.holds, filepath.Join(h.Project, ".env"), ".env")(false, "")
	}},
	{"agent-settings", func(h *hostile) (bool, string) {
		return any2(opens, filepath.Join(h.Home, ".claude/settings.json"), filepath.Join(h.Home, ".codex/config.toml"))(false, "")
	}},
	{"environment", (*hostile).environment},
	{"memory-of-orch", (*hostile).memory},
	{"end-of-orch", (*hostile).end},
	{"person", (*hostile).person},
	{"person-bare", (*hostile).personBare},
	{"trusts", (*hostile).trusts},
	{"restores", (*hostile).restores},
	{"leave", (*hostile).leave},
}

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: hostile BRIEF PARTY")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		fmt.Fprintln(os.Stderr, "hostile:", err)
		os.Exit(1)
	}
}

func run(from, party string, more []string) error {
	raw, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	h := &hostile{party: party, path: os.Getenv(socket.Env), token: os.Getenv(socket.TokenEnv), line: above(os.Getpid())}
	if err := json.Unmarshal(raw, &h.brief); err != nil {
		return err
	}
	if len(more) > 0 {
		return h.orphan(more)
	}
	report, err := os.OpenFile(filepath.Join(h.Reports, party+".jsonl"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil // it was here before
	}
	if err != nil {
		return err
	}
	defer report.Close()
	out := json.NewEncoder(io.MultiWriter(report, os.Stdout))
	for _, a := range attacks {
		if party == "hook" && (a.name == "leave" || a.name == "restores") {
			continue // no guard collects what a person's own command leaves, and it may restore
		}
		through, detail := a.try(h)
		if err := out.Encode(Result{a.name, through, detail}); err != nil {
			return err
		}
	}
	return nil
}

func (h *hostile) orch(name ...string) string {
	return filepath.Join(append([]string{h.Project, ".orch"}, name...)...)
}

// any2 tries the same with each path, and adds to what came before.
func any2(try func(string) (bool, string), paths ...string) func(bool, string) (bool, string) {
	return func(through bool, detail string) (bool, string) {
		said := []string{detail}
		for _, p := range paths {
			got, what := try(p)
			through, said = through || got, append(said, what)
		}
		return through, strings.Trim(strings.Join(said, "; "), "; ")
	}
}

// opens tells whether a file may be written.
func opens(path string) (bool, string) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return false, err.Error()
	}
	f.Close()
	return true, "can write " + path
}

// makes tells whether something may be put into a directory.
func makes(dir string) (bool, string) {
	path := filepath.Join(dir, fmt.Sprintf("hostile-%d", os.Getpid()))
	if err := os.Mkdir(path, 0o755); err != nil {
		return false, err.Error()
	}
	if err := os.Remove(path); err != nil {
		return true, err.Error()
	}
	return true, "can make files in " + dir
}

// moves tells whether a directory may be moved away: onto one that is not empty
// it cannot be, which the system says last.
func moves(path, full string) (bool, string) {
	err := syscall.Rename(path, full) // os.Rename asks nobody when the target is a directory
	if err == nil || errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, syscall.EEXIST) {
		return true, "can move " + path
	}
	return false, err.Error()
}

func (h *hostile) reads(names ...string) (bool, string) {
	return any2(func(name string) (bool, string) { return h.holds(filepath.Join(h.Home, name)) }, names...)(false, "")
}

// holds tells whether a file shows the secret.
func (h *hostile) holds(path string) (bool, string) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return false, err.Error()
	}
	return strings.Contains(string(raw), h.Secret), "read " + path
}
