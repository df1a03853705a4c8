package ggs

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/google/uuid"

	"orch/blackboard/message"
)

// RoundsVersion is the version of the rounds.json this package reads and of the
// decision it prints.
const RoundsVersion = 1

// Bounds of what DecideJSON reads.
const (
	maxInputBytes = 16 << 20
	maxRounds     = 10_000
)

// InputError says which field of a rounds.json is wrong.
type InputError struct {
	Field string // for example rounds[2].tasks[0].fail
	What  string
}

func (e *InputError) Error() string {
	if e.Field == "" {
		return "rounds: " + e.What
	}
	return "rounds: " + e.Field + ": " + e.What
}

// Hint names where the shape is described.
func (e *InputError) Hint() string {
	return "docs/controller.md describes the shape, with an example to start from"
}

// roundsFile is the documented shape; see docs/controller.md.
type roundsFile struct {
	Version int               `json:"version"`
	Policy  string            `json:"policy"`
	Params  Overrides         `json:"params"`
	Goal    message.GoalID    `json:"goal"`
	Intent  string            `json:"intent"`
	Strict  bool              `json:"strict"`
	Needs   []string          `json:"goal_required"` // criteria of the goal that have to pass in the last round
	Now     time.Time         `json:"now"`
	Rounds  []json.RawMessage `json:"rounds"`
}

// Input is a decoded rounds.json.
type Input struct {
	Policy  string
	Params  Params
	History History
	Now     time.Time
	NewID   func() string // derived from the input, so that the same input gives the same ids
}

// ParseRounds reads a rounds.json. Directives of earlier rounds that are missing
// are filled in with what the policy decides for them.
func ParseRounds(r io.Reader) (Input, error) {
	raw, err := io.ReadAll(io.LimitReader(r, maxInputBytes+1))
	if err != nil {
		return Input{}, fmt.Errorf("read rounds: %w", err)
	}
	if len(raw) > maxInputBytes {
		return Input{}, &InputError{What: fmt.Sprintf("more than %d bytes", maxInputBytes)}
	}
	var f roundsFile
	if err := strict("", raw, &f); err != nil {
		return Input{}, err
	}
	if f.Version != RoundsVersion {
		return Input{}, &InputError{Field: "version", What: fmt.Sprintf("is %d, want %d", f.Version, RoundsVersion)}
	}
	if f.Policy == "" {
		f.Policy = message.LikeForLike
	}
	if f.Goal == "" {
		f.Goal = "goal"
	}
	if len(f.Rounds) == 0 || len(f.Rounds) > maxRounds {
		return Input{}, &InputError{Field: "rounds", What: fmt.Sprintf("has %d entries, allowed: 1 to %d", len(f.Rounds), maxRounds)}
	}
	in := Input{Policy: f.Policy, Params: Defaults(f.Policy).With(f.Params), Now: f.Now.UTC(), NewID: idsFrom(raw),
		History: History{Goal: f.Goal, Intent: f.Intent, Strict: f.Strict}}
	for _, c := range f.Needs {
		in.History.Criteria = append(in.History.Criteria, message.Criterion{ID: c, Criterion: c, Mode: message.Verifiable, Required: true})
	}
	if f.Now.IsZero() {
		in.Now = time.Unix(0, 0).UTC()
	}
	for i, raw := range f.Rounds {
		round, err := parseRound(fmt.Sprintf("rounds[%d]", i), i+1, f.Goal, raw)
		if err != nil {
			return Input{}, err
		}
		in.History.Rounds = append(in.History.Rounds, round)
	}
	return in, in.fill()
}

// idsFrom gives the same ids for the same bytes.
func idsFrom(raw []byte) func() string {
	sum := sha256.Sum256(raw)
	n := 0
	return func() string {
		n++
		return uuid.NewSHA1(uuid.Nil, fmt.Appendf(sum[:], "/%d", n)).String()
	}
}

// fill answers the earlier rounds that carry no directive.
func (in *Input) fill() error {
	for i := range in.History.Rounds[:len(in.History.Rounds)-1] {
		if in.History.Rounds[i].Directive != nil {
			continue
		}
		h := in.History
		h.Rounds = h.Rounds[:i+1]
		d, err := Decide(in.Policy, in.Params, h, in.Now, func() string { return "" })
		if err != nil {
			return err
		}
		if d.Final != nil {
			return &InputError{Field: fmt.Sprintf("rounds[%d]", i), What: fmt.Sprintf("already ends the goal with %s, but %d more follow", d.Final.Directive, len(in.History.Rounds)-i-1)}
		}
		in.History.Rounds[i].Directive = d.Directive
	}
	return nil
}

