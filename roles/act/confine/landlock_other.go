//go:build !linux

package confine

func landlockABI() int { return 0 }
