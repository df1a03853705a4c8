package memory

import (
	"flag"
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if args := os.Getenv(dreamerVariable); args != "" {
		os.Exit(dreamToDeath(args))
	}
	if raced {
		flag.Parse()
		if err := flag.Set("rapid.checks", "25"); err != nil {
			panic(err)
		}
	}
	// A closed goleveldb waits a second for a last buffer to come back.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/syndtr/goleveldb/leveldb.(*DB).mpoolDrain"))
}
