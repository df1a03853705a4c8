package step

import (
	"fmt"
	"unicode/utf8"
)

// Limits of what one message carries of texts that can be any size. A line of
// the log holds at most 1 MiB; what is cut is kept whole in the goal's folder.
const (
	OutputBytes   = 32 << 10 // of one task
	MergedBytes   = 128 << 10
	EvidenceBytes = 2 << 10
	AllBytes      = 400 << 10 // of all outputs and all evidence in one message
)

// Cut keeps the head and the tail of a text that is longer than the limit.
func Cut(s string, limitBytes int) string {
	if len(s) <= limitBytes {
		return s
	}
	half := limitBytes / 2
	head, tail := half, len(s)-half
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return fmt.Sprintf("%s\n[… %d bytes left out …]\n%s", s[:head], tail-head, s[tail:])
}

func firstChars(s string, n int) string {
	r := []rune(s)
	return string(r[:min(n, len(r))])
}

func lastChars(s string, n int) string {
	r := []rune(s)
	return string(r[len(r)-min(n, len(r)):])
}
