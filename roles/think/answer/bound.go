package answer

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Kinds of refusals of a verdict.
const (
	Unbound     Kind = "unbound"     // no value repeats the word of the question
	Contradicts Kind = "contradicts" // two values repeat it and decide differently
)

// wordField is where a verdict repeats the word of its question.
const wordField = "word"

// Bound reads the verdict in a judge's answer: the last value that fits the
// schema and repeats the question's word in its field "word". A value without
// the word counts for nothing, whatever stands around it: the judge may quote
// it from what it judges. decision names the field that decides; values that
// repeat the word and differ in it are refused, and so is an answer that ends
// in the middle of a value or repeats the word in one that can not be read,
// since that could be the one meant. An empty word binds nothing.
func Bound(text string, schema *Schema, word, decision string, into any) error {
	if word == "" {
		return errors.New("the question of a judge has no word")
	}
	for range maxNesting {
		var inner string // the whole answer may be packed in a text
		if json.Unmarshal([]byte(trimSpace(text)), &inner) != nil {
			break
		}
		text = inner
	}
	all, err := Values(text, schema)
	if err != nil {
		return err
	}
	bound, err := carrying(all, word, decision)
	if err != nil {
		return err
	}
	if err := unread(find(text), text, word); err != nil {
		return err
	}
	return decode(bound, into)
}

// unread is a refusal if what could not be read of a text may be a verdict too.
func unread(f finding, text, word string) error {
	switch {
	case f.cut:
		return f.refusal
	case len(f.values) >= maxValues:
		return &Error{Broken, fmt.Sprintf("it holds more than %d values", maxValues)}
	case f.refusal != nil && strings.Count(text, word) > wordsIn(f.values, word):
		return &Error{Broken, "it repeats the word beside a value that can not be read: " + f.refusal.Why}
	}
	return nil
}

// carrying is the last value with the word.
func carrying(all []json.RawMessage, word, decision string) (json.RawMessage, error) {
	var last json.RawMessage
	var decided string
	for _, value := range all {
		var fields map[string]json.RawMessage
		var said, decides string
		if json.Unmarshal(value, &fields) != nil || json.Unmarshal(fields[wordField], &said) != nil || strings.TrimSpace(said) != word {
			continue
		}
		if err := json.Unmarshal(fields[decision], &decides); err != nil {
			return nil, &Error{WrongShape, decision + " is not a text"}
		}
		if last != nil && decides != decided {
			return nil, &Error{Contradicts, "it holds two verdicts that contradict each other"}
		}
		last, decided = value, decides
	}
	if last == nil {
		return nil, &Error{Unbound, `no verdict in it repeats the word of this question in "` + wordField + `"`}
	}
	return last, nil
}

// wordsIn counts how often the word stands in values that could be read.
func wordsIn(values []json.RawMessage, word string) (n int) {
	for _, v := range values {
		n += strings.Count(string(v), word)
	}
	return n
}
