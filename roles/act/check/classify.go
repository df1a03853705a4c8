package check

import (
	"strings"

	"orch/blackboard/lazyregexp"
)

// verdictWords are what test runners and compilers print when the code under
// them is wrong. With one of them in the output the world was not in the way,
// whatever else a test may have printed.
var verdictWords = lazyregexp.New(`(?m)^\s*--- FAIL|^FAIL\b|^FAILED\b|AssertionError|^not ok \d|^E\s{2,}|Tests? failed|failing$|^\S+\.\w+:\d+:\d+: `)

// evidence is what a line at the end of a failed command's output proves.
var evidence = []struct {
	kind    Kind
	pattern *lazyregexp.Regexp
}{
	{KindTool, lazyregexp.New(`(?i)(^|: )(\S+: )?(command not found|not found)$|^(sh|bash|dash|zsh|env|/\S+): .*(not found|no such file or directory)|executable file not found|is not recognized as an internal or external command|no such command`)},
	{KindPermission, lazyregexp.New(`(?i)permission denied|operation not permitted|read-only file system|EACCES|EPERM|^\[denied\]`)},
	{KindTransient, lazyregexp.New(`(?i)connection (refused|reset|timed out)|ECONNREFUSED|ECONNRESET|ETIMEDOUT|i/o timeout|temporary failure in name resolution|could not resolve host|no such host|network is unreachable|TLS handshake timeout|too many requests|\b(HTTP|status)( code|/\d\.\d)?:? ?(429|50[0234])\b|\b(429 Too Many|502 Bad Gateway|503 Service Unavailable|504 Gateway)|EAI_AGAIN`)},
	{KindTool, lazyregexp.New(`(?i)^\S+: .*: no such file or directory$|no module named ['"]?(pytest|pip)\b|no space left on device`)},
}

// lastLines is how far from the end of the output evidence is looked for: what
// ended a command stands at the end.
const lastLines = 8

// Classify says what a failed command's exit code and output prove about the
// cause: environmental only on unmistakable evidence, logical otherwise.
func Classify(exit int, output string) (Class, Kind) {
	lines := ending(output, lastLines)
	if exit == 127 {
		return Environmental, KindTool
	}
	if exit == 126 {
		return Environmental, KindPermission
	}
	if verdictWords.MatchString(output) {
		return Logical, KindNone
	}
	for i := len(lines) - 1; i >= 0; i-- {
		for _, e := range evidence {
			if e.pattern.MatchString(lines[i]) {
				return Environmental, e.kind
			}
		}
	}
	return Logical, KindNone
}

// ending is the last lines that say something.
func ending(output string, n int) []string {
	var lines []string
	for l := range strings.SplitSeq(strings.TrimSpace(output), "\n") {
		if l = strings.TrimSpace(l); l != "" {
			lines = append(lines, l)
		}
	}
	return lines[max(0, len(lines)-n):]
}
