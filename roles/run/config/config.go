// Package config reads .orch/config.yaml: every number and name a person may
// want to change, each with a default, a unit and a range.
//
// It promises that an unknown key, a value of the wrong shape or one out of
// range is an error with the file, the line, what is wrong and what is
// allowed, and that nothing is half applied. It never writes the file and
// never reads the environment.
package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"reflect"
	"strings"

	"orch/blackboard/message"
	"orch/blackboard/plainfile"

	"gopkg.in/yaml.v3"
)

// Config is everything that can be set. The zero value is not usable; start from Default.
type Config struct {
	Controller Controller       `yaml:"controller"`
	Limits     Limits           `yaml:"limits"`
	Budget     Budget           `yaml:"budget"`
	Models     map[string]Model `yaml:"models"` // by role; "default" for the rest; other names are fallbacks
	Prices     map[string]Price `yaml:"prices"` // by model
	Allow      []string         `yaml:"allow"`  // permissions for every goal: "action:pattern", see docs/safety.md
	Deny       []string         `yaml:"deny"`   // what no permission can give
	Memory     Memory           `yaml:"memory"`
	View       View             `yaml:"view"`
	Journal    Journal          `yaml:"journal"`
	Search     Search           `yaml:"web_search"`
	Code       Code             `yaml:"code"` // what --profile code does
	Checks     Checks           `yaml:"checks"`
	Audit      Audit            `yaml:"audit"`
	Strict     bool             `yaml:"strict"` // every criterion is required

	Confine      string   `yaml:"confine"`       // auto, require or off; see docs/safety.md
	ConfineWrite []string `yaml:"confine_write"` // what a confined command may write beside its workspace
	ConfineHide  []string `yaml:"confine_hide"`  // what it must not see beside the person's keys
	ConfineShow  []string `yaml:"confine_show"`  // what it may see although it is hidden by default
}

// Audit holds the thresholds of the auditor. It reads them when it starts, and
// from nowhere else.
type Audit struct {
	Attempts         int     `yaml:"attempts"`           // of one task that are too many
	Crashes          int     `yaml:"crashes"`            // of one activation that are too many
	Rounds           int     `yaml:"rounds"`             // in a row in which D does not fall below its best
	Refusals         int     `yaml:"refusals"`           // of one role on one subject that are too many
	Thrash           int     `yaml:"thrash"`             // break_symmetry in a row with D not falling
	Window           int     `yaml:"window"`             // judgements or steps that are compared with those before
	Drift            float64 `yaml:"drift"`              // change of a rate between windows
	SpendFactor      float64 `yaml:"spend_factor"`       // mean spend of a window over that of the history
	StallMS          int64   `yaml:"stall_ms"`           // an attended open goal of which nothing is said
	RejectionMS      int64   `yaml:"rejection_ms"`       // a rejected task nobody takes up
	DraftMS          int64   `yaml:"draft_ms"`           // a draft whose plan is neither committed nor void
	PauseMS          int64   `yaml:"pause_ms"`           // a pause or checkpoint nobody lifts
	FloodMessages    int     `yaml:"flood_messages"`     // of one agent in one minute
	Listed           int     `yaml:"listed"`             // findings of one kind and goal that are listed one by one
	Similarity       float64 `yaml:"similarity"`         // Levenshtein ratio from which two texts say the same
	RetryCluster     int     `yaml:"retry_cluster"`      // similar retry loops
	DebtAccumulation int     `yaml:"debt_accumulation"`  // trade-offs that leave debt
	AssumptionFails  int     `yaml:"assumption_cascade"` // similar assumptions that did not hold
	Workarounds      int     `yaml:"workaround_pattern"` // similar workarounds
	SpecGaps         int     `yaml:"spec_gap_cluster"`   // similar gaps of the specification
	Outages          int     `yaml:"external_service_outage"`
}

// Controller holds the policy and its hyperparameters. A negative number means
// the policy's own default.
type Controller struct {
	Policy       string  `yaml:"policy"` // like-for-like, v0.8 or v0.7
	Alpha        float64 `yaml:"alpha"`
	Beta         float64 `yaml:"beta"`
	Lambda       float64 `yaml:"lambda"`
	W1           float64 `yaml:"w1"`
	W2           float64 `yaml:"w2"`
	W3           float64 `yaml:"w3"`
	Epsilon      float64 `yaml:"epsilon"`
	Delta        float64 `yaml:"delta"`
	Rho          float64 `yaml:"rho"`
	Theta        float64 `yaml:"theta"`
	MaxReplans   int     `yaml:"max_replans"`    // replans of a goal; 0: the policy's default (like-for-like 6, others 3)
	TimeBudgetMS int64   `yaml:"time_budget_ms"` // active time of a goal; 0: by backend and profile
	Law2         int     `yaml:"law2"`
}

