//go:build !linux

package process

import "os/exec"

// cgroup does not exist here; makeCgroup says so with nil.
type cgroup struct{}

func makeCgroup(Marker) *cgroup                { return nil }
func (*cgroup) attach(*exec.Cmd)               {}
func (*cgroup) started()                       {}
func (*cgroup) members() ([]Proc, bool, error) { return nil, false, nil }
func (*cgroup) remove()                        {}
func removeEmptyCgroups()                      {}
