package message

// CostReserved says, before a question is sent to a model, the most that the
// questions of a step that are under way may cost, and what those before took.
// It holds until the next one of the same step, or the step's end. Of GGS, which
// asks beside any step, it holds until the goal's result.
type CostReserved struct {
	Role     Role    `json:"role"`
	Subject  string  `json:"subject"`
	Cause    ID      `json:"cause,omitempty"` // of the step; empty for GGS
	Model    string  `json:"model,omitempty"` // that is asked
	Reserved float64 `json:"reserved"`        // US dollars
	Spent    []Spent `json:"spent,omitempty"` // by model
}

// SumOf adds up what is known and what is in doubt, in US dollars.
func SumOf(all []Spent) (usd, doubt float64) {
	for _, s := range all {
		usd, doubt = usd+s.Cost, doubt+s.Doubt
	}
	return usd, doubt
}