// fullRound is a round as the log has it.
type fullRound struct {
	Request     json.RawMessage `json:"request"`
	Summary     json.RawMessage `json:"summary"`
	PlanFailure json.RawMessage `json:"plan_failure"`
	Directive   json.RawMessage `json:"directive"`
	compactRound
}

func parseRound(at string, number int, goal message.GoalID, raw json.RawMessage) (Round, error) {
	var f fullRound
	if err := strict(at, raw, &f); err != nil {
		return Round{}, err
	}
	var r Round
	var err error
	kinds := 0
	if f.Tasks != nil || f.Goal != nil {
		kinds++
		if r, err = f.compactRound.round(at, number, goal); err != nil {
			return Round{}, err
		}
	}
	if f.Request != nil {
		kinds++
		r.Request, err = body[message.ReplanRequest](at+".request", f.Request)
	}
	if f.Summary != nil && err == nil {
		kinds++
		r.Summary, err = body[message.OutcomeSummary](at+".summary", f.Summary)
	}
	if f.PlanFailure != nil && err == nil {
		kinds++
		r.PlanFailure, err = body[message.PlanRejected](at+".plan_failure", f.PlanFailure)
	}
	if f.Directive != nil && err == nil {
		r.Directive, err = body[message.PlanDirective](at+".directive", f.Directive)
	}
	if err == nil && kinds != 1 {
		err = &InputError{Field: at, What: "has to have exactly one of tasks, request, summary and plan_failure"}
	}
	return r, err
}

// body decodes a message body as strictly as the log does.
func body[T message.Body](at string, raw json.RawMessage) (*T, error) {
	var zero T
	b, err := message.Decode(zero.Type(), raw)
	if err != nil {
		return nil, &InputError{Field: at, What: strings.TrimPrefix(err.Error(), "decode "+string(zero.Type())+": ")}
	}
	v := b.(T)
	return &v, nil
}

// strict decodes JSON without unknown fields and names the field that is wrong.
func strict(at string, raw []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	err := dec.Decode(v)
	if err == nil {
		if _, err = dec.Token(); err == io.EOF {
			return nil
		}
		return &InputError{Field: at, What: "data after the end"}
	}
	var in *InputError
	var shape *json.UnmarshalTypeError
	switch {
	case errors.As(err, &in):
		return &InputError{Field: joined(at, in.Field), What: in.What}
	case errors.As(err, &shape):
		return &InputError{Field: joined(at, shape.Field), What: fmt.Sprintf("is of type %s, want %s", shape.Value, wanted(shape.Type.Kind().String()))}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &InputError{Field: at, What: "the JSON ends too early"}
	}
	return &InputError{Field: at, What: strings.TrimPrefix(err.Error(), "json: ")}
}

// wanted says in JSON's words what a field of a Go kind takes.
func wanted(kind string) string {
	switch {
	case strings.HasPrefix(kind, "int"):
		return "a whole number"
	case strings.HasPrefix(kind, "float"):
		return "a number"
	case kind == "bool":
		return "true or false"
	case kind == "slice":
		return "a list"
	case kind == "struct":
		return "an object"
	}
	return "a " + kind
}

func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "." + b
}

// decisionFile is what DecideJSON prints.
type decisionFile struct {
	Version    int              `json:"version"`
	Policy     string           `json:"policy"`
	Round      int              `json:"round"`
	Transition string           `json:"transition"`
	Directive  json.RawMessage  `json:"directive,omitempty"`
	Result     json.RawMessage  `json:"result,omitempty"`
	Megrams    []message.Megram `json:"megrams"`
	Trace      []string         `json:"trace"`
}

// DecideJSON reads a rounds.json and prints the decision for its last round. The
// same input gives the same output.
func DecideJSON(r io.Reader, w io.Writer) error {
	in, err := ParseRounds(r)
	if err != nil {
		return err
	}
	d, err := Decide(in.Policy, in.Params, in.History, in.Now, in.NewID)
	if err != nil {
		return err
	}
	out := decisionFile{Version: RoundsVersion, Policy: in.Policy, Round: len(in.History.Rounds), Transition: d.Transition(in.Params),
		Megrams: d.Megrams, Trace: d.Trace}
	if out.Megrams == nil {
		out.Megrams = []message.Megram{}
	}
	raw, err := message.Encode(d.Body())
	if err != nil {
		return err
	}
	if d.Final != nil {
		out.Result = raw
	} else {
		out.Directive = raw
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(out); err != nil {
		return fmt.Errorf("print the decision: %w", err)
	}
	return nil
}
