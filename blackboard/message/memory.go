package message

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// MemoryQuery asks what is known about an intent and the candidate pairs of this round.
type MemoryQuery struct {
	Space      string   `json:"space"`  // intent:<slug>
	Entity     string   `json:"entity"` // env:local
	Tags       []string `json:"tags"`
	Candidates []Pair   `json:"candidates"`
}

// SOPRecord is a standing rule the memory has learned or was told.
type SOPRecord struct {
	ID       string  `json:"id"`
	Space    string  `json:"space"`
	Entity   string  `json:"entity"`
	Lesson   string  `json:"lesson"`
	Category string  `json:"category"` // fact, procedure or constraint
	F        float64 `json:"f"`
	Sigma    float64 `json:"sigma"`
}

// Potential is the decayed weight of what is known about one pair.
type Potential struct {
	Pair      Pair    `json:"pair"`
	Attention float64 `json:"attention"`
	Decision  float64 `json:"decision"`
	Action    string  `json:"action"` // Exploit, Avoid, Caution or Ignore
	// Goes with Caution: what is known does not speak both for and against, as
	// when dead ends that are not the approach's fault add up.
	Uncontested bool `json:"uncontested,omitempty"`
}

// MemoryAnswer is what the memory knows, as data; the planner makes constraints of it.
type MemoryAnswer struct {
	SOPs       []SOPRecord `json:"sops"`
	Potentials []Potential `json:"potentials"`
	Recalled   []string    `json:"recalled"`
}

// MemoryTimeout tells the planner to go on without a memory answer, and why.
type MemoryTimeout struct {
	WaitedMS int64  `json:"waited_ms"`
	Reason   string `json:"reason"`
}

// MegramContent is what was learned, not a trace.
type MegramContent struct {
	Lesson   string   `json:"lesson"`
	Tags     []string `json:"tags"`
	Category string   `json:"category"` // fact, procedure or constraint
}

// Megram is one atomic memory.
type Megram struct {
	ID        string        `json:"id"`
	Level     string        `json:"level"` // M, K, C or T
	CreatedAt time.Time     `json:"created_at"`
	Space     string        `json:"space"`
	Entity    string        `json:"entity"`
	Content   MegramContent `json:"content"`
	State     Directive     `json:"state"`
	F         float64       `json:"f"`
	Sigma     float64       `json:"sigma"`
	K         float64       `json:"k"`       // decay per day
	Ordinal   int           `json:"ordinal"` // unique together with the cause
	// Through makes a rule of what is known about the pair: every living M and K
	// said up to this seq is its source, and leaves the potentials.
	Through uint64  `json:"through,omitempty"`
	Spent   []Spent `json:"spent,omitempty"` // on putting a rule into words
}

// MemoryFact is a fact a person declares.
type MemoryFact struct {
	Text string   `json:"text"`
	Tags []string `json:"tags"`
}

// NegativeFeedback says that a standing rule did not hold.
type NegativeFeedback struct {
	RuleID  string `json:"rule_id"`
	Content string `json:"content"`
	Ordinal int    `json:"ordinal"` // unique together with the cause
}

// MemoryForget takes entries out of the memory for good. The log keeps what
// they said.
type MemoryForget struct {
	IDs    []string `json:"ids"`
	Reason string   `json:"reason"`
}

// Validate refuses to forget nothing.
func (f MemoryForget) Validate() error {
	if len(f.IDs) == 0 || slices.Contains(f.IDs, "") {
		return errors.New("it names no entry")
	}
	return nil
}

// MemoryRebuilt says that the memory's index was made anew from the log, and
// what became of the old one.
type MemoryRebuilt struct {
	Reason  string `json:"reason"`
	Kept    string `json:"kept"`    // where the old index was moved, relative to .orch; empty if there was none
	Through uint64 `json:"through"` // the last message that is indexed
}

// The phases of a consolidation pass, in the order in which they run. DreamRebuild
// makes the index anew from the log instead.
const (
	DreamContradict  = "contradict"
	DreamBankrupt    = "bankrupt"
	DreamConsolidate = "consolidate"
	DreamForget      = "forget"
	DreamRebuild     = "rebuild"
)

// DreamPhases lists the phases of a pass in their order.
func DreamPhases() []string {
	return []string{DreamContradict, DreamBankrupt, DreamConsolidate, DreamForget}
}

// DreamRequest asks for a consolidation pass. No phases means all of them.
type DreamRequest struct {
	Phases []string `json:"phases"`
}

// Validate refuses phases nobody knows.
func (d DreamRequest) Validate() error {
	known := append(DreamPhases(), DreamRebuild)
	for _, p := range d.Phases {
		if !slices.Contains(known, p) {
			return fmt.Errorf("phase %q is none of %s", p, strings.Join(known, ", "))
		}
	}
	return nil
}

// DreamReport says what a part of a consolidation pass did, entry by entry. The
// memory does what it says; of created and consolidated the Megram itself is
// the commit.
type DreamReport struct {
	Phase        string   `json:"phase"`        // contradict, bankrupt, consolidate or forget
	Created      []string `json:"created"`      // new rules, and what speaks against contradicted ones
	Demoted      []string `json:"demoted"`      // rules that lost their trust and fade from now on
	DemotedK     float64  `json:"demoted_k"`    // decay per day of those
	Deleted      []string `json:"deleted"`      // forgotten
	Consolidated []string `json:"consolidated"` // sources that have become part of a rule
	Scanned      int64    `json:"scanned"`      // memories looked at since the report before
	Last         bool     `json:"last"`         // the pass ends with it
}
