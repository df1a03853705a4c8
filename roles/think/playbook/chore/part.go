package chore

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	partVersion = 1
	maxItems    = 10_000 // listed in a part; the count is always the whole
)

// Part is what one chore found. It is the file format between the chores.
type Part struct {
	Version int      `json:"version"`
	Chore   string   `json:"chore"`
	Kind    string   `json:"kind,omitempty"`
	Title   string   `json:"title"`
	Dir     string   `json:"dir"` // relative to the workspace, as it was given
	Top     int      `json:"top,omitempty"`
	Limit   int64    `json:"limit_bytes,omitempty"`
	Skip    string   `json:"skip,omitempty"` // a file left out: where the report goes
	Scanned Scan     `json:"scanned"`
	Count   int      `json:"count"` // findings, listed or not
	Items   []Item   `json:"items"`
	Notes   []string `json:"notes"`
}

// Scan is what was looked at.
type Scan struct {
	Files      int   `json:"files"`
	Dirs       int   `json:"dirs"`
	Bytes      int64 `json:"bytes"`
	Links      int   `json:"links"`      // symbolic links, not followed
	Unreadable int   `json:"unreadable"` // entries the system would not show
	Truncated  bool  `json:"truncated"`  // there was more than a chore looks at
}

// Item is one finding, or, with OK set, one thing found in order.
type Item struct {
	Path  Name   `json:"path,omitempty"`
	Line  int    `json:"line,omitempty"`
	Size  int64  `json:"size,omitempty"`  // bytes
	Time  string `json:"time,omitempty"`  // RFC 3339, UTC
	Group int    `json:"group,omitempty"` // items that belong together
	Area  string `json:"area,omitempty"`
	What  string `json:"what,omitempty"` // which rule or tag
	Text  string `json:"text,omitempty"`
	OK    bool   `json:"ok,omitempty"`
}

// Name is a path with slashes. One that is not valid UTF-8 is written as
// {"hex": …}, so that it can be found again.
type Name string

type hexName struct {
	Hex string `json:"hex"`
}

// MarshalJSON writes a string, or the bytes in hex.
func (n Name) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(n)) {
		return json.Marshal(string(n))
	}
	return json.Marshal(hexName{hex.EncodeToString([]byte(n))})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (n *Name) UnmarshalJSON(data []byte) error {
	var s string
	if err := json.Unmarshal(data, &s); err == nil {
		*n = Name(s)
		return nil
	}
	var h hexName
	if err := json.Unmarshal(data, &h); err != nil {
		return fmt.Errorf("read a name: %w", err)
	}
	raw, err := hex.DecodeString(h.Hex)
	*n = Name(raw)
	return err
}

// show is the name for people: quoted when it holds what a terminal would obey.
func (n Name) show() string {
	for _, r := range string(n) {
		if r == utf8.RuneError || !strconv.IsPrint(r) {
			return strconv.Quote(string(n))
		}
	}
	return string(n)
}

func (p *Part) add(it Item) {
	if !it.OK {
		p.Count++
	}
	if len(p.Items) < maxItems {
		p.Items = append(p.Items, it)
	}
}

func newPart(c call, chore, title string) *Part {
	return &Part{Version: partVersion, Chore: chore, Kind: c.kind, Title: title, Dir: filepath.ToSlash(c.dir), Skip: c.skip, Items: []Item{}, Notes: []string{}}
}

// writePart replaces the file as a whole.
func writePart(path string, v any) error {
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return replace(path, append(data, '\n'))
}

func replace(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("make the folder of %s: %w", path, err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".chore-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer os.Remove(tmp.Name()) // gone already once it is renamed
	_, err = tmp.Write(data)
	if err == nil {
		err = tmp.Chmod(0o644)
	}
	if closing := tmp.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

func readPart(path string) (*Part, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read a part of the report: %w", err)
	}
	var p Part
	if err := json.Unmarshal(data, &p); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if p.Version != partVersion || p.Chore == "" {
		return nil, fmt.Errorf("%s is not a part of a report (version %d, want %d)", path, p.Version, partVersion)
	}
	return &p, nil
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	return enc.Encode(v)
}

// line is an item for people.
func (it Item) line() string {
	var b strings.Builder
	if it.Path != "" {
		b.WriteString(it.Path.show())
		if it.Line > 0 {
			fmt.Fprintf(&b, ":%d", it.Line)
		}
	}
	for _, s := range []string{sizeText(it.Size), it.Time, it.What, it.Text} {
		if s != "" {
			if b.Len() > 0 {
				b.WriteString("  ")
			}
			b.WriteString(s)
		}
	}
	if it.OK {
		b.WriteString("  (in order)")
	}
	return b.String()
}

func sizeText(bytes int64) string {
	switch {
	case bytes == 0:
		return ""
	case bytes < 1<<10:
		return fmt.Sprintf("%d B", bytes)
	case bytes < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(bytes)/(1<<10))
	case bytes < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
}

// print writes the part for people.
func (p *Part) print(w io.Writer) error {
	_, err := io.WriteString(w, p.markdown(200))
	return err
}

// markdown renders at most max items.
func (p *Part) markdown(max int) string {
	var b strings.Builder
	files := "files"
	if p.Scanned.Files == 1 {
		files = "file"
	}
	fmt.Fprintf(&b, "## %s\n\n%d found in %d %s (%s) under %s\n", p.Title, p.Count, p.Scanned.Files, files, orZero(sizeText(p.Scanned.Bytes)), Name(p.Dir).show())
	for _, n := range p.Notes {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	if p.Scanned.Unreadable > 0 {
		fmt.Fprintf(&b, "note: %d entries could not be read\n", p.Scanned.Unreadable)
	}
	if p.Scanned.Truncated {
		b.WriteString("note: the tree is larger than what was looked at\n")
	}
	area, group := "", 0
	for i, it := range p.Items {
		if i == 0 {
			b.WriteByte('\n')
		}
		if i == max {
			fmt.Fprintf(&b, "- … and %d more\n", len(p.Items)-max)
			break
		}
		if it.Area != area {
			area = it.Area
			fmt.Fprintf(&b, "\n### %s\n\n", Name(area).show())
		}
		if it.Group != group {
			group = it.Group
			fmt.Fprintf(&b, "\nset %d:\n\n", group)
		}
		fmt.Fprintf(&b, "- %s\n", it.line())
	}
	return b.String()
}

func orZero(s string) string {
	if s == "" {
		return "0 B"
	}
	return s
}
