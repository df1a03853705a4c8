package config

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"orch/blackboard/message"
)

// Key documents one number or name that can be set.
type Key struct {
	Path     string
	Unit     string
	Min, Max float64  // for numbers
	Values   []string // for names
	Doc      string
}

// Keys lists every scalar key in the order of the file.
func Keys() []Key {
	const day = 24 * 3_600_000
	unset := "-1 means the policy's own default"
	return []Key{
		{Path: "controller.policy", Values: message.Policies(), Doc: "which rules choose the change after a failed round"},
		{Path: "controller.alpha", Min: -1, Max: 10, Doc: "weight of the distance D; " + unset},
		{Path: "controller.beta", Min: -1, Max: 10, Doc: "weight of the implausibility P; " + unset},
		{Path: "controller.lambda", Min: -1, Max: 10, Doc: "weight of the resource cost Ω; " + unset},
		{Path: "controller.w1", Min: -1, Max: 10, Doc: "weight of replans in Ω; " + unset},
		{Path: "controller.w2", Min: -1, Max: 10, Doc: "weight of active time in Ω; " + unset},
		{Path: "controller.w3", Min: -1, Max: 10, Doc: "weight of cost in Ω; " + unset},
		{Path: "controller.epsilon", Min: -1, Max: 1, Doc: "|∇L| below this is a plateau; " + unset},
		{Path: "controller.delta", Min: -1, Max: 1, Doc: "D at or below this is success; " + unset},
		{Path: "controller.rho", Min: -1, Max: 1, Doc: "P above this is a wrong approach; " + unset},
		{Path: "controller.theta", Min: -1, Max: 1, Doc: "Ω at or above this abandons; " + unset},
		{Path: "controller.max_replans", Unit: "replans", Min: 0, Max: 1000, Doc: "0 means the policy's own default"},
		{Path: "controller.time_budget_ms", Unit: "ms", Min: 0, Max: 30 * day, Doc: "active time of a goal; 0 means what its backends and profile need: 5 min to 24 h"},
		{Path: "controller.law2", Unit: "rounds", Min: 0, Max: 100, Doc: "worsening rounds in a row that abandon; 0 means 2"},
		{Path: "limits.jobs", Unit: "steps", Min: 1, Max: 256, Doc: "steps at once"},
		{Path: "limits.corrections", Unit: "attempts", Min: 0, Max: 20, Doc: "corrections of the fast loop"},
		{Path: "limits.step_wall_ms", Unit: "ms", Min: 1000, Max: 7 * day, Doc: "longest run of one step"},
		{Path: "limits.step_idle_ms", Unit: "ms", Min: 1000, Max: day, Doc: "longest time of a step without progress"},
		{Path: "limits.call_wall_ms", Unit: "ms", Min: 100, Max: day, Doc: "longest run of one tool call"},
		{Path: "limits.check_wall_ms", Unit: "ms", Min: 100, Max: day, Doc: "longest run of one check"},
		{Path: "limits.grace_ms", Unit: "ms", Min: 0, Max: 600_000, Doc: "between SIGTERM and SIGKILL"},
		{Path: "limits.output_bytes", Unit: "bytes", Min: 1024, Max: 1 << 30, Doc: "kept of one call's output"},
		{Path: "limits.crashes", Unit: "crashes", Min: 1, Max: 100, Doc: "of one activation before a person is asked"},
		{Path: "limits.kills", Unit: "kills", Min: 1, Max: 100_000, Doc: "from outside, of one activation before a person is asked"},
		{Path: "limits.lease_ms", Unit: "ms", Min: 1000, Max: day, Doc: "a claim without progress"},
		{Path: "limits.memory_wait_ms", Unit: "ms", Min: 0, Max: 60_000, Doc: "how long the planner's question to the memory may stay open"},
		{Path: "limits.hook_wall_ms", Unit: "ms", Min: 100, Max: 600_000, Doc: "longest run of one hook"},
		{Path: "limits.model_output", Unit: "characters", Min: 100, Max: 1_000_000, Doc: "of a call's output fed to a model"},
		{Path: "limits.plan_rejections", Unit: "plans", Min: 1, Max: 10, Doc: "refused plans in a round before the round counts as failed"},
		{Path: "limits.model_turns", Unit: "turns", Min: 1, Max: 1000, Doc: "answers of a model in one attempt at a task"},
		{Path: "limits.model_idle_ms", Unit: "ms", Min: 10, Max: day, Doc: "longest silence of a model or agent"},
		{Path: "limits.model_wall_ms", Unit: "ms", Min: 100, Max: day, Doc: "longest time of one question to a model, with its retries"},
		{Path: "limits.model_retries", Unit: "retries", Min: 0, Max: 20, Doc: "of a question that failed for a passing reason"},
		{Path: "limits.model_wait_ms", Unit: "ms", Min: 0, Max: 600_000, Doc: "longest wait before a retry; a provider that asks for more is paused"},
		{Path: "limits.pause_ms", Unit: "ms", Min: 100, Max: day, Doc: "of an account that failed and that a fallback stands in for"},
		{Path: "limits.outage_ms", Unit: "ms", Min: 0, Max: 30 * day, Doc: "how long a goal waits for a provider that fails, before a person is asked"},
		{Path: "limits.outage_wait_ms", Unit: "ms", Min: 0, Max: 30 * day, Doc: "the same with --wait"},
		{Path: "limits.outage_pause_ms", Unit: "ms", Min: 10, Max: 300_000, Doc: "before a provider that failed is tried again the first time; doubles up to 5 minutes"},
		{Path: "budget.max_cost", Unit: "USD", Min: 0, Max: 1_000_000, Doc: "cap of a goal; 0 means none"},
		{Path: "budget.task", Unit: "USD", Min: 0, Max: 1_000_000, Doc: "cap of all steps on one task; 0 means none"},
		{Path: "budget.found_cap", Unit: "USD", Min: 0, Max: 1_000_000, Doc: "cap of a goal whose model was found and not configured; 0 means none"},
		{Path: "budget.reserve", Unit: "USD", Min: 0, Max: 1_000_000, Doc: "share of a run of an agent program, of a role that never spent anything yet"},
		{Path: "memory.off", Doc: "work without a memory; \"memory: off\" says the same"},
		{Path: "memory.settle_ms", Unit: "ms", Min: 0, Max: 600_000, Doc: "between the end of a goal and the consolidation that follows it"},
		{Path: "memory.every_ms", Unit: "ms", Min: 0, Max: 30 * day, Doc: "between consolidations by the clock; 0 means none"},
		{Path: "memory.notice", Min: 0, Max: 100, Doc: "attention from which a pair is not ignored"},
		{Path: "memory.lean", Min: 0, Max: 100, Doc: "decision beyond which a pair is preferred or avoided"},
		{Path: "memory.forget", Min: 0, Max: 100, Doc: "attention below which a pair is forgotten"},
		{Path: "memory.promote_attention", Min: 0, Max: 1_000, Doc: "attention from which a pair can become a rule"},
		{Path: "memory.promote_decision", Min: 0, Max: 1_000, Doc: "decision, for or against, from which it does"},
		{Path: "memory.bankrupt_k", Unit: "1/day", Min: 0, Max: 100, Doc: "decay of a rule that lost its trust"},
		{Path: "view.max_tasks", Unit: "tasks", Min: 1, Max: 100_000, Doc: "open tasks shown in state.yaml"},
		{Path: "journal.rotate_bytes", Unit: "bytes", Min: 4096, Max: 1 << 40, Doc: "size at which the log starts a new segment, at least 4 times the state"},
		{Path: "confine", Values: []string{"auto", "require", "off"}, Doc: "auto: as far as the machine can; require: no run where it can not; off: commands are not confined"},
		{Path: "code.integration", Doc: "branch that approved work is merged into; made from HEAD if absent"},
		{Path: "code.integration_command", Doc: "command that must pass on the merged tree; empty means code.test_command"},
		{Path: "code.test_command", Doc: "command run in every review; empty means what the project offers"},
		{Path: "code.setup", Doc: "command run once in every new worktree"},
		{Path: "code.setup_wall_ms", Unit: "ms", Min: 1000, Max: day, Doc: "longest run of code.setup"},
		{Path: "code.coders", Unit: "coders", Min: 0, Max: 256, Doc: "coders at once; 0 means as many as limits.jobs"},
		{Path: "code.reviewers", Unit: "reviewers", Min: 0, Max: 256, Doc: "code reviewers at once; 0 means as many as limits.jobs"},
		{Path: "code.max_iterations", Unit: "iterations", Min: 1, Max: 1000, Doc: "of one coder on one task before it is BLOCKED"},
		{Path: "code.review_cycles", Unit: "rejections", Min: 1, Max: 100, Doc: "of one coder's work on one task before it is BLOCKED"},
		{Path: "code.max_rescopes", Unit: "rescopes", Min: 0, Max: 100, Doc: "of one task and what replaced it before the controller is asked"},
		{Path: "code.keep_refs_days", Unit: "days", Min: 0, Max: 36500, Doc: "after the end of a goal, before orch board gc removes its refs of commits that a branch has"},
		{Path: "code.large_file_bytes", Unit: "bytes", Min: 1, Max: 1 << 40, Doc: "above it, a file of a change is not approved unless the reviewer accepts it by name"},
		{Path: "code.plan_review", Values: []string{"none", "human", "model"}, Doc: "who looks at a plan before it is worked on"},
		{Path: "code.reviewer_other_model", Doc: "the code reviewer must think with another model than the coder"},
		{Path: "code.crosscheck", Doc: "an approval needs a second one by the model of the crosscheck role"},
		{Path: "code.claim_backoff_ms", Unit: "ms", Min: 1000, Max: 600_000, Doc: "longest wait after a lost claim; the shortest is a second"},
		{Path: "code.claim_tries", Unit: "tries", Min: 1, Max: 100, Doc: "claims of one activation that may be lost in a row"},
		{Path: "code.escalate_first_ms", Unit: "ms", Min: 1, Max: 30 * day, Doc: "a checkpoint nobody answers is escalated after this"},
		{Path: "code.escalate_again_ms", Unit: "ms", Min: 1, Max: 30 * day, Doc: "and again after this"},
		{Path: "code.escalate_last_ms", Unit: "ms", Min: 1, Max: 30 * day, Doc: "and for the last time after this"},
		{Path: "checks.confirm", Unit: "runs", Min: 0, Max: 100, Doc: "of tests that were red in an earlier review of a task and are green now, alone; all must pass"},
		{Path: "checks.emptied_max", Unit: "functions", Min: 0, Max: 1000, Doc: "changed functions that a review empties to see whether a test notices; 0 means none"},
		{Path: "checks.suite_max_ms", Unit: "ms", Min: 0, Max: day, Doc: "what a review may spend on emptied functions; the largest changes come first"},
		{Path: "audit.attempts", Unit: "attempts", Min: 2, Max: 1000, Doc: "attempts of one task that the auditor calls too many"},
		{Path: "audit.crashes", Unit: "crashes", Min: 2, Max: 1000, Doc: "crashes of one activation that are too many"},
		{Path: "audit.rounds", Unit: "rounds", Min: 2, Max: 1000, Doc: "rounds in a row in which D does not fall below its best"},
		{Path: "audit.refusals", Unit: "refusals", Min: 2, Max: 1000, Doc: "of one role on one subject: appends, calls, plans"},
		{Path: "audit.thrash", Unit: "directives", Min: 2, Max: 100, Doc: "break_symmetry in a row with D not falling"},
		{Path: "audit.window", Unit: "samples", Min: 5, Max: 1000, Doc: "judgements or steps that are compared with those before"},
		{Path: "audit.drift", Min: 0.05, Max: 0.9, Doc: "change of a rate between windows that is drift"},
		{Path: "audit.spend_factor", Min: 1.1, Max: 1000, Doc: "mean spend of a window over that of the role's history"},
		{Path: "audit.stall_ms", Unit: "ms", Min: 1000, Max: 7 * day, Doc: "silence of an attended open goal"},
		{Path: "audit.rejection_ms", Unit: "ms", Min: 1000, Max: 30 * day, Doc: "a rejected task nobody takes up"},
		{Path: "audit.draft_ms", Unit: "ms", Min: 1000, Max: 30 * day, Doc: "a draft neither committed nor void"},
		{Path: "audit.pause_ms", Unit: "ms", Min: 1000, Max: 30 * day, Doc: "a pause or checkpoint nobody lifts"},
		{Path: "audit.flood_messages", Unit: "messages", Min: 100, Max: 1_000_000, Doc: "of one agent in one minute"},
		{Path: "audit.listed", Unit: "findings", Min: 5, Max: 10_000, Doc: "of one kind and goal listed one by one; the rest is counted"},
		{Path: "audit.similarity", Min: 0.3, Max: 1, Doc: "Levenshtein ratio from which two anomalies are the same"},
		{Path: "audit.retry_cluster", Unit: "anomalies", Min: 2, Max: 100, Doc: "similar retry loops that trip the circuit breaker"},
		{Path: "audit.debt_accumulation", Unit: "anomalies", Min: 2, Max: 100, Doc: "trade-offs leaving debt that trip it"},
		{Path: "audit.assumption_cascade", Unit: "anomalies", Min: 2, Max: 100, Doc: "similar failed assumptions that trip it"},
		{Path: "audit.workaround_pattern", Unit: "anomalies", Min: 2, Max: 100, Doc: "similar workarounds that trip it"},
		{Path: "audit.spec_gap_cluster", Unit: "anomalies", Min: 2, Max: 100, Doc: "similar gaps of a specification that trip it"},
		{Path: "audit.external_service_outage", Unit: "anomalies", Min: 2, Max: 100, Doc: "blockers by a similar service that trip it"},
		{Path: "strict", Doc: "every criterion is required"},
		{Path: "web_search.command", Doc: "command that searches the web: query on stdin, results on stdout"},
		{Path: "web_search.endpoint", Doc: "URL that searches the web: the query replaces {query}"},
	}
}

