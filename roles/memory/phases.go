package memory

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/util"

	"orch/blackboard/message"
)

func isNotFound(err error) bool { return errors.Is(err, leveldb.ErrNotFound) }

// contradict lets the newest rule of a pair speak against older ones that say
// the opposite, once each, as strongly as a person's word: the newer wins.
func (d *dreamer) contradict(ctx context.Context, t tally) error {
	if len(t.rules) < 2 {
		return nil
	}
	rules := slices.SortedFunc(slices.Values(t.rules), newestFirst)
	newest := rules[0]
	for _, old := range rules[1:] {
		if sign(newest.sigma) == 0 || sign(old.sigma) != -sign(newest.sigma) {
			continue
		}
		id := dissonanceID(newest.id, old.id)
		if known, err := d.s.db.Has(key(megramKeys, id), nil); err != nil || known {
			if err != nil {
				return d.s.damage("look for a contradiction", err)
			}
			continue
		}
		by, _, err := d.s.find(d.s.db, newest.id)
		if errors.Is(err, ErrUnknown) {
			return nil // forgotten since the pair was looked at
		}
		if err != nil {
			return err
		}
		if err := d.create(ctx, message.Megram{
			ID: id, Level: LevelM, CreatedAt: d.s.o.Now().UTC(), Space: t.pair.Space, Entity: t.pair.Entity,
			Content: message.MegramContent{Lesson: "contradicted by: " + by.Content.Lesson, Tags: by.Content.Tags, Category: categoryFact},
			F:       againstF, Sigma: against(old.sigma), K: againstK,
		}); err != nil {
			return err
		}
	}
	return nil
}

// dissonanceID is the same for the same two rules, so that a pass that was
// killed does not speak against one twice.
func dissonanceID(newer, older string) string {
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(newer+"\x00"+older)).String()
}

// declared tells whether a pair is a fact that a person declared: its text
// stands as it is, and no rule is made of what is said about it.
func declared(p Pair) bool { return strings.HasPrefix(p.Space, factSpace) }

// create says a Megram and puts it into the report.
func (d *dreamer) create(ctx context.Context, m message.Megram) error {
	d.s.o.hook(d.report.Phase + ": megram")
	if err := d.say(ctx, m); err != nil {
		return err
	}
	d.s.o.hook(d.report.Phase + ": megram said")
	d.said = true
	return d.note(ctx, &d.report.Created, &d.did.Created, m.ID)
}

// bankrupt takes its timelessness from a rule that the pair as a whole now
// speaks against. For a rule that speaks against something that is a decision
// above zero. What a person declared stays until the person takes it back.
func (d *dreamer) bankrupt(ctx context.Context, t tally) error {
	if declared(t.pair) {
		return nil
	}
	for _, r := range t.rules {
		if sign(r.sigma)*round(t.decision) >= 0 {
			continue
		}
		if err := d.note(ctx, &d.report.Demoted, &d.did.Demoted, r.id); err != nil {
			return err
		}
	}
	return nil
}

// consolidate makes a rule of a pair about which enough was learned since its
// last rule. The Megram is the commit: applying it retires its sources.
func (d *dreamer) consolidate(ctx context.Context, t tally) error {
	if declared(t.pair) || !d.s.o.Params.promotes(t.freshAttention, t.freshDecision) {
		return nil
	}
	e, ids, err := d.evidence(t)
	if err != nil {
		return err
	}
	if len(ids) == 0 {
		return nil // forgotten since the pair was looked at
	}
	content, spent, err := d.s.o.Distill(ctx, e)
	if err != nil {
		return err
	}
	if err := d.create(ctx, message.Megram{
		ID: d.s.o.NewID(), Level: LevelC, CreatedAt: d.s.o.Now().UTC(), Space: t.pair.Space, Entity: t.pair.Entity,
		Content: content, F: round(t.sumF / float64(t.sources)), Sigma: sign(t.freshDecision), Through: t.at, Spent: spent,
	}); err != nil {
		return err
	}
	for _, id := range ids {
		if err := d.note(ctx, &d.report.Consolidated, &d.did.Consolidated, id); err != nil {
			return err
		}
	}
	return nil
}

// forget removes what fades of a pair if too little is left of all of it, and
// single entries of which next to nothing is left in any case: otherwise a pair
// that is always in use would keep all it ever saw.
func (d *dreamer) forget(ctx context.Context, t tally) error {
	all := d.s.o.Params.fades(t.freshAttention)
	if !all && !t.faded {
		return nil
	}
	now, least := d.s.o.Now(), d.s.o.Params.Forget*negligible
	var ids []string
	err := d.s.rows(d.s.db, t.pair, func(r row) error {
		if !r.timeless() && r.seq <= t.at && (all || r.weights().Attention(now) < least) {
			ids = append(ids, r.id)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := d.note(ctx, &d.report.Deleted, &d.did.Deleted, id); err != nil {
			return err
		}
	}
	return nil
}

// forgetRetired removes sources of rules once they would have faded by themselves.
func (d *dreamer) forgetRetired(ctx context.Context) error {
	next := prefix(doneKeys)
	for next != nil {
		ids, after, err := d.fadedRetired(ctx, next)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if err := d.note(ctx, &d.report.Deleted, &d.did.Deleted, id); err != nil {
				return err
			}
		}
		next = after
	}
	return nil
}

// fadedRetired looks at some thousand retired entries, and returns where to go on.
func (d *dreamer) fadedRetired(ctx context.Context, from []byte) (ids []string, next []byte, err error) {
	end := util.BytesPrefix(prefix(doneKeys)).Limit
	it := d.s.db.NewIterator(&util.Range{Start: from, Limit: end}, once)
	defer it.Release()
	now := d.s.o.Now()
	for seen := 0; it.Next(); seen++ {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if seen == sliceRows {
			return ids, slices.Clone(it.Key()), nil
		}
		d.did.Scanned++
		d.scanned++
		names, err := parts(it.Key())
		if err != nil || len(names) != 1 {
			return nil, nil, d.s.wrong("key %q is no retired entry's: %v", it.Key(), err)
		}
		r, err := decodeRetired(it.Value())
		if err != nil {
			return nil, nil, d.s.wrong("%v", err)
		}
		if d.s.o.Params.fades(r.record.weights().Attention(now)) {
			ids = append(ids, names[0])
		}
	}
	return ids, nil, d.s.damage("read what is retired", it.Error())
}
