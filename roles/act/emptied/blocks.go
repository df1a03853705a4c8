package emptied

import (
	"slices"
	"strings"

	"orch/blackboard/lazyregexp"
)

// language says where a function begins that is laid out as usual: its head on
// lines of its own, its body indented further.
type language struct {
	head *lazyregexp.Regexp // of the first line: its indentation and its name
	open *lazyregexp.Regexp // of the line that ends the head
	stop string             // the statement that empties it
}

var (
	python = language{
		head: lazyregexp.New(`^(\s*)(?:async\s+)?def\s+(\w+)\s*\(`),
		open: lazyregexp.New(`:\s*(?:#.*)?$`),
		stop: "return",
	}
	script = language{
		head: lazyregexp.New(`^(\s*)(?:export\s+)?(?:default\s+)?(?:(?:public|private|protected|static|async|override|get|set)\s+)*` +
			`(?:function\s*\*?\s*(\w+)\s*[<(]|(?:const|let|var)\s+(\w+)\s*=\s*(?:async\s*)?(?:function\b.*\(|\(|\w+\s*=>)|(?:exports|module\.exports|\w+\.prototype)\.(\w+)\s*=\s*(?:async\s*)?(?:function\b|\()|\*?#?(\w+)\s*\([^;]*$)`),
		open: lazyregexp.New(`\{\s*(?://.*)?$`),
		stop: "return;",
	}
)

// keywords begin lines of code that look like the head of a method.
var keywords = strings.Fields("if for while switch catch function return with else do try super await new throw typeof constructor describe it test")

// block is a function in a file: its lines, and the first of its body.
type block struct {
	name             string
	from, body, to   int
	indent, indented string
}

// mostHead bounds the lines of the head of a function.
const mostHead = 20

// blocks finds the functions of a file.
func (l language) blocks(lines []string) []block {
	var all []block
	for i, line := range lines {
		m := l.head.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if m == nil {
			continue
		}
		name := strings.Join(m[2:], "")
		if slices.Contains(keywords, name) {
			continue
		}
		if b, ok := l.block(lines, i, m[1], name); ok {
			all = append(all, b)
		}
	}
	return all
}

func (l language) block(lines []string, from int, indent, name string) (block, bool) {
	b := block{name: name, from: from, indent: indent}
	for b.body = from; ; b.body++ {
		if b.body == len(lines) || b.body > from+mostHead {
			return b, false
		}
		if l.open.MatchString(strings.TrimRight(lines[b.body], "\r\n")) {
			b.body++
			break
		}
	}
	for b.to = b.body; b.to < len(lines); b.to++ {
		text := strings.TrimSpace(lines[b.to])
		if text == "" {
			continue
		}
		own := lines[b.to][:len(lines[b.to])-len(strings.TrimLeft(lines[b.to], " \t"))]
		if len(own) <= len(indent) {
			break
		}
		if b.indented == "" {
			b.indented = own
		}
	}
	return b, b.indented != ""
}

// code is what a function does, without its layout and comments.
func (b block) code(lines []string) string {
	var out []string
	for _, l := range lines[b.from:b.to] {
		l = strings.TrimSpace(l)
		if l != "" && !strings.HasPrefix(l, "#") && !strings.HasPrefix(l, "//") {
			out = append(out, l)
		}
	}
	return strings.Join(out, "\n")
}

// blockChanges empties each function that is new or no longer the same. Where none
// is, it takes the runs of changed lines back.
func blockChanges(l language, file string, before, now []byte) []Change {
	old, lines := split(before), split(now)
	had := map[string]bool{}
	for _, b := range l.blocks(old) {
		had[b.name+"\n"+b.code(old)] = true
	}
	var all []Change
	found := l.blocks(lines)
	for _, b := range found {
		if before != nil && had[b.name+"\n"+b.code(lines)] {
			continue
		}
		text := slices.Concat(lines[:b.body], []string{b.indented + l.stop + "\n"}, lines[b.body:])
		all = append(all, Change{File: file, Name: b.name, Size: b.to - b.from, Whole: true, Text: []byte(strings.Join(text, ""))})
	}
	if len(all) == 0 {
		return hunkChanges(file, before, now)
	}
	return all
}
