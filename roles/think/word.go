package think

import (
	"encoding/base32"
	"fmt"
	"io"
	"strings"
)

// wordBytes are drawn for a word: 80 bits, which nobody guesses.
const wordBytes = 10

// NewWord draws the word that a judge must repeat beside its decision. It is
// drawn for each question, after the work under judgement is done, so that
// nothing under judgement can hold it: a verdict without it was quoted.
func NewWord(random io.Reader) (string, error) {
	raw := make([]byte, wordBytes)
	if _, err := io.ReadFull(random, raw); err != nil {
		return "", fmt.Errorf("draw a word for a judge: %w", err)
	}
	return strings.ToLower(base32.StdEncoding.EncodeToString(raw)), nil
}