// Limits bound what one step may do.
type Limits struct {
	Jobs           int   `yaml:"jobs"`            // steps at once
	Corrections    int   `yaml:"corrections"`     // of the fast loop
	StepWallMS     int64 `yaml:"step_wall_ms"`    // a step, from start to end
	StepIdleMS     int64 `yaml:"step_idle_ms"`    // a step without any progress
	CallWallMS     int64 `yaml:"call_wall_ms"`    // one tool call
	CheckWallMS    int64 `yaml:"check_wall_ms"`   // one check
	GraceMS        int64 `yaml:"grace_ms"`        // between SIGTERM and SIGKILL
	OutputBytes    int64 `yaml:"output_bytes"`    // kept of one call
	Crashes        int   `yaml:"crashes"`         // of one activation, by its own fault
	Kills          int   `yaml:"kills"`           // of one activation, from outside
	LeaseMS        int64 `yaml:"lease_ms"`        // of a claim, extended while there is progress
	MemoryWaitMS   int64 `yaml:"memory_wait_ms"`  // for an answer of the memory
	HookWallMS     int64 `yaml:"hook_wall_ms"`    // one hook
	ModelOutput    int   `yaml:"model_output"`    // characters of a call's output fed to a model
	PlanRejections int   `yaml:"plan_rejections"` // plans code refuses in one round before it counts as failed
	ModelTurns     int   `yaml:"model_turns"`     // answers of a model in one attempt at a task
	ModelIdleMS    int64 `yaml:"model_idle_ms"`   // a model or agent that says nothing
	ModelWallMS    int64 `yaml:"model_wall_ms"`   // one question to a model
	ModelRetries   int   `yaml:"model_retries"`   // of a question that failed for a passing reason
	ModelWaitMS    int64 `yaml:"model_wait_ms"`   // longest wait before a retry; a provider that asks for more is paused
	PauseMS        int64 `yaml:"pause_ms"`        // of an account that a fallback stands in for
	OutageMS       int64 `yaml:"outage_ms"`       // how long a goal waits for a provider that fails
	OutageWaitMS   int64 `yaml:"outage_wait_ms"`  // the same with --wait
	OutagePauseMS  int64 `yaml:"outage_pause_ms"` // before the first try again; doubles with each
}

// Budget bounds what may be spent, in US dollars. Zero means no cap.
type Budget struct {
	MaxCost  float64            `yaml:"max_cost"`  // a goal
	Role     map[string]float64 `yaml:"role"`      // all steps of one role in a goal
	Task     float64            `yaml:"task"`      // all steps on one task
	FoundCap float64            `yaml:"found_cap"` // a goal whose model nobody configured
	Reserve  float64            `yaml:"reserve"`   // share of a run of an agent program, of a role that has no history
}

// Memory says when the memory consolidates, and from where on what it knows counts.
type Memory struct {
	Off              bool    `yaml:"off"`               // nothing is learned, told or kept; "memory: off" says the same
	SettleMS         int64   `yaml:"settle_ms"`         // between the end of a goal and the pass that follows it
	EveryMS          int64   `yaml:"every_ms"`          // between passes by the clock; 0: none
	Notice           float64 `yaml:"notice"`            // attention from which a pair is not ignored
	Lean             float64 `yaml:"lean"`              // decision beyond which it is decided
	Forget           float64 `yaml:"forget"`            // attention below which a pair is forgotten
	PromoteAttention float64 `yaml:"promote_attention"` // attention from which a pair can become a rule
	PromoteDecision  float64 `yaml:"promote_decision"`  // decision from which it does
	BankruptK        float64 `yaml:"bankrupt_k"`        // decay of a rule that lost its trust
}

// View bounds the readable view.
type View struct {
	MaxTasks int `yaml:"max_tasks"`
}

// Journal bounds the log.
type Journal struct {
	RotateBytes int64 `yaml:"rotate_bytes"`
}

