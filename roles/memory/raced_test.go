//go:build race

package memory

// raced tells that the race detector watches. Enumerations of one goroutine are
// ten times slower then and it has little to see in them, so a part of them is
// run; make test runs all of them without it.
const raced = true
