package main

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"orch/blackboard/visible"
)

// edge is the only way from this program to a terminal or a pipe. It makes
// every control character and every other character that hides something
// visible, wherever the text came from. Only what carries its mark becomes a
// style: the mark is a random word of this process that no text can know.
type edge struct {
	to   io.Writer
	tty  bool
	mark string
	cut  string // names the command that shows a cut line whole; empty: nothing is cut

	mu   sync.Mutex
	rest []byte // the beginning of a character or of a mark
	prev []byte // the last character, which decides how a joiner is shown
	used int    // bytes of the line so far
	over int    // bytes of the line that were left out
}

// lineBytes is how much of one line a terminal is shown: a line of a megabyte
// would scroll away everything else.
const lineBytes = 16 << 10

func newEdge(w io.Writer, cut string) *edge {
	e := &edge{to: w, tty: terminal(w)}
	if e.tty {
		word := make([]byte, 12)
		_, _ = rand.Read(word) // it never fails
		e.mark, e.cut = "\x1b"+hex.EncodeToString(word), cut
	}
	return e
}

// Fd lets the terminal's size be asked for.
func (e *edge) Fd() uintptr {
	if f, ok := e.to.(*os.File); ok {
		return f.Fd()
	}
	return ^uintptr(0)
}

// bare is the stream itself, for a program that the person works in.
func bare(w io.Writer) io.Writer {
	if e, ok := w.(*edge); ok {
		return e.to
	}
	return w
}

// Write passes p on. It reports p as written whole, or not at all.
func (e *edge) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	text := append(e.rest, p...)
	whole := len(text) - e.unfinished(text)
	e.rest = nil
	out := e.shown(text[:whole])
	e.rest = append(e.rest, text[whole:]...)
	if _, err := e.to.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// flush writes what was kept because more could have followed.
func (e *edge) flush() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.rest) > 0 {
		_, _ = e.to.Write(visible.Append(nil, e.rest)) // the program ends; nobody is left to tell
		e.rest = nil
	}
}

// unfinished counts the bytes at the end that may go on in the next write.
func (e *edge) unfinished(text []byte) int {
	if e.mark != "" {
		if at := bytes.LastIndexByte(text, '\x1b'); at >= 0 && len(text)-at < len(e.mark)+styleBytes {
			tail := string(text[at:])
			if strings.HasPrefix(e.mark, tail) || strings.HasPrefix(tail, e.mark) && !strings.ContainsAny(tail[len(e.mark):], "mk") {
				return len(tail)
			}
		}
	}
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if at := text[len(text)-n:]; utf8.RuneStart(at[0]) {
			if !utf8.FullRune(at) {
				return n
			}
			break
		}
	}
	return 0
}

// shown is what is written for text.
func (e *edge) shown(text []byte) []byte {
	out := make([]byte, 0, len(text)+len(text)/8)
	for len(text) > 0 {
		next := len(text)
		if e.mark != "" {
			if at := bytes.Index(text, []byte(e.mark)); at >= 0 {
				next = at
			}
		}
		out = e.appendLines(out, text[:next])
		if text = text[next:]; len(text) > 0 {
			seq, n := styleOf(text[len(e.mark):])
			out, text = append(out, seq...), text[len(e.mark)+n:]
		}
	}
	return out
}

// appendLines adds text that is not ours, and cuts lines that are too long.
func (e *edge) appendLines(out, text []byte) []byte {
	for len(text) > 0 {
		line, ends := text, false
		if at := bytes.IndexByte(text, '\n'); at >= 0 {
			line, ends = text[:at], true
		}
		text = text[len(line):]
		out = e.appendLine(out, line)
		if ends {
			if e.over > 0 {
				out = fmt.Appendf(out, "… %d bytes more: %s", e.over, e.cut)
			}
			out, text = append(out, '\n'), text[1:]
			e.used, e.over, e.prev = 0, 0, nil
		}
	}
	return out
}

