package chore

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"orch/blackboard/lazyregexp"
)

// digestBytes fits into what is kept as evidence of a criterion.
const digestBytes = 1500

var (
	telling = lazyregexp.New(`(?i)fail|error|panic|fatal|cannot|can't|not found|undefined|missing|no such|no required|expected|\bwant\b|stale|out of date|generate|format|` +
		`refused|timed? ?out|denied|exception|assert|traceback|no module|\bRan \d+ test|no tests ran|^go: |npm err|^make.*\*\*\*|[\w/.-]+\.\w{1,4}:\d+`)
	fine = lazyregexp.New(`^ok\s|\[no test files\]|^\s*--- (PASS|SKIP)|^\s*=== |^PASS$|^\s*(✓|✔)`)
)

// digest prints of a long output the lines that tell what went wrong, so that
// the cause is not lost between a thousand lines of success. Of an output that
// tells nothing it prints the end.
func digest(c call) error {
	if c.from == "" {
		return &usageError{"digest needs --from FILE", "orch chore digest --from FILE"}
	}
	f, err := os.Open(c.from)
	if err != nil {
		return fmt.Errorf("read the output: %w", err)
	}
	defer f.Close()
	kept, last, left, err := tellingLines(f)
	if err != nil {
		return fmt.Errorf("read the output: %w", err)
	}
	if len(kept) == 0 {
		kept = last
	}
	text := strings.Join(kept, "\n")
	if left > 0 {
		text += fmt.Sprintf("\n[… %d lines left out …]", left)
	}
	_, err = fmt.Fprintln(c.stdout, text)
	return err
}

// tellingLines returns the first lines that tell something, as many as fit, the
// last lines of all, and how many telling ones did not fit.
func tellingLines(r io.Reader) (kept, last []string, left int, err error) {
	size := 0
	lines := bufio.NewReaderSize(r, 64<<10)
	for {
		raw, long, readErr := lines.ReadLine()
		if readErr == io.EOF {
			return kept, last, left, nil
		}
		if readErr != nil {
			return kept, last, left, readErr
		}
		for long && readErr == nil { // the rest of an overlong line tells nothing more
			_, long, readErr = lines.ReadLine()
		}
		line := shorten(string(raw), 200)
		if last = append(last, line); len(last) > 7 {
			last = last[1:]
		}
		if fine.MatchString(line) || !telling.MatchString(line) {
			continue
		}
		if size += len(line) + 1; size > digestBytes {
			left++
			continue
		}
		kept = append(kept, line)
	}
}

func shorten(s string, max int) string {
	s = strings.TrimRight(strings.ToValidUTF8(s, "?"), " \t\r")
	if r := []rune(s); len(r) > max {
		return string(r[:max]) + "…"
	}
	return s
}
