//go:build !unix

package runner

import (
	"errors"
	"os"
)

// Without links that carry a name and programs that take another's place there
// are no shims: every command is one test.
const supported = false

var asks = []os.Signal{os.Interrupt}

func replace(string, []string, []string) error { return errors.ErrUnsupported }

func exitCode(s *os.ProcessState) int { return s.ExitCode() }