func (e *edge) appendLine(out, line []byte) []byte {
	if len(line) == 0 {
		return out
	}
	room := len(line)
	if e.cut != "" {
		room = min(room, max(lineBytes-e.used, 0))
		for room > 0 && room < len(line) && !utf8.RuneStart(line[room]) {
			room--
		}
	}
	e.used, e.over = e.used+room, e.over+len(line)-room
	// A joiner is shown by what stands before it, which may have been written before.
	skip := len(visible.Append(nil, e.prev))
	out = append(out, visible.Append(nil, append(bytes.Clone(e.prev), line[:room]...))[skip:]...)
	_, n := utf8.DecodeLastRune(line)
	e.prev = bytes.Clone(line[len(line)-n:])
	return out
}

// styleBytes bounds what follows a mark.
const styleBytes = 4

// styleOf reads what follows a mark: a colour, or the order to wipe the line.
func styleOf(text []byte) (seq string, n int) {
	end := bytes.IndexAny(text, "mk")
	switch {
	case end < 0 || end >= styleBytes:
		return "", 0
	case text[end] == 'k':
		return "\r\x1b[2K", end + 1
	}
	return "\x1b[" + string(text[:end]) + "m", end + 1
}

// wiped is what clears the line the cursor is in; empty where no cursor is.
func wiped(w io.Writer) string {
	if e, ok := w.(*edge); ok && e.mark != "" {
		return e.mark + "k"
	}
	return ""
}

// say prints a format of ours. What is put into it stays within its line, so
// that no text can add a line that looks like ours; a block may have lines.
func say(w io.Writer, format string, args ...any) (int, error) {
	held := make([]any, len(args))
	for i, arg := range args {
		held[i] = arg
		switch reflect.ValueOf(arg).Kind() {
		case reflect.Int, reflect.Int64, reflect.Uint64, reflect.Float64:
			if _, named := arg.(fmt.Stringer); named {
				held[i] = inLine{arg}
			}
		default:
			if _, free := arg.(block); !free {
				held[i] = inLine{arg}
			}
		}
	}
	return fmt.Fprintf(w, format, held...)
}

// sayLine prints one line, whatever is in it.
func sayLine(w io.Writer, text string) (int, error) { return say(w, "%s\n", text) }

// block is text that may have lines.
type block string

// under is text whose further lines stand under its first, below a head of n
// columns.
func under(n int, text string) block {
	return block(strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+strings.Repeat(" ", n)))
}

// quoted is text of somebody else, which on a terminal is told from ours by a
// bar before each line.
func quoted(w io.Writer, text string) block {
	if terminal(w) {
		text = "│ " + strings.ReplaceAll(text, "\n", "\n│ ")
	}
	return block(text)
}

// inLine prints a value with its line feeds made visible.
type inLine struct{ value any }

// Format prints the value as its verb asks.
func (v inLine) Format(f fmt.State, verb rune) {
	_, _ = io.WriteString(f, lined(fmt.Sprintf(fmt.FormatString(f, verb), v.value)))
}

// lined is text within one line.
func lined(s string) string { return strings.ReplaceAll(s, "\n", `\n`) }

// plain is one line with what is hidden made visible and its styles kept, for
// who needs to know how wide it will be.
func plain(w io.Writer, line string) string {
	e, ok := w.(*edge)
	if !ok || e.mark == "" {
		return visible.Text(lined(line))
	}
	parts := strings.Split(line, e.mark)
	for i, part := range parts {
		parts[i] = visible.Text(lined(part))
	}
	return strings.Join(parts, e.mark)
}

// wholeBy is the command that shows what a terminal is not shown of a line:
// the same again where it only reads, else what prints the record of it. Empty
// if nothing is to be left out.
func wholeBy(args []string, reads bool) string {
	var words []string
	if slices.Contains(args, "--json") {
		return "" // for a program, which a cut would leave without JSON
	}
	for _, arg := range args {
		if strings.ContainsFunc(arg, func(r rune) bool { return !strings.ContainsRune(bareWord, r) }) || arg == "" {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		words = append(words, lined(visible.Text(arg)))
	}
	line := "orch " + strings.Join(words, " ")
	if !reads || len(line) > 200 {
		line = "orch log --json"
	}
	return line + " | less -S"
}

// cutBy names the command that shows whole what a terminal is shown cut.
func cutBy(w io.Writer, command string) {
	if e, ok := w.(*edge); ok && e.tty {
		e.cut = command
	}
}

const bareWord = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,@+"
