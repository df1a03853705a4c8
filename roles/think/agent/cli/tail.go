package cli

import "strings"

// Tail keeps the end of what is written to it.
type Tail struct {
	MaxBytes int
	kept     []byte
}

// Write never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if over := len(t.kept) - t.MaxBytes; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(p), nil
}

// String is what was kept, as valid text.
func (t *Tail) String() string { return strings.ToValidUTF8(string(t.kept), "") }
