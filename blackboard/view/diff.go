package view

import (
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// contextLines is how many unchanged lines git shows around a change.
const contextLines = 3

// DiffYAML is what changed from view a to view b, as git diff shows it; empty
// if they are the same. The checksums are left out: they always differ.
func DiffYAML(a, b []byte) string {
	before, after := withoutChecksum(a), withoutChecksum(b)
	if before == after {
		return ""
	}
	const name = "state.yaml"
	text, err := udiff.ToUnified("a/"+name, "b/"+name, before, udiff.Lines(before, after), contextLines)
	if err != nil { // the library made the edits itself; if they do not fit, say at least that all differs
		text = "--- a/" + name + "\n+++ b/" + name + "\n"
	}
	return "diff --git a/" + name + " b/" + name + "\n" + text
}

func withoutChecksum(view []byte) string {
	s := string(view)
	if at := strings.LastIndex(s, checksumPrefix); at > 0 && s[at-1] == '\n' && Sealed(view) {
		return s[:at]
	}
	return s
}
