package memory

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// nasty draws components that are hard to keep apart.
func nasty() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.StringOfN(rapid.SampledFrom([]rune(":%3A25ab\x00\xff é世")), 0, 8, -1),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 6), func(b []byte) string { return string(b) }),
		rapid.String(),
	)
}

func TestKeysComeApartAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(nasty(), 1, 4).Draw(t, "parts")
		k := key(pairKeys, want...)
		got, err := parts(k)
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%q came back from %q as %q, %v", want, k, got, err)
		}
	})
}

// A scan for one pair begins with its prefix: no key of another pair does.
func TestNoPrefixReachesAnotherPair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := Pair{nasty().Draw(t, "space"), nasty().Draw(t, "entity")}
		b := Pair{nasty().Draw(t, "other space"), nasty().Draw(t, "other entity")}
		if rapid.Bool().Draw(t, "shifted") { // the separator on the other side
			b = Pair{a.Space + ":" + a.Entity, ""}
		}
		id := nasty().Draw(t, "id")
		reached := bytes.HasPrefix(key(pairKeys, b.Space, b.Entity, id), prefix(pairKeys, a.Space, a.Entity))
		if reached != (a == b) {
			t.Fatalf("the prefix of %q reaches a key of %q: %v", a, b, reached)
		}
	})
}

func TestWhatIsNotEscapedIsRefused(t *testing.T) {
	for _, k := range []string{"idx:%", "idx:%3", "idx:%3a", "idx:%41", "idx:a%"} {
		if got, err := parts([]byte(k)); err == nil {
			t.Errorf("%q was read as %q", k, got)
		}
	}
}

func TestStampsSortAsTimesDo(t *testing.T) {
	times := []time.Time{
		{}, time.Date(1, 1, 1, 0, 0, 1, 0, time.UTC), time.Date(1700, 1, 1, 0, 0, 0, 0, time.UTC), time.Unix(-1, 0),
		time.Unix(0, 0), time.Unix(0, 1), noon, noon.Add(1), time.Date(2261, 12, 31, 0, 0, 0, 0, time.UTC), time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	for i := 1; i < len(times); i++ {
		if strings.Compare(stamp(times[i-1]), stamp(times[i])) > 0 {
			t.Errorf("%s sorts after %s", times[i-1], times[i])
		}
	}
	for _, at := range times[2:9] {
		if got, err := unstamp(stamp(at)); err != nil || !got.Equal(at) {
			t.Errorf("%s came back as %s, %v", at, got, err)
		}
	}
}
