package memory

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	// A closed goleveldb waits a second for a last buffer to come back.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/syndtr/goleveldb/leveldb.(*DB).mpoolDrain"))
}
