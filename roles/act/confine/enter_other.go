//go:build !linux

package confine

import "syscall"

// Supported is false: this system has no layer that is used.
const Supported = false

// Prepare fails: there is no sandbox here.
func (s Sandbox) Prepare(*syscall.SysProcAttr) error { return unsupported() }

// Enter fails: there is no sandbox here.
func (s Sandbox) Enter() error { return unsupported() }

func unsupported() error { return &UnavailableError{"this system has no confinement that orch uses"} }
