package blackboard

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Redacted stands where a secret was.
const Redacted = "[redacted]"

// secretForms are tokens that are recognised by their form alone: how they
// begin, and what follows. One search for each beginning is many times faster
// than one pattern for all.
var secretForms = []struct{ begin, rest string }{
	{"sk-", `[A-Za-z0-9_-]{20,}`}, // OpenAI, Anthropic
	{"ghp_", `[A-Za-z0-9]{30,}`},
	{"gho_", `[A-Za-z0-9]{30,}`},
	{"ghu_", `[A-Za-z0-9]{30,}`},
	{"ghs_", `[A-Za-z0-9]{30,}`},
	{"ghr_", `[A-Za-z0-9]{30,}`},
	{"github_pat_", `[A-Za-z0-9_]{30,}`},
	{"glpat-", `[A-Za-z0-9_-]{20,}`},
	{"AKIA", `[A-Z0-9]{16}`},
	{"ASIA", `[A-Z0-9]{16}`},
	{"AIza", `[A-Za-z0-9_-]{35}`},
	{"xox", `[abprs]-[A-Za-z0-9-]{10,}`},
	{"npm_", `[A-Za-z0-9]{36}`},
	{"pypi-", `[A-Za-z0-9_-]{40,}`},
	{"sk_live_", `[A-Za-z0-9]{20,}`},
	{"rk_live_", `[A-Za-z0-9]{20,}`},
	{"eyJ", `[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}`}, // JSON web tokens
	{"BEGIN ", `[A-Z ]*PRIVATE KEY-----(?s:.*?)(?:END [A-Z ]*PRIVATE KEY|\z)`},
}

const (
	secretMinBytes = 8       // a shorter value would be found in innocent words
	secretMaxBytes = 1 << 16 // a longer one is no secret but a document
)

// KeysEnv names the variables that hold keys, as the configuration says and
// separated by commas. Whatever they are called, they are secrets.
const KeysEnv = "ORCH_KEYS"

// KeysIn are the names of the keys in an environment.
func KeysIn(environ []string) (names []string) {
	for _, variable := range environ {
		if list, ok := strings.CutPrefix(variable, KeysEnv+"="); ok && list != "" {
			names = append(names, strings.Split(list, ",")...)
		}
	}
	return names
}

// NewRedactor returns a function that replaces secrets in text: tokens of known
// form, and the values of those variables in environ ("NAME=value") that hold a
// secret by their names or as KeysEnv says. The text may not be valid UTF-8. It returns its
// argument if there is nothing to replace.
func NewRedactor(environ []string) func([]byte) []byte {
	values := secretValues(environ)
	patterns := make([]func() *regexp.Regexp, len(secretForms)) // few are ever needed
	for i, form := range secretForms {
		patterns[i] = sync.OnceValue(func() *regexp.Regexp {
			// At the start of a word: "task-…" is full of words that end in sk-.
			return regexp.MustCompile(`\b` + regexp.QuoteMeta(form.begin) + form.rest)
		})
	}
	return func(text []byte) []byte {
		for _, value := range values {
			if bytes.Contains(text, value) {
				text = bytes.ReplaceAll(text, value, []byte(Redacted))
			}
		}
		for i, form := range secretForms {
			if bytes.Contains(text, []byte(form.begin)) {
				text = patterns[i]().ReplaceAllLiteral(text, []byte(Redacted))
			}
		}
		return text
	}
}

// secretValues are the values to look for, longest first, so that none is
// replaced in part.
func secretValues(environ []string) [][]byte {
	name := regexp.MustCompile(`(?i)(key|token|secret|passw(or)?d|passphrase|credentials?|auth)$`)
	keys := KeysIn(environ)
	var values [][]byte
	for _, variable := range environ {
		key, value, _ := strings.Cut(variable, "=")
		named := slices.Contains(keys, key) && len(value) >= secretMinBytes && len(value) <= secretMaxBytes
		if named || name.MatchString(key) && looksSecret(value) {
			values = append(values, []byte(value))
		}
	}
	slices.SortFunc(values, func(a, b []byte) int { return len(b) - len(a) })
	return values
}

// looksSecret keeps ordinary words, flags and paths out: replacing them would
// spoil messages and hide nothing.
func looksSecret(value string) bool {
	if len(value) < secretMinBytes || len(value) > secretMaxBytes {
		return false
	}
	if strings.HasPrefix(value, "/") && strings.Count(value, "/") > 1 && !strings.ContainsAny(value, "+=") {
		return false
	}
	classes := map[string]bool{}
	for _, r := range value {
		switch {
		case 'a' <= r && r <= 'z':
			classes["lower"] = true
		case 'A' <= r && r <= 'Z':
			classes["upper"] = true
		case '0' <= r && r <= '9':
			classes["digit"] = true
		default:
			classes["other"] = true
		}
	}
	return len(classes) > 1 || len(value) >= 20
}

// RedactJSON applies redact to every string value of a JSON text. Names of
// fields, numbers and the syntax stay as they are, so the result is valid.
func RedactJSON(raw json.RawMessage, redact func([]byte) []byte) json.RawMessage {
	// What redact does not find in the whole can only hide behind escapes.
	clean := bytes.Equal(redact(bytes.Clone(raw)), raw)
	if clean && bytes.IndexByte(raw, '\\') < 0 {
		return raw
	}
	out := make([]byte, 0, len(raw))
	for at := 0; at < len(raw); {
		if raw[at] != '"' {
			out = append(out, raw[at])
			at++
			continue
		}
		end := stringEnd(raw, at)
		out = append(out, redactString(raw[at:end], isName(raw, end), redact)...)
		at = end
	}
	return out
}

// stringEnd is the position behind the string that begins at start.
func stringEnd(raw []byte, start int) int {
	for i := start + 1; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(raw)
}

// isName says whether the string that ends at end is the name of a field.
func isName(raw []byte, end int) bool {
	rest := bytes.TrimLeft(raw[end:], " \t\r\n")
	return len(rest) > 0 && rest[0] == ':'
}

func redactString(quoted []byte, name bool, redact func([]byte) []byte) []byte {
	var text string
	if name || json.Unmarshal(quoted, &text) != nil {
		return quoted
	}
	after := redact([]byte(text))
	if string(after) == text {
		return quoted
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(string(after)); err != nil { // not for a string
		return quoted
	}
	return bytes.TrimRight(buf.Bytes(), "\n")
}
