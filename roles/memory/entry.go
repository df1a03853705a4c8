package memory

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"orch/blackboard/message"
)

// Entry is a memory as it counts now.
type Entry struct {
	Megram   message.Megram `json:"megram"` // as it was written
	Level    string         `json:"level"`  // what it is now
	Weights  Weights        `json:"weights"`
	Seq      uint64         `json:"seq"`                // of the message it came with
	Rule     bool           `json:"rule"`               // made of others by the Dreamer
	Into     string         `json:"into,omitempty"`     // the rule it has become part of; it no longer counts
	Recalled time.Time      `json:"recalled,omitempty"` // when a query last returned it, of a rule
}

// Pair is what the entry is about.
func (e Entry) Pair() Pair { return Pair{e.Megram.Space, e.Megram.Entity} }

// Pair names what a memory is about: tool:<approach> and path:<target>, or
// intent:<slug> and env:local.
type Pair struct {
	Space  string `json:"space"`
	Entity string `json:"entity"`
}

func (p Pair) String() string { return p.Space + " " + p.Entity }

// record is the value of a pair key: all that potentials and the Dreamer need.
type record struct {
	level byte
	rule  bool
	seq   uint64
	f     float64
	sigma float64
	k     float64
	since int64 // nanoseconds
}

const recordBytes = 2 + 5*8

func (r record) encode() []byte {
	b := make([]byte, 0, recordBytes)
	flags := byte(0)
	if r.rule {
		flags = 1
	}
	b = append(b, r.level, flags)
	b = binary.LittleEndian.AppendUint64(b, r.seq)
	for _, x := range []float64{r.f, r.sigma, r.k} {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	return binary.LittleEndian.AppendUint64(b, uint64(r.since))
}

func decodeRecord(b []byte) (record, error) {
	if len(b) < recordBytes {
		return record{}, fmt.Errorf("a record of %d bytes, want %d", len(b), recordBytes)
	}
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(b[2+8*i:]) }
	return record{
		level: b[0], rule: b[1] == 1, seq: word(0),
		f: math.Float64frombits(word(1)), sigma: math.Float64frombits(word(2)), k: math.Float64frombits(word(3)),
		since: int64(word(4)),
	}, nil
}

// weigh makes the record of a new entry. Weights outside their range, which no
// role of ours writes, are taken for the nearest inside.
func weigh(m message.Megram, seq uint64) record {
	r := record{
		level: levelByte(m.Level), rule: m.Through > 0, seq: seq,
		f: min(math.Abs(m.F), 1), sigma: max(-1, min(m.Sigma, 1)), k: max(m.K, 0), since: nanos(m.CreatedAt),
	}
	if r.timeless() {
		r.k = 0
	}
	return r
}

func levelByte(level string) byte {
	switch level {
	case LevelK, LevelC, LevelT:
		return level[0]
	}
	return LevelM[0]
}

// timeless tells whether the entry is a rule or a value.
func (r record) timeless() bool { return r.level == LevelC[0] || r.level == LevelT[0] }

func (r record) levelName() string { return string(rune(r.level)) }

func (r record) class() string {
	if r.timeless() {
		return ruleClass
	}
	return megramClass
}

func (r record) weights() Weights {
	return Weights{F: r.f, Sigma: r.sigma, K: r.k, Since: time.Unix(0, r.since).UTC()}
}

// nanos is a time as records keep it; see stamp for what does not fit.
func nanos(t time.Time) int64 {
	at, err := unstamp(stamp(t))
	if err != nil { // not of a stamp of our own
		panic(err)
	}
	return at.UnixNano()
}

// retired is the value of a done key: the record it counted with, and the rule
// it became part of.
type retired struct {
	record record
	into   string
}

func (d retired) encode() []byte { return append(d.record.encode(), d.into...) }

func decodeRetired(b []byte) (retired, error) {
	r, err := decodeRecord(b)
	if err != nil {
		return retired{}, err
	}
	return retired{record: r, into: string(b[recordBytes:])}, nil
}

func encodeMegram(m message.Megram) ([]byte, error) {
	b, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode megram %s: %w", m.ID, err)
	}
	return b, nil
}

func decodeMegram(b []byte) (message.Megram, error) {
	var m message.Megram
	if err := json.Unmarshal(b, &m); err != nil {
		return m, fmt.Errorf("decode megram: %w", err)
	}
	if m.ID == "" {
		return m, errors.New("decode megram: it has no id")
	}
	return m, nil
}
