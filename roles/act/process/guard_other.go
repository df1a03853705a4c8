//go:build !unix

package process

import (
	"fmt"
	"os"
)

// guardSupported is false: Run starts commands without their guard here.
const guardSupported = false

// GuardMain says that there is no guard on this system.
func GuardMain([]string) int {
	fmt.Fprintln(os.Stderr, "error: no guard on this system")
	return 2
}
