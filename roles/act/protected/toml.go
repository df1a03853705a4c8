package protected

import (
	"errors"
	"strings"

	"orch/blackboard/lazyregexp"
)

// errUnread says that a file is of a shape that is not read: it counts whole.
var errUnread = errors.New("it can not be read line by line")

// pair is one key of a TOML file with its path and its text.
type pair struct{ path, text string }

var tomlHead = lazyregexp.New(`^\s*\[\[?\s*([^\[\]]+?)\s*\]?\]\s*(?:#.*)?$`)

// readTOML reads keys with the path of their table. It knows strings and nesting
// well enough to tell what is a line of its own; what could hide a key from it,
// such as an escape in a key, it does not read.
func readTOML(text []byte) (all []pair, err error) {
	table, state := "", scan{}
	for line := range strings.Lines(string(text)) {
		if state.open() { // of a value that goes on
			if len(all) == 0 {
				return nil, errUnread
			}
			all[len(all)-1].text += line
			state.line(line)
			continue
		}
		trimmed := strings.TrimSpace(line)
		if trimmed == "" || strings.HasPrefix(trimmed, "#") {
			continue
		}
		if m := tomlHead.FindStringSubmatch(strings.TrimRight(line, "\r\n")); m != nil {
			if table, err = tomlPath(m[1]); err != nil {
				return nil, err
			}
			all = append(all, pair{table, ""})
			continue
		}
		key, value, ok := strings.Cut(trimmed, "=")
		if !ok {
			return nil, errUnread
		}
		name, err := tomlPath(key)
		if err != nil {
			return nil, err
		}
		if table != "" {
			name = table + "." + name
		}
		all = append(all, pair{name, trimmed + "\n"})
		state.line(value)
	}
	return all, nil
}

// tomlPath is a dotted key without quotes and blanks.
func tomlPath(key string) (string, error) {
	if strings.ContainsAny(key, "\\=") {
		return "", errUnread
	}
	parts := strings.Split(key, ".")
	for i := range parts {
		parts[i] = strings.Trim(strings.TrimSpace(parts[i]), `"'`)
	}
	return strings.Join(parts, "."), nil
}

// scan follows strings and nesting from line to line.
type scan struct {
	depth int
	quote string // `"""` or `'''` while inside of one
}

func (s *scan) open() bool { return s.depth > 0 || s.quote != "" }

func (s *scan) line(text string) {
	for i := 0; i < len(text); i++ {
		rest := text[i:]
		switch {
		case s.quote != "":
			if rest[0] == '\\' && s.quote == `"""` {
				i++
			} else if strings.HasPrefix(rest, s.quote) {
				i += 2
				s.quote = ""
			}
		case strings.HasPrefix(rest, `"""`), strings.HasPrefix(rest, `'''`):
			s.quote = rest[:3]
			i += 2
		case rest[0] == '"' || rest[0] == '\'':
			i += stringEnd(rest)
		case rest[0] == '#':
			return
		case rest[0] == '[' || rest[0] == '{':
			s.depth++
		case rest[0] == ']' || rest[0] == '}':
			s.depth = max(0, s.depth-1)
		}
	}
}

// stringEnd is where a string of one line ends.
func stringEnd(text string) int {
	for i := 1; i < len(text); i++ {
		if text[i] == '\\' && text[0] == '"' {
			i++
		} else if text[i] == text[0] {
			return i
		}
	}
	return len(text)
}

// within tells whether a path is a table's, below it, or above it in one line,
// as tool = { pytest = … } is.
func within(p pair, table string) bool {
	return p.path == table || strings.HasPrefix(p.path, table+".") || strings.HasPrefix(table, p.path+".") && p.text != ""
}

func tomlOf(tables ...string) func([]byte, reached) (entries, error) {
	return func(text []byte, _ reached) (entries, error) {
		all, err := readTOML(text)
		if err != nil {
			return nil, err
		}
		out := entries{}
		for _, p := range all {
			for _, table := range tables {
				if within(p, table) {
					out[p.path] += p.text
				}
			}
		}
		return out, nil
	}
}

var cargoKeys = lazyregexp.New(`(?:^|\.)(?:harness|doctest|autotests|autobenches)$|^(?:lib|bin|example)\.test$`)

// cargo reads what tests there are and how they are run.
func cargo(text []byte, _ reached) (entries, error) {
	all, err := readTOML(text)
	if err != nil {
		return nil, err
	}
	out := entries{}
	for _, p := range all {
		if p.path == "test" || strings.HasPrefix(p.path, "test.") || within(p, "profile.test") || within(p, "alias") || cargoKeys.MatchString(p.path) ||
			(p.path == "lib" || p.path == "package" || p.path == "test") && p.text != "" {
			out[p.path] += p.text
		}
	}
	return out, nil
}
