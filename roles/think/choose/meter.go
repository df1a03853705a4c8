package choose

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"orch/blackboard/message"
	"orch/roles/run/config"
	"orch/roles/think/model"
)

// ErrWaits is what stops a step that cannot go on for now and will be started
// again: nothing it did counts against it.
var ErrWaits = errors.New("the step waits")

// Meter counts what one step takes of its models, and stops the step when it
// cannot go on: every account is used up, a person must mend something, or the
// money set aside is spent.
type Meter struct {
	Config config.Config
	// Purse keeps the caps; nil: none bounds the step.
	Purse Purse
	// Paused says until when which account is used up, as the board knew it
	// when the step started.
	Paused map[string]time.Time
	Now    func() time.Time
	// OnLimit is told of an account that is used up, before anybody else is
	// asked; it may be nil.
	OnLimit func(message.LimitReached)
	// Stop ends the step; it is called at most once.
	Stop context.CancelCauseFunc
	Log  func(format string, args ...any)

	mu      sync.Mutex
	spent   []message.Spent
	limits  []message.LimitReached
	needs   string
	outage  *Down
	short   *message.BudgetReached
	stopped error

	pay  sync.Mutex // orders what the purse is told; never taken while mu is held
	held float64    // US dollars set aside for questions under way
}

// Down is why nobody answers: every entry of a chain that could be asked failed
// by its provider's fault.
type Down struct {
	Accounts []string `json:"accounts"`
	Reason   string   `json:"reason"`
}

// Spent is what was taken so far, by model.
func (m *Meter) Spent() []message.Spent {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]message.Spent(nil), m.spent...)
}

// Total is the sum of Spent.
func (m *Meter) Total() (u message.Usage, usd float64) {
	for _, s := range m.Spent() {
		u.InputTokens += s.Usage.InputTokens
		u.OutputTokens += s.Usage.OutputTokens
		u.CachedTokens += s.Usage.CachedTokens
		u.ModelCalls += s.Usage.ModelCalls
		u.Model = cmp.Or(s.Usage.Model, u.Model)
		usd += s.Cost
	}
	return u, usd
}

// Limits are the accounts that were found used up.
func (m *Meter) Limits() []message.LimitReached {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]message.LimitReached(nil), m.limits...)
}

// Needs is what a person must mend before the step is worth starting again.
func (m *Meter) Needs() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.needs
}

// Down is the outage that stopped the step; nil if none did.
func (m *Meter) Down() *Down {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.outage
}

// Stopped is why the step was stopped; nil if it was not.
func (m *Meter) Stopped() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.stopped
}

// Short is the cap that left no room for a question; nil if none did.
func (m *Meter) Short() *message.BudgetReached {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.short
}

// add books what one question took, and tells whether its cost is known.
func (m *Meter) add(e Entry, name string, u message.Usage, stated *float64) (known bool) {
	name = cmp.Or(u.Model, name)
	usd, known := costOf(m.Config, e, name, u, stated)
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.entry(name)
	s.Usage.InputTokens += u.InputTokens
	s.Usage.OutputTokens += u.OutputTokens
	s.Usage.CachedTokens += u.CachedTokens
	s.Usage.ModelCalls += u.ModelCalls
	s.Cost += usd
	s.Unpriced = s.Unpriced || !known
	return known
}

// entry is where a model's part is booked. m.mu must be held.
func (m *Meter) entry(name string) *message.Spent {
	for i := range m.spent {
		if m.spent[i].Model == name {
			return &m.spent[i]
		}
	}
	m.spent = append(m.spent, message.Spent{Model: name, Usage: message.Usage{Model: name}})
	return &m.spent[len(m.spent)-1]
}

// failed books what a question took that failed, as far as it is known, and says
// what that cost; one that never reached the other side took nothing.
func (m *Meter) failed(q *question, err error) (usd float64) {
	u := q.usage // that the stream of a run showed
	if failure, ok := errors.AsType[*model.Error](err); ok && failure.Usage.InputTokens+failure.Usage.OutputTokens > 0 {
		u = q.rest(failure.Usage)
	}
	if u.InputTokens+u.OutputTokens > 0 {
		usd, _ = costOf(m.Config, q.e, q.nameIn(u), u, nil)
		m.add(q.e, q.name, u, nil)
	}
	return usd
}

// pause notes that an account is used up. A time in the past would pause
// nothing and have the step started again at once.
func (m *Meter) pause(account string, until time.Time, reason string) {
	now := m.Now()
	if floor := now.Add(time.Duration(m.Config.Limits.PauseMS) * time.Millisecond); until.IsZero() {
		until = floor
	} else if soon := now.Add(time.Second); until.Before(soon) {
		until = soon
	}
	l := message.LimitReached{Account: account, Until: until.UTC(), Reason: reason}
	m.mu.Lock()
	m.limits = append(m.limits, l)
	m.mu.Unlock()
	if m.OnLimit != nil {
		m.OnLimit(l)
	}
}

