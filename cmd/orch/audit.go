package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"orch/blackboard"
	"orch/blackboard/journal"
	"orch/blackboard/message"
	"orch/roles/auditor"
	"orch/roles/run/config"
)

// exitFindings is how orch audit and orch agent test end when they found something.
const exitFindings = 5

// newAuditor is the resident; people use orch audit.
func newAuditor(a *app) *cobra.Command {
	var attached bool
	c := &cobra.Command{
		Use: "auditor", Short: "run the auditor (orch run does this by itself)", Args: cobra.NoArgs,
		Long: `Follow the log and keep .orch/audit/audit.jsonl until interrupted. Only one acts
at a time; a second one waits for its turn. Its settings are read from
config.yaml when it starts, and from nowhere else.`,
		Example: "  orch role auditor",
		RunE: func(c *cobra.Command, _ []string) error {
			ctx := c.Context()
			if attached {
				var cancel context.CancelFunc
				ctx, cancel = untilEOF(ctx, a.in)
				defer cancel()
			}
			return a.auditor(ctx)
		},
	}
	c.Flags().BoolVar(&attached, "attached", false, "stop when standard input ends (given by a supervisor)")
	if err := c.Flags().MarkHidden("attached"); err != nil {
		panic(err) // the flag is defined one line above
	}
	return c
}

func (a *app) auditor(ctx context.Context) error {
	root, err := a.root()
	if err != nil {
		return err
	}
	release, err := holdResident(ctx, root, message.Auditor)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	defer release()
	r := auditor.Resident{
		BoardDir: filepath.Join(root, blackboard.DirName), AuditDir: auditDir(root), Params: a.auditSettings(ctx, root),
		Journal: a.auditOptions(), Now: time.Now, Warn: a.warn, Known: blackboard.Known(root, a.options(person())),
	}
	return r.Run(ctx)
}

func auditDir(root string) string {
	return filepath.Join(root, blackboard.DirName, blackboard.AuditDir)
}

func (a *app) auditOptions() journal.Options { return journal.Options{UnsafeFS: a.unsafeFS} }

// auditSettings are the person's. A configuration that can not be read, or that
// nobody trusts, does not silence the auditor: then the defaults hold.
func (a *app) auditSettings(ctx context.Context, root string) config.Audit {
	cfg, err := a.trustedConfig(ctx, root)
	if err == nil {
		return cfg.Audit
	}
	a.warn(fmt.Errorf("audit with the default settings: %w", err))
	return config.Default().Audit
}

// auditFlags choose what orch audit says.
type auditFlags struct {
	since, goal, query, format string
	follow, report             bool
}

func newAudit(a *app) *cobra.Command {
	var f auditFlags
	c := &cobra.Command{
		Use: "audit", Short: "report what went wrong in the log; exit 0 clean, 5 findings", Args: cobra.NoArgs,
		Long: `Read the whole log, write what is found into .orch/audit/audit.jsonl, and report
it. Every finding names the messages that prove it; orch show prints them.
Ends with 0 if nothing was found, with 5 if something was. docs/audit.md defines
every finding and the language of --query.

--report writes report.md, report.json and report.html in .orch/audit as well;
--format prints one of them, so that it can be put where you like.`,
		Example: "  orch audit\n  orch audit --since 24h --json\n  orch audit --query 'severity = CRITICAL or kind = lease_loss'\n  orch audit --report\n  orch audit --format md > AUDIT.md",
		RunE: func(c *cobra.Command, _ []string) error {
			p, err := a.auditPicker(f)
			if err != nil {
				return err
			}
			if err := a.checkAuditForms(&p, f); err != nil {
				return err
			}
			if f.follow {
				return a.followAudit(c.Context(), p)
			}
			return a.audit(c.Context(), p)
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.since, "since", "", "only what was said after a duration ago (24h) or a time (RFC 3339)")
	fl.StringVar(&f.goal, "goal", "", "only this goal and the board as a whole")
	fl.StringVar(&f.query, "query", "", "only findings that fit, such as 'kind = stall and goal = fix_it'")
	fl.BoolVar(&f.report, "report", false, "write report.md, report.json and report.html in .orch/audit")
	fl.StringVar(&f.format, "format", "text", "what to print: text, md, html or json")
	fl.BoolVarP(&f.follow, "follow", "f", false, "go on as findings land, until interrupted")
	return c
}

// auditPicker picks findings.
type auditPicker struct {
	window auditor.Window
	query  auditor.Query
	asked  string // the query as it was given
	format string
	report bool // write the files as well
}

func (a *app) auditPicker(f auditFlags) (p auditPicker, err error) {
	p.window.Goal, p.asked = message.GoalID(f.goal), f.query
	if f.since != "" {
		if p.window.Since, err = parseSince(f.since, time.Now()); err != nil {
			return p, err
		}
	}
	p.query, err = auditor.ParseQuery(f.query)
	if err != nil {
		return p, usagef("for example 'kind = stall and not goal = fix_it'; docs/audit.md has the language", "--query: %s", err)
	}
	return p, nil
}

func (p auditPicker) pick(list []auditor.Finding) []auditor.Finding {
	out := []auditor.Finding{}
	for _, f := range p.window.Filter(list) {
		if p.query.Fits(f) {
			out = append(out, f)
		}
	}
	return out
}

// surveyed is the log as it was read just now.
type surveyed struct {
	*auditor.Auditor
	all    []auditor.Finding // the ledger's own damage first
	ledger journal.Head
}

// survey reads the log as of now and brings audit.jsonl up to date. It needs no
// resident, and does not disturb one.
func (a *app) survey(ctx context.Context, root string, w auditor.Window) (s surveyed, err error) {
	known := blackboard.Known(root, a.options(person()))
	ledger, err := auditor.OpenLedger(ctx, auditDir(root), a.auditOptions())
	if err != nil {
		return s, err
	}
	defer ledger.Close()
	dir := filepath.Join(root, blackboard.DirName)
	s.Auditor, err = auditor.Survey(ctx, dir, a.auditOptions(), a.auditSettings(ctx, root), w, time.Now(), append(known, ledger.Pins()...))
	if err != nil {
		return s, err
	}
	if what := journal.Unfinished(dir, a.auditOptions()); what != "" {
		time.Sleep(settleEnd) // a writer may be at it
		if what == journal.Unfinished(dir, a.auditOptions()) {
			s.Auditor.Unfinished(what)
		}
	}
	if _, err := ledger.Record(ctx, s.Findings(), s.Head()); err != nil {
		return s, err
	}
	s.all = append(ledger.Damage(), s.Findings()...)
	s.ledger, err = ledger.Head()
	return s, err
}

func (a *app) audit(ctx context.Context, p auditPicker) error {
	root, err := a.root()
	if err != nil {
		return err
	}
	s, err := a.survey(ctx, root, p.window)
	if err != nil {
		return err
	}
	picked := p.pick(s.all)
	if p.report {
		if err := a.writeReports(root, s.report(p, picked)); err != nil {
			return err
		}
	}
	if err := a.printAudit(s, p, picked); err != nil {
		return err
	}
	if len(picked) > 0 {
		return &exitError{code: exitFindings}
	}
	return nil
}