// Search configures the web_search tool.
type Search struct {
	Command  string `yaml:"command"`
	Endpoint string `yaml:"endpoint"`
}

// Checks says how much is done to find out whether tests can be believed.
type Checks struct {
	Confirm    int   `yaml:"confirm"`      // runs of tests that were red before and are green now
	EmptiedMax int   `yaml:"emptied_max"`  // changed functions that are emptied in a review
	SuiteMaxMS int64 `yaml:"suite_max_ms"` // what emptying and confirming may take in a review
}

// Code configures the coding profile; see docs/pair.md.
type Code struct {
	Integration     string `yaml:"integration"`         // branch that approved work is merged into
	Command         string `yaml:"integration_command"` // must pass on the merged tree; empty: the test command
	Test            string `yaml:"test_command"`        // run in every review; empty: what the project offers
	Setup           string `yaml:"setup"`               // run once in every new worktree
	SetupWallMS     int64  `yaml:"setup_wall_ms"`
	Coders          int    `yaml:"coders"`    // at once; 0: as many as there are jobs
	Reviewers       int    `yaml:"reviewers"` // at once; 0: as many as there are jobs
	MaxIterations   int    `yaml:"max_iterations"`
	ReviewCycles    int    `yaml:"review_cycles"`
	MaxRescopes     int    `yaml:"max_rescopes"`
	KeepRefsDays    int    `yaml:"keep_refs_days"`   // of an ended goal, before orch board gc removes those it may
	LargeFileBytes  int64  `yaml:"large_file_bytes"` // above it a file needs the reviewer's word
	PlanReview      string `yaml:"plan_review"`      // none, human or model
	OtherModel      bool   `yaml:"reviewer_other_model"`
	Crosscheck      bool   `yaml:"crosscheck"`
	ClaimBackoffMS  int64  `yaml:"claim_backoff_ms"`
	ClaimTries      int    `yaml:"claim_tries"`
	EscalateFirstMS int64  `yaml:"escalate_first_ms"`
	EscalateAgainMS int64  `yaml:"escalate_again_ms"`
	EscalateLastMS  int64  `yaml:"escalate_last_ms"`
}

// Default is the configuration of a board without config.yaml.
func Default() Config {
	return Config{
		Controller: Controller{Policy: message.LikeForLike, Alpha: -1, Beta: -1, Lambda: -1, W1: -1, W2: -1, W3: -1,
			Epsilon: -1, Delta: -1, Rho: -1, Theta: -1},
		Limits: Limits{Jobs: 4, Corrections: 2, StepWallMS: 30 * 60_000, StepIdleMS: 10 * 60_000, CallWallMS: 10 * 60_000,
			CheckWallMS: 10 * 60_000, GraceMS: 5_000, OutputBytes: 8 << 20, Crashes: 3, Kills: 200, LeaseMS: 60_000,
			MemoryWaitMS: 2_000, HookWallMS: 30_000, ModelOutput: 4_000, ModelTurns: 40, PlanRejections: 3,
			ModelIdleMS: 120_000, ModelWallMS: 15 * 60_000, ModelRetries: 3, ModelWaitMS: 10_000, PauseMS: 60_000,
			OutageMS: 10 * 60_000, OutageWaitMS: 24 * 3_600_000, OutagePauseMS: 5_000},
		Models: map[string]Model{},
		Prices: map[string]Price{},
		Budget: Budget{FoundCap: 5, Reserve: 0.05},
		Code: Code{Integration: "integration", SetupWallMS: 10 * 60_000, MaxIterations: 10, ReviewCycles: 5, MaxRescopes: 3, LargeFileBytes: 1 << 20, KeepRefsDays: 30,
			PlanReview: "none", ClaimBackoffMS: 5_000, ClaimTries: 3,
			EscalateFirstMS: 30 * 60_000, EscalateAgainMS: 2 * 3_600_000, EscalateLastMS: 8 * 3_600_000},
		Checks: Checks{Confirm: 5, EmptiedMax: 20, SuiteMaxMS: 10 * 60_000},
		Memory: Memory{SettleMS: 2_000, EveryMS: 3_600_000, Notice: 0.5, Lean: 0.2, Forget: 0.1,
			PromoteAttention: 5, PromoteDecision: 3, BankruptK: 0.05},
		View:    View{MaxTasks: 500},
		Journal: Journal{RotateBytes: 64 << 20},
		Confine: "auto",
		Audit: Audit{Attempts: 4, Crashes: 3, Rounds: 3, Refusals: 3, Thrash: 2, Window: 20, Drift: 0.3, SpendFactor: 3,
			StallMS: 30 * 60_000, RejectionMS: 60 * 60_000, DraftMS: 60 * 60_000, PauseMS: 24 * 60 * 60_000,
			FloodMessages: 6_000, Listed: 50, Similarity: 0.7, RetryCluster: 3, DebtAccumulation: 3,
			AssumptionFails: 2, Workarounds: 2, SpecGaps: 2, Outages: 2},
	}
}

