package message

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Mode says how a criterion can be judged.
type Mode string

// A verifiable criterion can be decided from evidence; a plausible one only weighed.
const (
	Verifiable Mode = "verifiable"
	Plausible  Mode = "plausible"
)

// FailureClass says whether the approach was wrong or the world was in the way.
type FailureClass string

// The classes. Mixed is used only for a whole round, on a tie.
const (
	Logical       FailureClass = "logical"
	Environmental FailureClass = "environmental"
	Mixed         FailureClass = "mixed"
)

// Criterion is one falsifiable statement about a result.
type Criterion struct {
	ID        string          `json:"id"` // unique within its task or goal, assigned by the runtime
	Criterion string          `json:"criterion"`
	Mode      Mode            `json:"mode"`
	Required  bool            `json:"required"`        // a required criterion that fails is never waived
	Check     json.RawMessage `json:"check,omitempty"` // executable check, run by code; see docs/playbooks.md
}

// HasCheck tells whether code can decide the criterion.
func (c Criterion) HasCheck() bool { return len(c.Check) > 0 && string(c.Check) != "null" }

// Validate reports the first thing that makes a criterion unusable.
func (c Criterion) Validate() error {
	switch {
	case c.ID == "":
		return errors.New("criterion without id")
	case c.Criterion == "":
		return fmt.Errorf("criterion %s is empty", c.ID)
	case c.Mode != Verifiable && c.Mode != Plausible:
		return fmt.Errorf("criterion %s: mode %q is not verifiable or plausible", c.ID, c.Mode)
	}
	return nil
}

// Outcome of judging one criterion.
const (
	Pass = "pass"
	Fail = "fail"
)

// Who judged a criterion.
const (
	ByCode  = "code"
	ByModel = "model"
)

// Verdict is the judgement of one criterion with the evidence it rests on.
type Verdict struct {
	CriterionID  string       `json:"criterion_id"`
	Criterion    string       `json:"criterion"`
	Mode         Mode         `json:"mode"`
	Required     bool         `json:"required"`
	Verdict      string       `json:"verdict"`                 // pass or fail
	FailureClass FailureClass `json:"failure_class,omitempty"` // only on fail
	Kind         string       `json:"kind,omitempty"`          // evidence of the failed call: transient, tool, permission
	Evidence     string       `json:"evidence"`
	By           string       `json:"by"`               // code or model
	Second       bool         `json:"second,omitempty"` // judged a second time, independently
}

// Passed tells whether the criterion was met.
func (v Verdict) Passed() bool { return v.Verdict == Pass }

// Validate refuses a verdict that says neither pass nor fail, and a pass without evidence.
func (v Verdict) Validate() error {
	switch {
	case v.Verdict != Pass && v.Verdict != Fail:
		return fmt.Errorf("verdict %q of criterion %s is not pass or fail", v.Verdict, v.CriterionID)
	case v.Verdict == Pass && v.Evidence == "":
		return fmt.Errorf("criterion %s passes without evidence", v.CriterionID)
	case v.By != ByCode && v.By != ByModel:
		return fmt.Errorf("criterion %s: judged by %q, want code or model", v.CriterionID, v.By)
	}
	return nil
}

func validateAll[T interface{ Validate() error }](list []T) error {
	for _, v := range list {
		if err := v.Validate(); err != nil {
			return err
		}
	}
	return nil
}

func need(fields ...string) error {
	for i := 0; i+1 < len(fields); i += 2 {
		if fields[i+1] == "" {
			return fmt.Errorf("%s is missing", fields[i])
		}
	}
	return nil
}