// free tells whether an account can be used now.
func (m *Meter) free(account string) bool { return m.until(account).IsZero() }

// until is when a paused account can be used again; zero for now.
func (m *Meter) until(account string) (until time.Time) {
	now := m.Now()
	if t := m.Paused[account]; now.Before(t) {
		until = t
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range m.limits {
		if l.Account == account && now.Before(l.Until) && l.Until.After(until) {
			until = l.Until
		}
	}
	return until
}

// notAsked is what stands for the answer of an entry whose account is paused.
func (m *Meter) notAsked(e Entry, name string) error {
	return &model.Error{Kind: model.Limit, Model: name, Account: e.Account(), Until: m.until(e.Account()), Detail: "the account is paused"}
}

func (m *Meter) stop(why error, needs string) error {
	m.mu.Lock()
	first := m.stopped == nil
	if first {
		m.stopped, m.needs = why, needs
	}
	m.mu.Unlock()
	if first && m.Stop != nil {
		m.Stop(why)
	}
	return why
}

// after decides what a failure means for an entry that has others behind it:
// go on with the next one, or give the error back. An account that says when it
// is free again is paused until then.
func (m *Meter) after(err error, e Entry) (next bool) {
	var failure *model.Error
	if !errors.As(err, &failure) {
		return false
	}
	reason := failure.Error()
	switch {
	case failure.Kind == model.Cancelled, failure.Kind == model.Killed:
		return false
	case failure.Kind == model.Limit && !failure.Outage():
		m.pause(e.Account(), failure.Until, reason)
	case failure.Mend(), failure.Passing():
	default:
		return false // what was asked is the fault, so nobody else would do better
	}
	m.Log("%s: %s", e.Name, reason)
	return true
}

// givenUp is what a failure is that no other entry is tried for. That somebody
// ended an agent says nothing about what it was asked: the step stops, and is
// started again.
func (m *Meter) givenUp(err error) error {
	var failure *model.Error
	if errors.As(err, &failure) && failure.Kind == model.Killed {
		return m.stop(fmt.Errorf("%w: %w", ErrWaits, err), "")
	}
	return err
}

// exhausted decides what it means that the last entry of a chain failed. A
// provider that fails and an account that is paused are waited for; a missing
// login, a used-up account or a wrong name is a person's to mend; anything else
// is a failure of what was tried. Where answers were of no use and nothing else
// may pass by itself, all failures are returned.
func (m *Meter) exhausted(errs []error) error {
	last := errs[len(errs)-1]
	var mend, passing, limit *model.Error
	var down Down
	useless := false
	for _, err := range errs {
		var failure *model.Error
		var hand *handOn
		if errors.As(err, &hand) {
			useless = true
			continue
		}
		if !errors.As(err, &failure) {
			continue
		}
		if failure.Passing() {
			passing = failure
		}
		switch {
		case failure.Outage():
			down.add(failure)
		case failure.Kind == model.Limit:
			limit = failure
		case failure.Mend() && mend == nil:
			mend = failure
		}
	}
	switch {
	case len(down.Accounts) > 0:
		return m.isDown(down)
	case limit != nil:
		return m.stop(fmt.Errorf("%w: %w", ErrWaits, limit), "")
	case useless && passing != nil:
		return passing // that one may still give a useful answer
	case useless:
		return errors.Join(errs...)
	case mend != nil && allMend(errs):
		return m.stop(fmt.Errorf("%w: %w", ErrWaits, mend), mend.Error()+"; "+mend.Hint())
	}
	return last
}

func (d *Down) add(failure *model.Error) {
	if !slices.Contains(d.Accounts, failure.Account) {
		d.Accounts = append(d.Accounts, failure.Account)
	}
	if d.Reason != "" {
		d.Reason += "; "
	}
	d.Reason += failure.Error()
}

// isDown stops the step because of its providers.
func (m *Meter) isDown(d Down) error {
	m.mu.Lock()
	if m.stopped == nil {
		m.outage = &d
	}
	m.mu.Unlock()
	return m.stop(fmt.Errorf("%w: %s", ErrWaits, d.Reason), "")
}

// allMend tells whether no entry failed for a reason that may pass by itself.
func allMend(errs []error) bool {
	for _, err := range errs {
		var failure *model.Error
		if !errors.As(err, &failure) || failure.Passing() {
			return false
		}
	}
	return true
}
