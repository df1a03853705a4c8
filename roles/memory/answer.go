package memory

import (
	"maps"
	"slices"
	"strings"

	"github.com/syndtr/goleveldb/leveldb/util"

	"orch/blackboard/message"
	"orch/roles/loop"
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
// every pair that anything is known about, the intent's first; all that a person
// declared; and at most ten rules: those of the candidates, those of the intent,
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
	learned, err := s.records(db, rules)
	if err != nil {
		return err
	}
	a.SOPs = append(facts, learned...)
	most := len(facts) + maxAnswers
	known := map[string]bool{}
	for _, r := range a.SOPs {
		known[r.ID] = true
	}
	tagged, err := s.tagged(db, tags, ruleClass)
	if err != nil {
		return err
	}
	for _, id := range tagged {
		if known[id] || len(a.SOPs) >= most {
			continue
		}
		e, err := s.entry(db, id)
		if err != nil {
			return err
		}
		if loop.IsFact(e.Megram.Space, e.Megram.Content.Category) {
			continue // the same words were said again since
		}
		_, holds, err := s.looked(db, e.Pair(), s.o.Now())
		if err != nil {
			return err
		}
		if slices.ContainsFunc(holds, func(r row) bool { return r.id == id }) {
			a.SOPs = append(a.SOPs, sop(e.Megram))
		}
	}
	for _, r := range a.SOPs {
		a.Recalled = append(a.Recalled, r.ID)
	}
	return nil
}

// facts are what people declared, newest first; the same text said again counts
// once. What tells two apart is the text itself, not the space, which earlier
// versions made alike for texts that are not.
func (s *Store) facts(db view) ([]message.SOPRecord, error) {
	begin := append([]byte(pairKeys+":"), appendEscaped(nil, factSpace)...)
	it := db.NewIterator(util.BytesPrefix(begin), nil)
	defer it.Release()
	newest := map[string]row{}
	said := map[string]message.SOPRecord{}
	for it.Next() {
		names, err := parts(it.Key())
		if err != nil || len(names) != 3 {
			return nil, s.wrong("key %q is no pair's: %v", it.Key(), err)
		}
		r, err := decodeRecord(it.Value())
		if err != nil {
			return nil, s.wrong("%v", err)
		}
		if !r.timeless() || r.rule {
			continue
		}
		m, _, err := s.find(db, names[2])
		if err != nil {
			return nil, err
		}
		text := strings.TrimSpace(m.Content.Lesson)
		if r.seq >= newest[text].seq {
			newest[text], said[text] = row{names[2], r}, sop(m)
		}
	}
	if err := it.Error(); err != nil {
		return nil, s.damage("read the facts", err)
	}
	order := slices.SortedFunc(maps.Keys(newest), func(a, b string) int { return newestFirst(newest[a], newest[b]) })
	var list []message.SOPRecord
	for _, text := range order {
		list = append(list, said[text])
	}
	return list, nil
}
