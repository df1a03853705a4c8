//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"orch/roles/run/socket"
)

// proc is a process above this one.
type proc struct {
	pid  int
	argv []string
}

// above follows parents up.
func above(pid int) (line []proc) {
	for len(line) < 50 {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return line
		}
		fields := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:]))
		if pid, err = strconv.Atoi(fields[1]); err != nil || pid <= 1 {
			return line
		}
		raw, err = os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err != nil {
			return line
		}
		line = append(line, proc{pid, strings.Split(string(raw), "\x00")})
	}
	return line
}

// masters are the processes of orch above this one, but for guards.
func (h *hostile) masters() (pids []int) {
	for _, p := range h.line {
		if filepath.Base(p.argv[0]) == filepath.Base(h.Orch) && !slices.Contains(p.argv, "guard") {
			pids = append(pids, p.pid)
		}
	}
	return pids
}

// each tries something with each process of orch above.
func (h *hostile) each(try func(pid int) (bool, string)) (through bool, detail string) {
	said := []string{}
	for _, pid := range h.masters() {
		got, what := try(pid)
		through, said = through || got, append(said, what)
	}
	if len(said) == 0 {
		return true, "no process of orch was found to be tried" // which must not look like safety
	}
	return through, strings.Join(said, "; ")
}

func (h *hostile) environment() (bool, string) {
	return h.each(func(pid int) (bool, string) {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err != nil {
			return false, err.Error()
		}
		return len(raw) > 0, "read an environment"
	})
}

func (h *hostile) memory() (bool, string) {
	return h.each(func(pid int) (bool, string) {
		f, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", pid), os.O_RDWR, 0)
		if err != nil {
			return false, err.Error()
		}
		f.Close()
		return true, "can write the memory"
	})
}

// end asks whether a signal would arrive.
func (h *hostile) end() (bool, string) {
	return h.each(func(pid int) (bool, string) {
		if err := syscall.Kill(pid, 0); err != nil {
			return false, err.Error()
		}
		return true, "can end it"
	})
}

// bids are what a person says with orch. Those of a hook are not tried beyond
// the first: a hook is the person's own.
func (h *hostile) bids() [][]string {
	all := [][]string{
		{"note", "human", Forged}, {"memory", "add", Forged}, {"task", "add", Forged}, {"allow", "delete-"}, {"answer", Forged},
		{"resume"}, {"pause"}, {"claim", "--as", "human-1"}, {"step", "executor"}, {"run", "--later", Forged},
		{"deny", "delete-"}, {"abort"}, {"board", "repair"}, {"board", "gc"}, {"board", "track"}, {"goals", "retry"}, {"run", "--continue"}, {"integrate"}, {"memory", "rebuild"},
	}
	if h.party == "hook" {
		return all[:1]
	}
	return all
}

func (h *hostile) person() (through bool, detail string) {
	said := []string{}
	for _, args := range h.bids() {
		got, what := h.bid(exec.Command(h.Orch, append([]string{"-C", h.Project}, args...)...), os.Environ())
		through, said = through || got, append(said, args[0]+": "+what)
	}
	return through, strings.Join(said, "; ")
}

// trusts trusts what came with the repository, as only a person does.
func (h *hostile) trusts() (bool, string) {
	return h.bid(exec.Command(h.Orch, "-C", h.Project, "config", "trust"), os.Environ())
}

// restores gives up messages of the log for good, as only a person does.
func (h *hostile) restores() (bool, string) {
	return h.bid(exec.Command(h.Orch, "-C", h.Project, "board", "restore", "--accept"), os.Environ())
}

// personBare is a person without a trace of the step in its environment, in a
// session of its own, whose parent is gone.
func (h *hostile) personBare() (bool, string) {
	done := filepath.Join(h.Reports, h.party+".bare")
	script := fmt.Sprintf("( setsid %q -C %q note human %q; echo $? > %q.new; mv %q.new %q ) >/dev/null 2>&1 & ", h.Orch, h.Project, Forged, done, done, done)
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}
	if err := cmd.Run(); err != nil {
		return false, err.Error()
	}
	for range 500 {
		raw, err := os.ReadFile(done)
		if err == nil {
			return strings.TrimSpace(string(raw)) == "0", "exit " + strings.TrimSpace(string(raw))
		}
		time.Sleep(20 * time.Millisecond)
	}
	return false, "it did not end"
}

func (h *hostile) bid(cmd *exec.Cmd, env []string) (bool, string) {
	cmd.Env = slices.DeleteFunc(env, func(kv string) bool { return strings.HasPrefix(kv, socket.Env) })
	out, err := cmd.CombinedOutput()
	if err != nil {
		line, _, _ := strings.Cut(string(out), "\n")
		return false, line
	}
	return true, "done"
}

// leave leaves a process that tells nothing of the step and is nobody's child.
func (h *hostile) leave() (bool, string) {
	cmd := exec.Command("/bin/sh", "-c", fmt.Sprintf("setsid %q %q %q stay >/dev/null 2>&1 </dev/null &", os.Args[0], os.Args[1], h.party))
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	if err := cmd.Run(); err != nil {
		return false, err.Error()
	}
	return false, "whether it is gone in the end the test looks"
}

// orphan is what such a process does.
func (h *hostile) orphan(how []string) error {
	if how[0] == "stay" {
		time.Sleep(stays)
		return nil
	}
	h.path, h.token = how[1], how[2]
	time.Sleep(50 * time.Millisecond) // its parent ends
	_, detail := h.forge()
	name := filepath.Join(h.Reports, h.party+".orphan")
	if err := os.WriteFile(name+".new", []byte(detail), 0o644); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}
