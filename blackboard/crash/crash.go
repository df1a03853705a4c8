// Package crash decides what becomes of a panic in a goroutine: the process
// ends as it does for a panic of the command itself, with a report and an exit
// code of its own, and never with the runtime's, which means a wrong command line.
//
// It owns the one function that ends the process. Goroutines of the product are
// started through Go, and what other packages call in a goroutine of theirs is
// wrapped by Safe. It never lets a panic pass unseen, and never goes on after one.
package crash

import "sync/atomic"

var end atomic.Pointer[func(cause any)]

// Handle sets what ends the process after a panic in a goroutine. It is called
// where the panic was recovered, so its stack leads to the place. Without one,
// or if it returns, the panic goes on.
func Handle(f func(cause any)) { end.Store(&f) }

// Go runs f in a goroutine.
func Go(f func()) { go Safe(f)() }

// Safe is f for a goroutine that somebody else starts.
func Safe(f func()) func() {
	return func() {
		defer func() {
			cause := recover()
			if cause == nil {
				return
			}
			if f := end.Load(); f != nil {
				(*f)(cause)
			}
			panic(cause)
		}()
		f()
	}
}
