package auditor

import (
	"testing"

	"pgregory.net/rapid"
)

// plainDistance is Levenshtein's as the textbook has it.
func plainDistance(x, y []rune) int {
	row := make([]int, len(x)+1)
	for i := range row {
		row[i] = i
	}
	for j := 1; j <= len(y); j++ {
		diagonal := row[0]
		row[0] = j
		for i := 1; i <= len(x); i++ {
			cost := diagonal
			if x[i-1] != y[j-1] {
				cost = 1 + min(diagonal, row[i], row[i-1])
			}
			diagonal, row[i] = row[i], cost
		}
	}
	return row[len(x)]
}

func TestDistanceIsLevenshteinsUpToTheLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("abcö ")), 0, 30, -1)
		x, y := []rune(text.Draw(t, "x")), []rune(text.Draw(t, "y"))
		most := rapid.IntRange(0, 30).Draw(t, "most")
		want, got := plainDistance(x, y), distance(x, y, most)
		if (want <= most || got <= most) && got != want {
			t.Fatalf("distance(%q, %q, %d) = %d, want %d", string(x), string(y), most, got, want)
		}
	})
}

func TestNormalise(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "",
		"  Dial TCP 10.0.0.7:80 ": "dial tcp # # # # #",
		"commit 01a1fc89f5a1":     "commit #",
		"open /tmp/x_12/file9.go": "open tmp x # file# go",
		"Öl, 3 Liter":             "öl # liter",
		"deadbeef":                "deadbeef",
		"\x00\xff--":              "",
	} {
		if got := normalise(text); got != want {
			t.Errorf("normalise(%q) = %q, want %q", text, got, want)
		}
	}
}

// The ratio of the definition: 0.7 of ten letters are three changes, not four.
func TestSimilarity(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"abcdefghij", "abcdefgxyz", true}, {"abcdefghij", "abcdefwxyz", false}, {"", "", true}, {"", "a", false}, {"abc", "abcdefghij", false},
	} {
		if got := similar(c.a, c.b, 0.7); got != c.want {
			t.Errorf("similar(%q, %q) = %v", c.a, c.b, got)
		}
	}
}
