package colours

import (
	"os"
	"strings"
	"testing"
)

func TestKnown(t *testing.T) {
	if got := Hex("red"); got != "#ff0000" {
		t.Errorf("red is %q", got)
	}
}

func TestTableIsCurrent(t *testing.T) {
	list, err := os.ReadFile("colours.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(list)), "\n") {
		name, hex, _ := strings.Cut(line, " ")
		if Hex(name) != hex {
			t.Errorf("table.go is out of date: %s is %q, want %q; run go generate", name, Hex(name), hex)
		}
	}
}
