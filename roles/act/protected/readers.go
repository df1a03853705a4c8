package protected

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"

	"orch/blackboard/lazyregexp"
)

// runnerKeys are settings of runners in package.json.
var runnerKeys = []string{"jest", "mocha", "ava", "tap", "vitest", "nyc", "c8", "karma", "tape", "jasmine", "wireit", "nx"}

// packageJSON reads the scripts that are reached and the settings of runners.
func packageJSON(text []byte, r reached) (entries, error) {
	var file map[string]json.RawMessage
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, err
	}
	out := entries{}
	for _, key := range runnerKeys {
		if raw, there := file[key]; there {
			out[key] = compact(raw)
		}
	}
	var scripts map[string]json.RawMessage
	if raw, there := file["scripts"]; there {
		if err := json.Unmarshal(raw, &scripts); err != nil {
			return nil, err
		}
	}
	for name := range r.npm {
		if raw, there := scripts[name]; there {
			out["scripts."+name] = compact(raw)
		}
	}
	return out, nil
}

func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// iniOf reads sections whose names begin with one of some.
func iniOf(sections ...string) func([]byte, reached) (entries, error) {
	return func(text []byte, _ reached) (entries, error) {
		out, now, keep := entries{}, "", false
		for line := range strings.Lines(string(text)) {
			line = strings.TrimRight(line, " \t\r\n")
			if name, ok := strings.CutPrefix(line, "["); ok {
				now, _, _ = strings.Cut(name, "]")
				keep = slices.ContainsFunc(sections, func(s string) bool { return strings.HasPrefix(strings.TrimSpace(now), s) })
				continue
			}
			if trimmed := strings.TrimSpace(line); keep && trimmed != "" && trimmed[0] != '#' && trimmed[0] != ';' {
				out["["+now+"]"] += line + "\n"
			}
		}
		return out, nil
	}
}

var (
	hookHead = lazyregexp.New(`^(?:async\s+)?def\s+(pytest_\w+)|^(collect_ignore\w*|pytest_plugins)\b`)
	pyHead   = lazyregexp.New(`^(?:async\s+def|def|class|@|\w)`)
	pyName   = lazyregexp.New(`^(?:async\s+)?(?:def|class)\s+(\w+)`)
)

// conftest reads what a conftest.py does to every test: hooks, what is not
// collected, plugins, and fixtures that nobody has to ask for.
func conftest(text []byte, _ reached) (entries, error) {
	out, block := entries{}, ""
	end := func() {
		name := ""
		for line := range strings.Lines(block) {
			if m := hookHead.FindStringSubmatch(line); m != nil {
				name = m[1] + m[2]
			} else if m := pyName.FindStringSubmatch(line); m != nil && strings.Contains(block, "autouse") {
				name = m[1]
			}
			if name != "" {
				out[name] += block
				break
			}
		}
		block = ""
	}
	decorated := false
	for line := range strings.Lines(string(text)) {
		if pyHead.MatchString(line) && !decorated {
			end()
		}
		if pyHead.MatchString(line) {
			decorated = line[0] == '@'
		}
		block += line
	}
	end()
	return out, nil
}

// pom reads the plugins that run tests, where tests are, and what skips them.
func pom(text []byte, _ reached) (entries, error) {
	out, dec := entries{}, xml.NewDecoder(bytes.NewReader(text))
	var path []string
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		switch t := tok.(type) {
		case xml.StartElement:
			path = append(path, t.Name.Local)
			at := strings.Join(path, ".")
			name := strings.ToLower(t.Name.Local)
			if t.Name.Local != "plugin" && !strings.Contains(name, "test") && !strings.Contains(name, "surefire") && !strings.Contains(name, "failsafe") {
				continue
			}
			var e struct {
				Text string `xml:",innerxml"`
			}
			if err := dec.DecodeElement(&e, &t); err != nil {
				return nil, err
			}
			path = path[:len(path)-1]
			if t.Name.Local != "plugin" || strings.Contains(e.Text, "surefire") || strings.Contains(e.Text, "failsafe") || strings.Contains(strings.ToLower(e.Text), "skiptest") {
				out[at] += strings.Join(strings.Fields(e.Text), " ") + "\n"
			}
		case xml.EndElement:
			path = path[:len(path)-1]
		}
	}
}

var gradleTest = lazyregexp.New(`(?i)\btest\b|useJUnit|useTestNG|Test::class|\(Test\)`)

// gradle reads the lines of blocks and settings that speak of tests.
func gradle(text []byte, _ reached) (entries, error) {
	out, depth := entries{}, 0
	for line := range strings.Lines(string(text)) {
		if depth > 0 || gradleTest.MatchString(line) && !strings.Contains(line, "testImplementation") && !strings.Contains(line, "testRuntimeOnly") {
			out["test"] += strings.TrimSpace(line) + "\n"
			depth = max(0, depth+strings.Count(line, "{")-strings.Count(line, "}"))
		}
	}
	return out, nil
}

// vite reads a configuration that also says how tests run; one that does not is
// no matter of tests.
func vite(text []byte, _ reached) (entries, error) {
	if !bytes.Contains(text, []byte("test")) {
		return entries{}, nil
	}
	return entries{wholeFile: string(text)}, nil
}
