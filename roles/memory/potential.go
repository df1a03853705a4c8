package memory

import (
	"math"
	"time"

	"orch/blackboard/message"
	"orch/roles/loop"
)

// Action is what the potentials of a pair advise.
type Action string

// The actions.
const (
	Ignore  Action = loop.Ignore  // too little is known
	Exploit Action = loop.Exploit // it worked
	Avoid   Action = loop.Avoid   // it did not
	Caution Action = loop.Caution // it did and it did not, or nobody can tell
)

// Params are the thresholds of the memory, all in units of potential.
type Params struct {
	Notice          float64 // attention from which a pair is not ignored
	Lean            float64 // decision beyond which, on either side, it is decided
	Forget          float64 // attention below which a pair is forgotten
	PromoteAttract  float64 // attention from which a pair can become a rule
	PromoteDecision float64 // decision, on either side, from which it does
	BankruptK       float64 // decay per day of a rule that lost its trust
}

// Defaults are the thresholds of the specification.
func Defaults() Params {
	return Params{Notice: 0.5, Lean: 0.2, Forget: 0.1, PromoteAttract: 5, PromoteDecision: 3, BankruptK: 0.05}
}

// Levels of a Megram.
const (
	LevelM = "M" // one episode
	LevelK = "K" // a rule that lost its trust
	LevelC = "C" // a rule; does not fade
	LevelT = "T" // a value; does not fade and is never demoted
)

// Weights are what counts of an entry.
type Weights struct {
	F     float64   `json:"f"`     // strength, 0 to 1
	Sigma float64   `json:"sigma"` // -1 against to +1 for
	K     float64   `json:"k"`     // decay per day, at least 0
	Since time.Time `json:"since"` // from when it fades
}

// Decay is the part of a weight that is left after a time. Time that runs
// backwards does not strengthen.
func Decay(k float64, elapsed time.Duration) float64 {
	days := max(elapsed.Hours()/24, 0)
	return math.Exp(-max(k, 0) * days)
}

// Attention is how much of the entry is left now, whatever it speaks for.
func (w Weights) Attention(now time.Time) float64 {
	return math.Abs(w.F) * Decay(w.K, now.Sub(w.Since))
}

// Decision is how much of the entry is left now, for (above 0) or against.
func (w Weights) Decision(now time.Time) float64 {
	return w.Sigma * w.F * Decay(w.K, now.Sub(w.Since))
}

// Potentials sums what is left of entries: how much attention they claim, and
// what they decide.
func Potentials(entries []Weights, now time.Time) (attention, decision float64) {
	var k known
	for _, w := range entries {
		k.add(w, now)
	}
	return k.attention, k.decision
}

// known is what the entries of a pair come to.
type known struct {
	attention, decision float64
	pro, contra         bool // something speaks for it, against it
}

func (k *known) add(w Weights, now time.Time) {
	decision := w.Decision(now)
	k.attention += w.Attention(now)
	k.decision += decision
	k.pro = k.pro || decision > 0
	k.contra = k.contra || decision < 0
}

// ActionOf derives the action. Comparisons are made after rounding to 1e-9, so
// that a sum that should be 0.5 is not taken for less.
func (p Params) ActionOf(attention, decision float64) Action {
	attention, decision = round(attention), round(decision)
	switch {
	case attention < p.Notice:
		return Ignore
	case decision > p.Lean:
		return Exploit
	case decision < -p.Lean:
		return Avoid
	}
	return Caution
}

// promotes tells whether a pair has earned a rule.
func (p Params) promotes(attention, decision float64) bool {
	return round(attention) >= p.PromoteAttract && math.Abs(round(decision)) >= p.PromoteDecision
}

// fades tells whether too little is left of a pair to be kept.
func (p Params) fades(attention float64) bool { return round(attention) < p.Forget }

func round(x float64) float64 { return math.Round(x*1e9) / 1e9 }

func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}

// potential puts the sums in the form of a message.
func (p Params) potential(pair message.Pair, k known) message.Potential {
	action := p.ActionOf(k.attention, k.decision)
	return message.Potential{
		Pair: pair, Attention: round(k.attention), Decision: round(k.decision), Action: string(action),
		Uncontested: action == Caution && !(k.pro && k.contra),
	}
}
