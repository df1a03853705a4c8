package main

import (
	"strings"

	"github.com/spf13/cobra"

	"orch/blackboard/message"
)

func newSubmit(a *app) *cobra.Command {
	var notes string
	c := &cobra.Command{
		Use: "submit", Short: "a coder's agent: end the iteration and ask for a review of the worktree", Args: cobra.NoArgs,
		Long: `Ask the step that started this command to end the iteration. The step looks at
the worktree when the agent is gone: what is not committed is committed, and the
commit the worktree is at is what is reviewed. Which task and which agent this
is, the step knows.`,
		Example: `  orch submit --notes "the third retry waits 4 s, as the spec says"`,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.through(c.Context(), message.ReviewRequested{Notes: notes})
		},
	}
	c.Flags().StringVar(&notes, "notes", "", "what the reviewer should know")
	return c
}

func newNoteBlocked(a *app) *cobra.Command {
	b := message.Blocked{Kind: message.BlockedSpec, BlockedQuestions: []string{}, Attempted: []string{}}
	environment := false
	c := &cobra.Command{
		Use: "blocked --reason TEXT --question TEXT", Short: "a coder's agent: end the iteration because the task can not be done as it is", Args: cobra.NoArgs,
		Long: `End the iteration as blocked: a specific reason, and one to three questions that
would unblock the task if they were answered. What the specs answer, style, and
what is only nice to have are no reason to block.`,
		Example: `  orch note blocked --reason "the spec does not say what a partial page is" \
    --question "Are partial results returned if page 3 of 5 fails?" --attempted "read specs/api.md"`,
		RunE: func(c *cobra.Command, _ []string) error {
			if environment {
				b.Kind = message.BlockedEnvironment
			}
			return a.through(c.Context(), b)
		},
	}
	fl := c.Flags()
	fl.StringVar(&b.BlockedReason, "reason", "", "what is in the way")
	fl.StringArrayVar(&b.BlockedQuestions, "question", nil, "what would unblock it, repeatable up to three times")
	fl.StringArrayVar(&b.Attempted, "attempted", nil, "what was tried, repeatable")
	fl.BoolVar(&environment, "environment", false, "the machine or a service is in the way, not the spec")
	return c
}

func newNoteHandoff(a *app) *cobra.Command {
	h := message.Handoff{Blockers: []string{}, FilesModified: []string{}, NextSteps: []string{}}
	c := &cobra.Command{
		Use: "handoff --summary TEXT --next TEXT", Short: "a coder's agent: end the iteration unfinished, and say how to go on", Args: cobra.NoArgs,
		Example: `  orch note handoff --summary "the parser is done, its tests are red" --next "make TestNested pass"`,
		RunE: func(c *cobra.Command, _ []string) error {
			h.Summary, h.NextAction = strings.TrimSpace(h.Summary), strings.TrimSpace(h.NextAction)
			return a.through(c.Context(), h)
		},
	}
	fl := c.Flags()
	fl.StringVar(&h.Summary, "summary", "", "what was done")
	fl.StringVar(&h.NextAction, "next", "", "what to do first")
	fl.StringVar(&h.Approach, "approach", "", "how it was gone about")
	fl.StringArrayVar(&h.NextSteps, "then", nil, "what to do after that, repeatable")
	fl.StringArrayVar(&h.Blockers, "blocker", nil, "what is in the way, repeatable")
	return c
}
