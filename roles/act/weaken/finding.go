package weaken

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"sync"

	"orch/blackboard/message"
)

// Kind says what a finding is about.
type Kind string

// The kinds.
const (
	DeletedTest        Kind = "deleted_test"
	SkippedTest        Kind = "skipped_test"
	RemovedAssertion   Kind = "removed_assertion"
	LoosenedAssertion  Kind = "loosened_assertion"
	ChangedExpectation Kind = "changed_expectation"
	SpecialCase        Kind = "special_case"
	MissingTests       Kind = "missing_tests"
	OrchFiles          Kind = "orch_files"
	HiddenText         Kind = "hidden_text"
	OutOfScope         Kind = "out_of_scope"
)

// Finding is one place where tests came to say less.
type Finding struct {
	Kind    Kind
	File    string
	Subject string // name of the test, entry or symbol; empty: the file as a whole
	Line    int    // in the new file; in the old one for what was removed
	What    string
	Sure    bool   // it rejects unless somebody accepts it by name; otherwise a reviewer looks at it
	Whole   bool   // it is about the change as a whole, and not only about what is in File
	Fix     string // what to do about it; empty for what the kind says
}

// idBytes of a digest make an ID.
const idBytes = 5

// ID is what a finding is accepted by. It stays the same while the finding is of
// the same kind, in the same file, about the same subject, whatever line that
// stands in now. Findings that share all three share the ID: they are shown and
// accepted as one.
func (f Finding) ID() string {
	sum := sha256.Sum256([]byte(strings.Join([]string{string(f.Kind), f.File, f.Subject}, "\x00")))
	return idPrefix + hex.EncodeToString(sum[:idBytes])
}

// idPrefix tells the ID of a finding from that of anything else.
const idPrefix = "f-"

// IsID tells whether a word has the form of an ID of a finding.
func IsID(word string) bool {
	digits, ok := strings.CutPrefix(word, idPrefix)
	_, err := hex.DecodeString(digits)
	return ok && err == nil && len(digits) == 2*idBytes
}

// fixes says what to do about a kind.
var fixes = sync.OnceValue(func() map[Kind]string {
	return map[Kind]string{
		DeletedTest:        "bring the test back, or move it with its assertions",
		SkippedTest:        "let the test run",
		RemovedAssertion:   "bring the assertion back, or one that demands as much",
		LoosenedAssertion:  "assert as much as before",
		ChangedExpectation: "keep the expectation, unless the spec demands another",
		SpecialCase:        "let the program behave the same whether it is tested or not",
		MissingTests:       "add tests that fail without the change and show done_when",
		HiddenText:         "write the character as an escape, or leave it out",
		OutOfScope:         "leave it as it was: the person said where the work may take place",
		OrchFiles:          "leave out of the commits what is below .orch: the board, its settings and hooks are a person's",
	}
})

// Blocker is the finding as a point of a review.
func (f Finding) Blocker(specRef string) message.Blocker {
	return message.Blocker{File: f.File, Line: max(f.Line, 1), Defect: string(f.Kind) + ": " + f.What, Fix: cmp.Or(f.Fix, fixes()[f.Kind]), SpecRef: specRef}
}

// Split parts findings into those that reject and those to look at.
func Split(all []Finding) (reject, look []Finding) {
	for _, f := range all {
		if f.Sure {
			reject = append(reject, f)
		} else {
			look = append(look, f)
		}
	}
	return reject, look
}
