package chore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// reportMark is the first line of every report: what starts with it may be replaced.
const reportMark = "<!-- report of orch chore -->"

// existsError says that a file in the way was not written by a chore.
type existsError struct{ path string }

func (e *existsError) Error() string { return e.path + " exists and is not a report of orch" }

// Hint says what to do.
func (e *existsError) Hint() string { return "name another file, or move this one away" }

// report joins parts into one Markdown file.
func report(c call) error {
	if c.out == "" || len(c.args) == 0 {
		return &usageError{"report needs --out FILE and parts", "orch chore report --out FILE PART…"}
	}
	parts, err := readParts(c.args)
	if err != nil {
		return err
	}
	old, err := os.ReadFile(c.out)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look at %s: %w", c.out, err)
	}
	if err == nil && !strings.HasPrefix(string(old), reportMark) {
		return &existsError{c.out}
	}
	title := c.title
	if title == "" {
		title = "Report"
	}
	text := renderReport(title, parts)
	if err := replace(c.out, []byte(text)); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.stdout, "wrote %s\n\n%s", Name(c.out).show(), summary(parts))
	return err
}

// readParts reads the parts that exist; a slot that was not asked for wrote none.
func readParts(paths []string) ([]*Part, error) {
	var parts []*Part
	for _, path := range paths {
		p, err := readPart(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	if len(parts) == 0 {
		return nil, errors.New("none of the parts exists: " + strings.Join(paths, ", "))
	}
	return parts, nil
}

func renderReport(title string, parts []*Part) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n# %s\n\n%s\n", reportMark, title, summary(parts))
	for _, p := range parts {
		b.WriteString(p.markdown(maxItems))
		b.WriteByte('\n')
	}
	return b.String()
}

func summary(parts []*Part) string {
	var b strings.Builder
	for _, p := range parts {
		fmt.Fprintf(&b, "- %s: %d\n", p.Title, p.Count)
	}
	return b.String()
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
