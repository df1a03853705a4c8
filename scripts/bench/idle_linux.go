package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// processesOf lists the processes whose working directory is the project, or
// whose command line names it.
func processesOf(root string) ([]proc, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var found []proc
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		if p, ok := readProcess(filepath.Join("/proc", e.Name()), root); ok {
			p.pid = pid
			found = append(found, p)
		}
	}
	return found, nil
}

// readProcess reads one process; a process that ends meanwhile is none.
func readProcess(dir, root string) (p proc, ok bool) {
	raw, err := os.ReadFile(filepath.Join(dir, "cmdline"))
	if err != nil || len(raw) == 0 {
		return p, false
	}
	p.args = strings.Split(strings.TrimRight(string(raw), "\x00"), "\x00")
	cwd, _ := os.Readlink(filepath.Join(dir, "cwd")) // unreadable: not ours
	if cwd != root && !strings.Contains(string(raw), "\x00"+root+"\x00") {
		return p, false
	}
	threads, err := filepath.Glob(filepath.Join(dir, "task", "*", "schedstat"))
	if err != nil {
		return p, false
	}
	for _, t := range threads {
		raw, err := os.ReadFile(t)
		if err != nil {
			continue // the thread ended
		}
		first, _, _ := strings.Cut(string(raw), " ")
		ns, err := strconv.ParseInt(first, 10, 64)
		if err != nil {
			return p, false
		}
		p.cpu += time.Duration(ns)
	}
	status, err := os.ReadFile(filepath.Join(dir, "status"))
	if err != nil {
		return p, false
	}
	p.rssBytes, p.anonBytes = statusBytes(string(status), "VmRSS:"), statusBytes(string(status), "RssAnon:")
	return p, true
}

// statusBytes reads one size of /proc/PID/status, which is in kB.
func statusBytes(status, name string) int64 {
	_, rest, ok := strings.Cut(status, "\n"+name)
	fields := strings.Fields(rest)
	if !ok || len(fields) == 0 {
		return 0
	}
	kib, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return 0
	}
	return kib << 10
}
