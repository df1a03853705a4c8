package endpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"
)

// Decode reads an object of a protocol. Servers differ in the types of what
// they send beside the answer, so a member of an unexpected type is left as it
// was; only what is no JSON object at all is an error.
func Decode(data []byte, into any) error {
	err := json.Unmarshal(data, into)
	var odd *json.UnmarshalTypeError
	if errors.As(err, &odd) && odd.Field != "" {
		return nil
	}
	if err == nil && string(bytes.TrimSpace(data)) == "null" {
		return errors.New("null where an object should be")
	}
	return err
}

// Text is a string, or the JSON that stands in its place: some servers send the
// arguments of a call as an object, and ids as numbers.
type Text string

// UnmarshalJSON never fails for what is JSON.
func (t *Text) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	var s string
	if json.Unmarshal(b, &s) != nil {
		s = string(b)
	}
	*t = Text(s)
	return nil
}

// Count is a number that cannot be negative or fractional. Some servers write
// it as a string or as a float; what is no number counts as 0.
type Count int64

// UnmarshalJSON never fails for what is JSON.
func (c *Count) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	f, err := strconv.ParseFloat(string(bytes.Trim(b, `"`)), 64)
	if err != nil || math.IsNaN(f) || f < 0 {
		f = 0
	}
	*c = Count(min(f, 1<<53)) // beyond that a float is not exact, and no count
	return nil
}
