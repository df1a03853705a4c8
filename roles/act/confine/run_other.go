//go:build !unix

package confine

// Run fails: there is no sandbox here.
func Run([]string, Sandbox, []string, []string) (int, error) { return 0, unsupported() }

// InsideMain fails: there is no sandbox here.
func InsideMain([]string) error { return unsupported() }
