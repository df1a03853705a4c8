package weaken

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"orch/blackboard/lazyregexp"
)

// line is one line of a hunk.
type line struct {
	op     byte // ' ', '+' or '-'
	text   string
	oldNo  int // 0 for what was added
	newNo  int // 0 for what was removed
	inside string
	block  int // number of the run of changed lines it belongs to; 0 for context
}

// file is one file of a diff.
type file struct {
	old, new string // empty: it was not there before, or is not any more
	lines    []line
}

// name is the file's present name, or its last.
func (f file) name() string {
	if f.new != "" {
		return f.new
	}
	return f.old
}

// maxLineBytes bounds what is read of a line of a diff; longer ones are no
// source text.
const maxLineBytes = 1 << 20

var hunkHead = lazyregexp.New(`^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)$`)

// parse reads a unified diff as git writes it. What is between the hunks and
// not understood is passed over: modes, similarity, binary files.
func parse(diff []byte) ([]file, error) {
	var files []file
	var p hunk
	for raw := range bytes.Lines(diff) {
		text := strings.TrimSuffix(strings.TrimSuffix(string(raw[:min(len(raw), maxLineBytes)]), "\n"), "\r")
		switch {
		case strings.HasPrefix(text, "diff --git "):
			files = append(files, file{})
			p = hunk{}
		case len(files) == 0:
		case !p.open && strings.HasPrefix(text, "--- "):
			files[len(files)-1].old = nameOf(text[4:], "a/")
		case !p.open && strings.HasPrefix(text, "+++ "):
			files[len(files)-1].new = nameOf(text[4:], "b/")
		case !p.open && strings.HasPrefix(text, "rename from "):
			files[len(files)-1].old = unquote(text[len("rename from "):])
		case !p.open && strings.HasPrefix(text, "rename to "):
			files[len(files)-1].new = unquote(text[len("rename to "):])
		case strings.HasPrefix(text, "@@ "):
			m := hunkHead.FindStringSubmatch(text)
			if m == nil {
				return nil, fmt.Errorf("read diff: hunk %q", text)
			}
			p.begin(m)
		case p.open && text != "" && strings.IndexByte(" +-", text[0]) >= 0:
			files[len(files)-1].lines = append(files[len(files)-1].lines, p.take(text))
		}
	}
	for i := range files {
		files[i].enclose()
	}
	return files, nil
}

// hunk follows the numbers of the lines.
type hunk struct {
	open         bool
	oldNo, newNo int
	section      string
	block        int
	changing     bool
}

func (h *hunk) begin(m []string) {
	h.open, h.section, h.changing = true, m[3], false
	h.oldNo, _ = strconv.Atoi(m[1])
	h.newNo, _ = strconv.Atoi(m[2])
}

func (h *hunk) take(text string) line {
	l := line{op: text[0], text: text[1:], inside: h.section}
	if l.op == ' ' {
		h.changing = false
	} else {
		if !h.changing {
			h.block++
		}
		h.changing, l.block = true, h.block
	}
	if l.op != '+' {
		l.oldNo = h.oldNo
		h.oldNo++
	}
	if l.op != '-' {
		l.newNo = h.newNo
		h.newNo++
	}
	return l
}

// nameOf is the name after --- or +++; empty for /dev/null.
func nameOf(text, prefix string) string {
	text, _, _ = strings.Cut(text, "\t")
	if text == "/dev/null" {
		return ""
	}
	return strings.TrimPrefix(unquote(text), prefix)
}

// unquote undoes git's quoting of unusual names.
func unquote(name string) string {
	if strings.HasPrefix(name, `"`) {
		if plain, err := strconv.Unquote(name); err == nil {
			return plain
		}
	}
	return name
}

// enclose says of each line which test it is in: the last declaration before
// it in the hunk, or what git wrote at the hunk's head. A removed declaration
// encloses removed lines only, an added one added lines and context.
func (f *file) enclose() {
	lang := languageOf(f.name())
	section, before, now := "", "", ""
	for i := range f.lines {
		l := &f.lines[i]
		if head := l.inside; head != section || i == 0 {
			section = head
			before = f.section(lang, head)
			now = before
		}
		if name := f.declares(lang, i); name != "" {
			if l.op != '+' {
				before = name
			}
			if l.op != '-' {
				now = name
			}
		}
		l.inside = now
		if l.op == '-' {
			l.inside = before
		}
	}
}

// section is the test that git's heading of a hunk names. In a file that holds
// the program too, a function's name alone says nothing.
func (f *file) section(lang language, head string) string {
	if lang.attribute == nil {
		return lang.test(head)
	}
	if testModule.MatchString(head) {
		return "tests"
	}
	return ""
}

var testModule = lazyregexp.New(`\bmod\s+(?:\w+_)?tests?\b`)

// declares is the name of the test that a line begins; empty if it begins
// none. In Rust the attribute stands on a line before.
func (f *file) declares(lang language, i int) string {
	name := lang.test(f.lines[i].text)
	if name == "" || lang.attribute == nil {
		return name
	}
	for j := i - 1; j >= 0 && j >= i-4; j-- {
		if f.lines[i].op != f.lines[j].op && f.lines[i].op != ' ' && f.lines[j].op != ' ' {
			continue
		}
		text := strings.TrimSpace(f.lines[j].text)
		if lang.attribute.MatchString(text) {
			return name
		}
		if !strings.HasPrefix(text, "#[") && !strings.HasPrefix(text, "//") {
			break
		}
	}
	return ""
}
