package chore

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"orch/blackboard/lazyregexp"
)

// tags are the words that mark what was left for later.
var tags = []string{"TODO", "FIXME", "HACK", "XXX"}

var tagPattern = lazyregexp.New(`(?:^|[^\pL\pN_])(TODO|FIXME|HACK|XXX)(\([^)]*\))?(?:[^\pL\pN_]|$)`)

// todoReport lists lines with a tag, by the area of the project they are in.
func todoReport(c call) (*Part, error) {
	p := newPart(c, "todo-report", "Left for later")
	byTag := map[string]int{}
	var items []Item
	scan, err := walk(c, true, func(f file) {
		text, err := readText(f)
		if err != nil {
			return
		}
		for i, line := range strings.Split(string(text), "\n") {
			m := tagPattern.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			byTag[m[1]]++
			items = append(items, Item{Path: Name(f.path), Line: i + 1, Area: area(f.path), What: m[1], Text: oneLine(after(line, m[1]))})
		}
	})
	if err != nil {
		return nil, err
	}
	p.Scanned = scan
	slices.SortStableFunc(items, func(a, b Item) int { return cmp.Compare(a.Area, b.Area) })
	for _, it := range items {
		p.add(it)
	}
	for _, t := range tags {
		if byTag[t] > 0 {
			p.Notes = append(p.Notes, t+": "+plural(byTag[t], "line"))
		}
	}
	return p, nil
}

// area is the first folder of a path.
func area(name string) string {
	if first, _, ok := strings.Cut(name, "/"); ok {
		return first
	}
	return path.Dir(name)
}

func after(line, tag string) string {
	_, rest, _ := strings.Cut(line, tag)
	return strings.TrimLeft(rest, ": \t")
}

// oneLine shortens a line for a report.
func oneLine(s string) string {
	s = strings.ToValidUTF8(strings.Join(strings.Fields(s), " "), "?")
	if r := []rune(s); len(r) > 160 {
		return string(r[:160]) + "…"
	}
	return s
}
