package visible

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestWhatIsHiddenIsShown(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain, ünïcode, 日本語\n\tand a tab": "plain, ünïcode, 日本語\n\tand a tab",
		"\x1b[31mred\x1b[0m":               `\u001b[31mred\u001b[0m`,
		"\x1b]0;owned\x07":                 `\u001b]0;owned\u0007`,
		"a\u009b31mb":                      `a\u009b31mb`,
		"a\x9b31mb":                        `a\x9b31mb`,
		"back\b\b\x7f":                     `back\b\b\u007f`,
		"done\rfail":                       `done\rfail`,
		"price: £5 \u202egnp.exe":          `price: £5 \u202egnp.exe`,
		"a\u2066b\u2069\u200e\u200f\u061c": `a\u2066b\u2069\u200e\u200f\u061c`,
		"pass\u200bword\u2060\ufeff\u00ad": `pass\u200bword\u2060\ufeff\u00ad`,
		"a\u2028b\u2029c":                  `a\u2028b\u2029c`,
		"tag\U000e0041":                    `tag\udb40\udc41`,
		"fill\u3164\u115f\u034f\u180e":     `fill\u3164\u115f\u034f\u180e`,
		"a\u200db\ufe0f\U000e0100":         `a\u200db\ufe0f\udb40\udd00`,
		"👩‍👩‍👧 ❤️ می‌خواهم क्‍ष": "👩‍👩‍👧 ❤️ می‌خواهم क्‍ष",
		"half \xe2\x80": `half \xe2\x80`,
		"\ufffd":        "\ufffd",
	} {
		if got := Text(in); got != want {
			t.Errorf("%+q: %q, want %q", in, got, want)
		}
	}
}

// TestShownTextHidesNothing: nothing is left, whatever it is made of, and it
// stays as it is when it is shown again. JSON says the same as before.
func TestShownTextHidesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "text")
		out := Text(in)
		if !utf8.ValidString(out) || Text(out) != out {
			t.Fatalf("%+q becomes %+q", in, out)
		}
		for _, r := range out {
			if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) && r != 0x200c && r != 0x200d {
				t.Fatalf("%+q keeps %U", in, r)
			}
		}
		var raw bytes.Buffer
		enc := json.NewEncoder(&raw)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(in); err != nil {
			t.Fatal(err)
		}
		var before, after string
		if err := json.Unmarshal(raw.Bytes(), &before); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(Text(raw.String())), &after); err != nil || after != before {
			t.Fatalf("%+q is JSON for %+q: %v", Text(raw.String()), after, err)
		}
	})
}
