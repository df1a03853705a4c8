package message

// DecisionVerb is what the mission's orchestrator chose for a round.
type DecisionVerb struct {
	Verb string   `json:"verb"`
	Args []string `json:"args"`
	By   string   `json:"by"` // rule or model
}

// Ghost is an answer of the orchestrator that was no legal verb.
type Ghost struct {
	Raw          string `json:"raw"`
	TakenInstead string `json:"taken_instead"`
}

// IssueFound is a defect seen outside the feature at hand.
type IssueFound struct {
	Title        string `json:"title"`
	Severity     string `json:"severity"` // critical, major, minor or nit
	FoundDuring  string `json:"found_during"`
	Evidence     string `json:"evidence"`
	Repro        string `json:"repro"`
	SuggestedFix string `json:"suggested_fix"`
	CodePointer  string `json:"code_pointer"`
}

// IssueMerged joins issues that are the same.
type IssueMerged struct {
	Into string   `json:"into"`
	From []string `json:"from"`
}

// ContractPatched says that the validation contract changed.
type ContractPatched struct {
	Summary  string   `json:"summary"`
	Hash     string   `json:"hash"`
	Affected []TaskID `json:"affected"`
}
