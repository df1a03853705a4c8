package memory

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if args := os.Getenv(dreamerVariable); args != "" {
		os.Exit(dreamToDeath(args))
	}
	// A closed goleveldb waits a second for a last buffer to come back.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/syndtr/goleveldb/leveldb.(*DB).mpoolDrain"))
}
