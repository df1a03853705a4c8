package executor

import (
	"slices"
	"strings"
	"unicode"

	"orch/blackboard/message"
	"orch/roles/act/tool"
	"orch/roles/think"
)

// shown tells whether something on record shows that a task is infeasible, so
// that it may be believed and is not corrected: a call of this attempt that orch
// itself made and that failed, or whose output the claim quotes. What an agent
// program reports of its own calls, and its run as a whole, prove nothing. An
// approach of code that has no further variant was run in earlier attempts.
func (a *attempt) shown(done think.Execution, calls []message.ToolCall) bool {
	if done.Exhausted && a.task.Attempt > 0 {
		return true
	}
	claim := plain(done.Infeasible)
	return slices.ContainsFunc(calls, func(c message.ToolCall) bool {
		if c.Observed || !slices.Contains(tool.Names(), tool.Name(c.Tool)) {
			return false
		}
		return c.Exit != 0 || c.Denied != "" || quotes(claim, plain(c.Head)) || quotes(claim, plain(c.Tail))
	})
}

// quoteRunes is how many letters and digits in a row are a quote.
const quoteRunes = 12

// quotes tells whether a claim has a quote of an output; both are plain.
func quotes(claim, output string) bool {
	said := []rune(output)
	for i := 0; i+quoteRunes <= len(said); i++ {
		if strings.Contains(claim, string(said[i:i+quoteRunes])) {
			return true
		}
	}
	return false
}

// plain is the letters and digits of a text, however it is spaced and written.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}
