package check

import "strings"

const (
	evidenceChars = 1000 // of what was seen, shown in a verdict
	failingChars  = 200  // of a line that says what failed
	detailLines   = 3    // indented under such a line, kept with it
)

// shown is the output as evidence: what a test runner says failed, wherever
// that stands, and the end, which says most of anything else.
func (r *ran) shown() string {
	out := strings.TrimSpace(string(r.Output()))
	if out == "" {
		return ""
	}
	return "\n" + telling(r.env.clean(out))
}

// telling cuts a text to its end, after the lines before it that say what
// failed: the runner of sixty packages may name the one at fault in the third.
func telling(s string) string {
	r := []rune(strings.ToValidUTF8(s, "�"))
	if len(r) <= evidenceChars {
		return string(r)
	}
	half := len(r) - evidenceChars/2
	if failed := failing(string(r[:half]), evidenceChars/2); failed != "" {
		return failed + "\n" + cut + string(r[half:])
	}
	return endOf(s)
}

// failing is the lines in which a runner says what failed, with what is
// indented under them, up to some characters.
func failing(s string, most int) string {
	var kept []string
	details := 0
	for line := range strings.SplitSeq(s, "\n") {
		line = strings.TrimRight(line, " \t\r")
		switch {
		case line != "FAIL" && verdictWords.MatchString(line):
			details = detailLines
		case details > 0 && strings.TrimLeft(line, " \t") != line:
			details--
		default:
			details = 0
			continue
		}
		line = startOf(line, failingChars)
		if most -= len([]rune(line)) + 1; most < 0 {
			break
		}
		kept = append(kept, line)
	}
	return strings.Join(kept, "\n")
}

// cut stands where text was left out.
const cut = "… "

// endOf keeps the last characters of a text.
func endOf(s string) string {
	r := []rune(strings.ToValidUTF8(s, "�"))
	if len(r) <= evidenceChars {
		return string(r)
	}
	return cut + string(r[len(r)-evidenceChars:])
}

// startOf keeps the first characters of a text.
func startOf(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + cut
	}
	return s
}
