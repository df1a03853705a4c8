package report

import (
	"fmt"
	"strings"

	"orch/blackboard/message"
	"orch/roles/auditor"
)

// standRow is how one goal ended, or how it stands.
type standRow struct {
	Goal, How, Text, Rounds, Why string
	Good                         bool
	Next                         []string
}

func standRows(list []auditor.GoalStand) (rows []standRow, left int) {
	shown, left := last(list, maxRows)
	for _, s := range shown {
		r := standRow{Goal: name(string(s.Goal)), How: ended(s), Text: words(s.Text), Rounds: rounds(s.Rounds),
			Why: words(s.Why), Good: s.Result == message.Accept || s.Result == message.Success}
		for _, n := range s.Next {
			r.Next = append(r.Next, words(n))
		}
		rows = append(rows, r)
	}
	return rows, left
}

// words are text of the log; where there are none a dash stands.
func words(s string) string {
	if strings.TrimSpace(s) == "" {
		return "–"
	}
	return plain(s, maxMessageRunes)
}

func rounds(n int) string {
	if n == 1 {
		return "1 round"
	}
	return fmt.Sprintf("%d rounds", n)
}

// ended says in words how a goal ended.
func ended(s auditor.GoalStand) string {
	unmet := ""
	if s.Unmet > 0 {
		unmet = fmt.Sprintf(", %d criteria unmet", s.Unmet)
	}
	switch s.Result {
	case "":
		return "open"
	case message.Accept:
		return "accepted"
	case message.Success:
		return "success" + unmet
	case message.Abandon:
		return "given up" + unmet
	}
	return name(string(s.Result))
}

// needRow is something that waits for a person.
type needRow struct{ About, What, Command, Seq string }

func needRows(list []auditor.Need) (rows []needRow, left int) {
	shown, left := last(list, maxRows)
	for _, n := range shown {
		about := "the board"
		if n.Goal != "" {
			about = name(string(n.Goal))
		}
		rows = append(rows, needRow{about, words(n.What), words(n.Command), fmt.Sprint(n.Seq)})
	}
	return rows, left
}

// Lines says how goals ended and what needs a person, for a terminal.
func Lines(f auditor.Figures) (lines []string) {
	rows, left := standRows(f.Goals)
	if left += f.EndsGone; left > 0 {
		lines = append(lines, fmt.Sprintf("%d earlier goals are left out", left))
	}
	for _, r := range rows {
		lines = append(lines, strings.TrimRight(fmt.Sprintf("%s: %s after %s  %s", r.Goal, r.How, r.Rounds, r.Text), " "))
		for _, n := range r.Next {
			lines = append(lines, "    next: "+n)
		}
	}
	needs, _ := needRows(f.Needs)
	for _, n := range needs {
		lines = append(lines, fmt.Sprintf("needs you: %s, %s: %s", n.About, n.What, n.Command))
	}
	return lines
}

func (r Report) mdStands(b *strings.Builder) {
	rows, left := standRows(r.Figures.Goals)
	if left += r.Figures.EndsGone; len(rows) > 0 {
		b.WriteString("\n## Goals\n\n")
		if left > 0 {
			fmt.Fprintf(b, "%d earlier goals are left out.\n\n", left)
		}
	}
	for _, g := range rows {
		fmt.Fprintf(b, "- %s **%s** after %s", span(g.Goal), g.How, g.Rounds)
		for _, text := range []string{g.Text, g.Why} {
			fmt.Fprintf(b, "  \n  %s", span(text))
		}
		for _, n := range g.Next {
			fmt.Fprintf(b, "  \n  Next: %s", span(n))
		}
		b.WriteString("\n")
	}
	needs, left := needRows(r.Figures.Needs)
	if len(needs) > 0 {
		b.WriteString("\n## Needs a person\n\n")
	}
	for _, n := range needs {
		fmt.Fprintf(b, "- %s: %s, message %s: %s\n", span(n.About), span(n.What), n.Seq, span(n.Command))
	}
	if left > 0 {
		fmt.Fprintf(b, "- … and %d more\n", left)
	}
}
