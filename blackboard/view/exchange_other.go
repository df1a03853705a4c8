//go:build !linux && !darwin

package view

import "errors"

// osExchange is not known here. The replacement then moves the old file aside
// first: for a moment there is no state.yaml, but no save is lost.
func osExchange(string, string) error { return errors.ErrUnsupported }
