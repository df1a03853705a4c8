package gate

import (
	"strconv"
	"strings"
)

// splitFields joins pieces into fields: unquoted white space from expansions
// separates, quoted does not. A nil field is one whose ends can not be told.
func splitFields(pieces []piece, ifsChanged bool) []*field {
	var out []*field
	var cur *field
	add := func(text string, glob bool) {
		if cur == nil {
			cur = &field{}
		}
		cur.add(text, glob)
	}
	for _, p := range pieces {
		if !p.expanded {
			add(p.text, p.glob)
			continue
		}
		if ifsChanged && p.text != "" {
			return []*field{nil}
		}
		for rest := p.text; rest != ""; {
			n := strings.IndexAny(rest, " \t\n")
			if n < 0 {
				n = len(rest)
			}
			if n > 0 {
				add(rest[:n], p.glob)
			}
			if n < len(rest) {
				if cur != nil {
					out, cur = append(out, cur), nil
				}
				n++
			}
			rest = rest[n:]
		}
	}
	if cur != nil {
		out = append(out, cur)
	}
	return out
}

// add appends text to a field. Once a field is a pattern, literal text in it
// is escaped.
func (f *field) add(text string, glob bool) {
	switch {
	case glob && !f.glob:
		f.text, f.glob = quoteMeta(f.text)+text, true
	case f.glob && !glob:
		f.text += quoteMeta(text)
	default:
		f.text += text
	}
}

func quoteMeta(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune(`*?[]{}\`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// ansiC decodes the inside of $'…'.
func ansiC(s string) (string, bool) {
	if !strings.Contains(s, `\`) {
		return s, true
	}
	simple := map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', 'a': 7, 'b': 8, 'e': 27, 'E': 27, 'f': 12, 'v': 11, '\\': '\\', '\'': '\'', '"': '"', '?': '?'}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		if c, ok := simple[s[i]]; ok {
			b.WriteByte(c)
			continue
		}
		base, digits, from := 8, 3, i
		if s[i] == 'x' {
			base, digits, from = 16, 2, i+1
		}
		end := from
		for end < len(s) && end-from < digits && isDigit(s[end], base) {
			end++
		}
		n, err := strconv.ParseUint(s[from:end], base, 16)
		if err != nil || n == 0 || n > 127 {
			return "", false // \u, \c, bytes beyond ASCII: rare enough to ask
		}
		b.WriteByte(byte(n))
		i = end - 1
	}
	return b.String(), true
}

func isDigit(c byte, base int) bool {
	_, err := strconv.ParseUint(string(c), base, 8)
	return err == nil
}
