package ledger

import (
	"bytes"
	"strings"

	"orch/blackboard/lazyregexp"
)

var tapTest = lazyregexp.New(`^(\s*)(not )?ok\b(?:\s+\d+)?(?:\s+-)?\s*(.*?)\s*(?:#\s*((?i:skip|todo))\b.*)?$`)

// TAP reads the Test Anything Protocol, with subtests as node and perl indent
// them; ok is false when the text is something else. A test without a name is
// known by its number.
func TAP(raw []byte) (l Ledger, ok bool) {
	var points []tapPoint
	yaml := -1 // how far the block is indented that says more about a point
	for line := range bytes.Lines(raw) {
		text := strings.TrimRight(string(line), "\r\n")
		trimmed := strings.TrimLeft(text, " ")
		indent := len(text) - len(trimmed)
		switch {
		case yaml >= 0:
			if trimmed == "..." && indent == yaml {
				yaml = -1
			}
		case trimmed == "---" && indent > 0:
			yaml = indent
		case tapPlan.MatchString(trimmed) || strings.HasPrefix(trimmed, "TAP version "):
			ok = true
		}
		if m := tapTest.FindStringSubmatch(text); m != nil && yaml < 0 {
			points = tapParent(points, indent, m)
		}
	}
	if !ok || len(points) == 0 && !bytes.Contains(raw, []byte("1..0")) {
		return Ledger{}, false
	}
	l.Saw("tap")
	for _, p := range points {
		l.Add(Name{"", p.name}, p.result)
	}
	return l, true
}

// tapPoint is one test point. A parent comes after its subtests and is indented
// less.
type tapPoint struct {
	indent int
	name   string
	result Result
}

func tapParent(points []tapPoint, indent int, m []string) []tapPoint {
	p := tapPoint{indent, strings.ReplaceAll(m[3], `\#`, "#"), Passed}
	if p.name == "" {
		p.name = strings.TrimSpace(m[0])
	}
	switch {
	case m[4] != "": // what is still to do says nothing, whatever its result
		p.result = Skipped
	case m[2] != "":
		p.result = Failed
	}
	for i := range points {
		if points[i].indent > indent {
			points[i].name, points[i].indent = p.name+"/"+points[i].name, indent
		}
	}
	return append(points, p)
}

var tapPlan = lazyregexp.New(`^1\.\.\d+\b`)
