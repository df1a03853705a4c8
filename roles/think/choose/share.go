package choose

import (
	"context"

	"orch/blackboard/message"
	"orch/roles/think/model"
)

// run sets aside a share for a run of an agent program, of which only totals
// are known, and watches its stream: where that comes near the share, more is
// set aside, and where there is no more the step stops, and the program with it.
func (m *Meter) run(ctx context.Context, e Entry, name string) (*question, context.Context, error) {
	q := &question{m: m, e: e, name: name}
	if m.Purse == nil || !Paid(m.Config, e) || !Priceable(m.Config, e) {
		return q, ctx, nil
	}
	if err := q.reserve(ctx, Want{Share: true}); err != nil || !q.capped {
		return q, ctx, err
	}
	return q, model.Watched(ctx, func(u message.Usage, stated *float64) { q.watch(ctx, u, stated) }), nil
}

// watch is called from the one goroutine that reads the stream. Before another
// step as large as the largest so far would pass the share, the share grows.
func (q *question) watch(ctx context.Context, u message.Usage, stated *float64) {
	q.usage = u
	usd, known := costOf(q.m.Config, q.e, q.nameIn(u), u, stated)
	if !known || usd <= q.known {
		return
	}
	q.largest, q.known = max(q.largest, usd-q.known), usd
	lacks := q.known + q.largest - q.held
	if lacks <= 0 {
		return
	}
	g, err := q.m.grant(ctx, Want{Least: lacks, Share: true}, q.name)
	switch {
	case err != nil:
		q.m.Log("no more could be set aside for %s: %v", q.name, err)
	case g.Short != nil:
		_ = q.m.isShort(g.Short) // it ends the context that the program runs under
	default:
		q.held += g.USD
	}
}

// nameIn is the model that a program says it uses, if it says so.
func (q *question) nameIn(u message.Usage) string {
	if u.Model != "" {
		return u.Model
	}
	return q.name
}

// Carry takes over what somebody before who asked the same had spent when they
// died. What they had under way counts as spent at its greatest cost.
func (m *Meter) Carry(spent []message.Spent, model string, underWay float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.spent = append(m.spent, spent...)
	if underWay > 0 {
		s := m.entry(model)
		s.Unpriced, s.Doubt = true, s.Doubt+underWay
	}
}

// Fixed keeps one cap where no board is there to keep it on.
type Fixed struct{ Limit float64 } // US dollars; 0 is none

// Reserve implements Purse.
func (f Fixed) Reserve(_ context.Context, w Want, books Books) (Grant, error) {
	if f.Limit <= 0 {
		return Grant{}, nil
	}
	usd, doubt := message.SumOf(books.Spent)
	room := f.Limit - usd - doubt - books.Reserved
	g := Grant{Capped: true, USD: min(w.Most, room), Waits: books.Reserved > 0}
	if w.Share {
		g.USD = room // nobody else needs it
	}
	if room <= 0 || g.USD < w.Least {
		g.Short = &message.BudgetReached{Cap: message.CapCost, Limit: f.Limit, Used: usd + doubt, Needs: w.Least}
	}
	return g, nil
}

// Settle implements Purse: nobody else looks at the books.
func (Fixed) Settle(context.Context, Books) error { return nil }
