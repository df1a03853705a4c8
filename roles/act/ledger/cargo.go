package ledger

import (
	"bytes"
	"strings"

	"orch/blackboard/lazyregexp"
)

var (
	// cargoSuite finds, on standard error, the binary whose tests come next.
	cargoSuite = lazyregexp.New(`^\s+(?:Running (?:unittests )?(\S+) \((?:.*[/\\])?([^/\\)]+?)(?:-[0-9a-f]{16})?(?:\.exe)?\)|Doc-tests (\S+))$`)
	// cargoTest finds a test with its result. Without --nocapture nothing that a
	// test prints stands on lines of its own before the summary of failures.
	cargoTest = lazyregexp.New(`^test (.+?)(?: - should panic)? \.\.\. (ok|FAILED|ignored)(?:,.*)?$`)
	// nextestTest finds the same in what cargo nextest writes to standard error.
	nextestTest = lazyregexp.New(`^\s+(?:TRY \d+ )?(PASS|FAIL|SKIP|TIMEOUT|SIG\w+|ABORT|LEAK) \[[^\]]*\]\s+(?:\(\s*\d+/\d+\)\s+)?(\S+)\s+(\S+)$`)
)

// Cargo reads what cargo test printed. The order between standard output and
// standard error is lost, so suites are matched by their order in each.
func Cargo(stdout, stderr []byte) Ledger {
	var l Ledger
	l.Saw("cargo")
	var suites []string
	for raw := range bytes.Lines(stderr) {
		text := strings.TrimRight(string(raw), "\r\n")
		if m := cargoSuite.FindStringSubmatch(text); m != nil {
			suites = append(suites, cargoName(m))
		}
		if m := nextestTest.FindStringSubmatch(text); m != nil {
			l.Add(Name{m[2], m[3]}, nextestResult(m[1]))
		}
		if strings.HasPrefix(text, "error: could not compile") {
			l.Break("cargo", NotCompiled)
		}
	}
	suite, at, summary := "", 0, false
	for raw := range bytes.Lines(stdout) {
		text := strings.TrimRight(string(raw), "\r\n")
		switch {
		case cargoBegin.MatchString(text):
			suite, summary = "", false
			if at < len(suites) {
				suite = suites[at]
			}
			at++
		case text == "failures:":
			summary = true
		case !summary:
			if m := cargoTest.FindStringSubmatch(text); m != nil {
				l.Add(Name{suite, m[1]}, map[string]Result{"ok": Passed, "FAILED": Failed, "ignored": Skipped}[m[2]])
			}
		}
	}
	return l
}

var cargoBegin = lazyregexp.New(`^running \d+ tests?$`)

func cargoName(m []string) string {
	if m[3] != "" {
		return "doc-tests " + m[3]
	}
	return m[2] + " " + m[1]
}

func nextestResult(word string) Result {
	switch word {
	case "PASS", "LEAK":
		return Passed
	case "SKIP":
		return Skipped
	}
	return Failed
}