// Error is one thing wrong with the configuration.
type Error struct {
	File string
	Line int // 0 when unknown
	What string
}

func (e *Error) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.What)
	}
	return fmt.Sprintf("%s: %s", e.File, e.What)
}

// Hint names the next command.
func (e *Error) Hint() string { return "orch config prints every key with its default, unit and range" }

// Load reads a file over the defaults. A file that does not exist is the defaults.
func Load(path string) (Config, error) {
	raw, err := plainfile.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Default(), nil
	}
	if err != nil {
		return Config{}, fmt.Errorf("read configuration: %w", err)
	}
	return Parse(path, raw)
}

// Parse reads YAML over the defaults; name is used in errors.
func Parse(name string, raw []byte) (Config, error) {
	c := Default()
	dec := yaml.NewDecoder(bytes.NewReader(raw))
	var root, more yaml.Node
	if err := dec.Decode(&root); err == io.EOF {
		return c, nil
	} else if err != nil {
		return Config{}, fromYAML(name, err)
	}
	if err := dec.Decode(&more); err == nil {
		return Config{}, &Error{File: name, Line: more.Line, What: "a second document begins, allowed: one"}
	} else if err != io.EOF {
		return Config{}, fromYAML(name, err)
	}
	memorySwitch(root.Content[0])
	if bad := shape(root.Content[0], reflect.TypeFor[Config](), ""); bad != nil {
		return Config{}, &Error{File: name, Line: bad.line, What: bad.what}
	}
	if err := root.Decode(&c); err != nil {
		return Config{}, fromYAML(name, err)
	}
	for _, k := range Keys() {
		if what := k.check(c); what != "" {
			return Config{}, &Error{File: name, Line: lineOf(&root, k.Path), What: what}
		}
	}
	if at, what := c.checkModels(); what != "" {
		return Config{}, &Error{File: name, Line: lineOf(&root, at), What: what}
	}
	return c, nil
}

// memorySwitch lets a person write "memory: off" for the section that says so.
func memorySwitch(root *yaml.Node) {
	for i := 0; root.Kind == yaml.MappingNode && i+1 < len(root.Content); i += 2 {
		value := root.Content[i+1]
		if root.Content[i].Value != "memory" || value.Kind != yaml.ScalarNode || value.Value != "off" && value.Value != "on" {
			continue
		}
		word := map[bool]string{true: "true", false: "false"}[value.Value == "off"]
		root.Content[i+1] = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: value.Line, Content: []*yaml.Node{
			{Kind: yaml.ScalarNode, Tag: "!!str", Value: "off", Line: value.Line}, {Kind: yaml.ScalarNode, Tag: "!!bool", Value: word, Line: value.Line}}}
	}
}

// fromYAML turns the library's message, which starts with "yaml: line N:", into an Error.
func fromYAML(name string, err error) error {
	what := strings.TrimPrefix(err.Error(), "yaml: ")
	what = strings.TrimSpace(strings.TrimPrefix(what, "unmarshal errors:"))
	what = strings.SplitN(what, "\n", 2)[0]
	line := 0
	if n, scanErr := fmt.Sscanf(what, "line %d:", &line); n == 1 && scanErr == nil {
		what = strings.TrimSpace(what[strings.IndexByte(what, ':')+1:])
	}
	return &Error{File: name, Line: line, What: what}
}

func lineOf(root *yaml.Node, path string) int {
	if len(root.Content) == 0 {
		return 0
	}
	node, line := root.Content[0], 0
	for _, part := range strings.Split(path, ".") {
		found := false
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == part {
				line, node, found = node.Content[i].Line, node.Content[i+1], true
				break
			}
		}
		if !found {
			break
		}
	}
	return line
}
