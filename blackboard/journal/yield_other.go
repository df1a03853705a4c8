//go:build !linux

package journal

import "runtime"

// yieldCPU lets another goroutine run; there is no way to ask for more here.
func yieldCPU() { runtime.Gosched() }
