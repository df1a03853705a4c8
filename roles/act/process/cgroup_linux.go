package process

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const cgroupPrefix = "orch-"

// cgroup is a version 2 control group holding one command and all it starts.
type cgroup struct {
	dir string
	fd  *os.File
}

// makeCgroup makes a group below our own, or returns nil where that may not be.
func makeCgroup(m Marker) *cgroup {
	parent := ownCgroup()
	if parent == "" {
		return nil
	}
	name := string(m[strings.LastIndexByte(string(m), '/')+1:])
	dir := filepath.Join(parent, cgroupPrefix+name)
	if os.Mkdir(dir, 0o755) != nil {
		return nil
	}
	fd, err := os.Open(dir)
	if err != nil {
		_ = os.Remove(dir)
		return nil
	}
	return &cgroup{dir: dir, fd: fd}
}

// ownCgroup is the directory of our own version 2 group; empty if there is none.
func ownCgroup() string {
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return ""
	}
	var path string
	for line := range strings.Lines(string(own)) {
		if p, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			path = p
		}
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil || path == "" {
		return ""
	}
	for line := range strings.Lines(string(mounts)) {
		left, right, ok := strings.Cut(line, " - ")
		f := strings.Fields(left)
		if ok && strings.HasPrefix(right, "cgroup2 ") && len(f) > 4 && f[3] == "/" {
			return filepath.Join(f[4], path)
		}
	}
	return ""
}

// attach makes the command be born in the group.
func (c *cgroup) attach(cmd *exec.Cmd) {
	cmd.SysProcAttr.UseCgroupFD = true
	cmd.SysProcAttr.CgroupFD = int(c.fd.Fd())
}

func (c *cgroup) started() { c.fd.Close() }

// empty tells whether nothing lives in the group or in groups below it.
func (c *cgroup) empty() bool {
	b, err := os.ReadFile(filepath.Join(c.dir, "cgroup.events"))
	return err == nil && strings.Contains(string(b), "populated 0")
}

// members are the processes in the group and in groups below it. Where the
// kernel can, they are also ended at once, so that nothing forks its way out.
func (c *cgroup) members() (found []Proc, again bool, err error) {
	if c.empty() {
		return nil, false, nil // nothing leaves a group by forking, so there is nothing to look for
	}
	boot := BootID()
	for _, dir := range c.tree() {
		b, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
		if err != nil {
			continue // removed by its owner
		}
		for field := range strings.FieldsSeq(string(b)) {
			pid, _ := strconv.Atoi(field)
			if p, ok := readStat(pid, boot); ok && !p.Defunct {
				found = append(found, p)
			}
		}
	}
	_ = os.WriteFile(filepath.Join(c.dir, "cgroup.kill"), []byte("1"), 0) // older kernels do not have it
	return found, true, nil
}

// tree is the group's directory and all below it.
func (c *cgroup) tree() []string {
	var dirs []string
	_ = filepath.WalkDir(c.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			dirs = append(dirs, path)
		}
		return nil
	})
	return dirs
}

// remove works once the group is empty; Sweep removes what a crash left.
func (c *cgroup) remove() {
	c.fd.Close()
	for _, dir := range slices.Backward(c.tree()) {
		_ = os.Remove(dir)
	}
}

// removeEmptyCgroups clears away groups whose Run did not live to do so. A
// group with members can not be removed, so nothing living is disturbed.
func removeEmptyCgroups() {
	parent := ownCgroup()
	if parent == "" {
		return
	}
	dirs, _ := filepath.Glob(filepath.Join(parent, cgroupPrefix+"*"))
	for _, d := range dirs {
		_ = os.Remove(d)
	}
}