// Value reads the key from a configuration.
func (k Key) Value(c Config) any { return field(reflect.ValueOf(c), k.Path).Interface() }

// Range says in words what is allowed.
func (k Key) Range() string {
	switch {
	case len(k.Values) > 0:
		return strings.Join(k.Values, ", ")
	case k.Min == 0 && k.Max == 0:
		return ""
	}
	return plain(k.Min) + " to " + plain(k.Max)
}

// plain writes a number without an exponent.
func plain(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

func (k Key) check(c Config) string {
	v := field(reflect.ValueOf(c), k.Path)
	switch v.Kind() {
	case reflect.String:
		if len(k.Values) == 0 {
			return ""
		}
		for _, ok := range k.Values {
			if v.String() == ok {
				return ""
			}
		}
		return fmt.Sprintf("%s is %q, allowed: %s", k.Path, v.String(), k.Range())
	case reflect.Int, reflect.Int64:
		return k.inRange(float64(v.Int()))
	case reflect.Float64:
		return k.inRange(v.Float())
	}
	return ""
}

func (k Key) inRange(n float64) string {
	if n >= k.Min && n <= k.Max {
		return ""
	}
	return strings.TrimSpace(fmt.Sprintf("%s is %s, allowed: %s %s", k.Path, plain(n), k.Range(), k.Unit))
}

// field walks the yaml names of a path.
func field(v reflect.Value, path string) reflect.Value {
	for _, part := range strings.Split(path, ".") {
		for i := range v.NumField() {
			if yamlName(v.Type().Field(i)) == part {
				v = v.Field(i)
				break
			}
		}
	}
	return v
}

func yamlName(f reflect.StructField) string {
	return strings.Split(f.Tag.Get("yaml"), ",")[0]
}
