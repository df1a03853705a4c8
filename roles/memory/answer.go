package memory

import (
	"maps"
	"slices"
	"strings"

	"github.com/syndtr/goleveldb/leveldb/util"

	"orch/blackboard/message"
)

// Prefixes of spaces and entities.
const (
	toolSpace   = "tool:"
	pathEntity  = "path:"
	intentSpace = "intent:"
)

// PairOf is the pair that messages name by approach and target. What is about
// an intent is named by its space and entity as they are.
func PairOf(p message.Pair) Pair {
	if strings.HasPrefix(p.Tool, intentSpace) {
		return Pair{p.Tool, p.Target}
	}
	return Pair{toolSpace + p.Tool, pathEntity + p.Target}
}

// message is the way back.
func (p Pair) message() message.Pair {
	tool, isTool := strings.CutPrefix(p.Space, toolSpace)
	path, isPath := strings.CutPrefix(p.Entity, pathEntity)
	if isTool && isPath {
		return message.Pair{Tool: tool, Target: path}
	}
	return message.Pair{Tool: p.Space, Target: p.Entity}
}

// Answer is what is known about an intent and its candidates: the potentials of
// every pair that anything is known about, the intent's first, and at most ten
// rules: those of the candidates, those of the intent, what a person declared,
// and those under the tags, in this order.
func (s *Store) Answer(q message.MemoryQuery) (message.MemoryAnswer, error) {
	snap, err := s.snapshot()
	if err != nil {
		return message.MemoryAnswer{}, err
	}
	defer snap.Release()
	now := s.o.Now()
	intent := Pair{q.Space, q.Entity}
	var a message.MemoryAnswer
	var ofIntent, ofCandidates []row
	seen := map[Pair]bool{}
	ask := func(p Pair, rules *[]row) error {
		if seen[p] {
			return nil
		}
		seen[p] = true
		k, found, err := s.looked(snap, p, now)
		if err != nil {
			return err
		}
		if round(k.attention) > 0 {
			a.Potentials = append(a.Potentials, s.o.Params.potential(p.message(), k))
		}
		*rules = append(*rules, found...)
		return nil
	}
	if err := ask(intent, &ofIntent); err != nil {
		return a, err
	}
	for _, c := range q.Candidates {
		if err := ask(PairOf(c), &ofCandidates); err != nil {
			return a, err
		}
	}
	err = s.answerRules(snap, &a, append(ofCandidates, ofIntent...), q.Tags)
	return a, err
}

// answerRules fills in the rules, and that they were recalled.
func (s *Store) answerRules(db view, a *message.MemoryAnswer, rules []row, tags []string) error {
	facts, err := s.facts(db)
	if err != nil {
		return err
	}
	if a.SOPs, err = s.records(db, append(rules, facts...)); err != nil {
		return err
	}
	known := map[string]bool{}
	for _, r := range a.SOPs {
		known[r.ID] = true
	}
	tagged, err := s.byTags(db, tags, ruleClass)
	if err != nil {
		return err
	}
	for _, e := range tagged {
		if known[e.Megram.ID] || len(a.SOPs) >= maxAnswers {
			continue
		}
		_, holds, err := s.looked(db, e.Pair(), s.o.Now())
		if err != nil {
			return err
		}
		if slices.ContainsFunc(holds, func(r row) bool { return r.id == e.Megram.ID }) {
			a.SOPs = append(a.SOPs, sop(e.Megram))
		}
	}
	for _, r := range a.SOPs {
		a.Recalled = append(a.Recalled, r.ID)
	}
	return nil
}

// facts are what people declared and still holds, newest first; the same words
// said again count once.
func (s *Store) facts(db view) ([]row, error) {
	begin := append([]byte(pairKeys+":"), appendEscaped(nil, factSpace)...)
	it := db.NewIterator(util.BytesPrefix(begin), nil)
	defer it.Release()
	newest := map[string]row{}
	for it.Next() {
		names, err := parts(it.Key())
		if err != nil || len(names) != 3 {
			return nil, s.wrong("key %q is no pair's: %v", it.Key(), err)
		}
		r, err := decodeRecord(it.Value())
		if err != nil {
			return nil, s.wrong("%v", err)
		}
		if r.timeless() && r.seq >= newest[names[0]].seq {
			newest[names[0]] = row{names[2], r}
		}
	}
	return slices.SortedFunc(maps.Values(newest), newestFirst), s.damage("read the facts", it.Error())
}
