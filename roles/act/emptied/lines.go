package emptied

import (
	"fmt"
	"slices"
	"strings"
)

// mostCompared bounds the table that lines are compared in.
const mostCompared = 4 << 20

// run is a run of lines that differs: [a0,a1) before, [b0,b1) now.
type run struct{ a0, a1, b0, b1 int }

// runs compares two texts line by line.
func runs(a, b []string) []run {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	a, b = a[head:len(a)-tail], b[head:len(b)-tail]
	if len(a) == 0 && len(b) == 0 {
		return nil
	}
	if len(a) == 0 || len(b) == 0 || len(a)*len(b) > mostCompared {
		return []run{{head, head + len(a), head, head + len(b)}}
	}
	common := longest(a, b)
	var out []run
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		if i < len(a) && j < len(b) && a[i] == b[j] {
			i, j = i+1, j+1
			continue
		}
		r := run{i + head, 0, j + head, 0}
		for i < len(a) || j < len(b) {
			if i < len(a) && j < len(b) && a[i] == b[j] {
				break
			}
			if j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1] {
				i++
			} else {
				j++
			}
		}
		r.a1, r.b1 = i+head, j+head
		out = append(out, r)
	}
	return out
}

// longest has the length of the longest common part of a[i:] and b[j:].
func longest(a, b []string) [][]int {
	t := make([][]int, len(a)+1)
	for i := range t {
		t[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if t[i][j] = max(t[i+1][j], t[i][j+1]); a[i] == b[j] {
				t[i][j] = t[i+1][j+1] + 1
			}
		}
	}
	return t
}

func split(text []byte) []string { return strings.SplitAfter(string(text), "\n") }

// hunkChanges takes each run of changed lines back.
func hunkChanges(file string, before, now []byte) []Change {
	if before == nil {
		return nil // without the file nothing would be left to run
	}
	var all []Change
	old, new := split(before), split(now)
	for _, r := range runs(old, new) {
		if blank(old[r.a0:r.a1]) && blank(new[r.b0:r.b1]) {
			continue
		}
		text := slices.Concat(new[:r.b0], old[r.a0:r.a1], new[r.b1:])
		all = append(all, Change{File: file, Name: fmt.Sprintf("lines from %d", r.b0+1), Size: r.a1 - r.a0 + r.b1 - r.b0, Text: []byte(strings.Join(text, ""))})
	}
	return all
}

// blank tells whether lines hold no code, as far as that can be told of any
// language.
func blank(lines []string) bool {
	return !slices.ContainsFunc(lines, func(l string) bool {
		l = strings.TrimSpace(l)
		return l != "" && !strings.HasPrefix(l, "//") && !strings.HasPrefix(l, "# ") && !strings.HasPrefix(l, "/*") && !strings.HasPrefix(l, "* ")
	})
}
