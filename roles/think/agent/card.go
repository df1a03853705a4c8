package agent

import (
	"fmt"
	"strings"
	"time"
)

// Card says what an agent program was seen to do.
type Card struct {
	Name    string    `json:"name"`
	Title   string    `json:"title"`
	Backend string    `json:"backend"`
	Version string    `json:"version"`
	Date    time.Time `json:"date"`
	OK      bool      `json:"ok"`
	Checks  []Check   `json:"checks"`

	Usage     bool     `json:"reports_usage"`
	Cost      bool     `json:"reports_cost"`
	Session   bool     `json:"reports_session"`
	Leftovers int      `json:"leftovers"` // processes it left behind, which orch ended
	Missing   []string `json:"missing,omitempty"`
}

// Check is one line of a card.
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	TookMS int64  `json:"took_ms"`
}

// Markdown is the card as docs/agents.md has it.
func (c Card) Markdown() string {
	var b strings.Builder
	verdict := "passes"
	if !c.OK {
		verdict = "does not pass: " + strings.Join(c.Missing, ", ")
	}
	fmt.Fprintf(&b, "### %s %s over %s\n\n%s, %s. Usage: %s, cost: %s, session id: %s.\n\n| check | | seen | ms |\n|---|---|---|---|\n",
		c.Title, c.Version, c.Backend, c.Date.Format("2006-01-02"), verdict, yesNo(c.Usage), yesNo(c.Cost), yesNo(c.Session))
	for _, k := range c.Checks {
		mark := "✓"
		if !k.OK {
			mark = "✗"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %d |\n", k.Name, mark, strings.ReplaceAll(k.Detail, "|", "\\|"), k.TookMS)
	}
	return b.String()
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
