package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// verdict says whether a bar is met.
type verdict string

const (
	met      verdict = "yes"
	missed   verdict = "NO"
	reported verdict = "–" // no bar, or one that does not gate
)

func meets(ok bool) verdict {
	if ok {
		return met
	}
	return missed
}

// result is one line of the table.
type result struct {
	what     string
	bar      string
	measured string
	floor    string // what it stands against, and the ratio
	verdict  verdict
	notes    []string // below the table
}

type numbered struct {
	number int
	result
}

// table collects results and prints them once.
type table struct {
	quick  bool
	before string // load of the machine
	rows   []numbered
}

func newTable(quick bool) *table { return &table{quick: quick, before: load()} }

func (t *table) add(number int, r result) { t.rows = append(t.rows, numbered{number, r}) }

func (t *table) print(out io.Writer) error {
	var sb strings.Builder
	fmt.Fprintf(&sb, "%s  %s/%s  %d cores  load %s → %s\n", time.Now().Format("2006-01-02 15:04"), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), t.before, load())
	if t.quick {
		sb.WriteString("quick: smaller boards and fewer rounds; these figures are not for the record\n")
	}
	w := tabwriter.NewWriter(&sb, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "\n#\twhat\tbar\tmeasured\tfloor, ratio\tmet")
	for _, r := range t.rows {
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\n", r.number, r.what, r.bar, r.measured, r.floor, r.verdict)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	sb.WriteString("\n")
	for _, r := range t.rows {
		for _, n := range r.notes {
			fmt.Fprintf(&sb, "%d: %s\n", r.number, n)
		}
	}
	if _, err := io.WriteString(out, sb.String()); err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	return nil
}

// load is the machine's load average of the last minute, where it tells.
func load() string {
	raw, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(raw), " ")
	return first
}

// ms prints a duration in milliseconds, as all bars are.
func ms(d time.Duration) string {
	v := float64(d) / float64(time.Millisecond)
	digits := 0
	switch {
	case v < 1:
		digits = 3
	case v < 10:
		digits = 2
	case v < 100:
		digits = 1
	}
	return strconv.FormatFloat(v, 'f', digits, 64) + " ms"
}

func times(ratio float64) string { return strconv.FormatFloat(ratio, 'f', 2, 64) + " ×" }
