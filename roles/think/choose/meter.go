package choose

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	// RoomUSD is what the step may spend; 0 is no bound. The question during
	// which it is passed is still answered.
	RoomUSD float64
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
	stopped error
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

// Stopped is why the step was stopped; nil if it was not.
func (m *Meter) Stopped() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.stopped
}

// add books what one question took.
func (m *Meter) add(e Entry, name string, u message.Usage, stated *float64) {
	name = cmp.Or(u.Model, name)
	u.Model = name
	usd, known := costOf(m.Config, e, name, u, stated)
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.spent {
		s := &m.spent[i]
		if s.Model != name {
			continue
		}
		s.Usage.InputTokens += u.InputTokens
		s.Usage.OutputTokens += u.OutputTokens
		s.Usage.CachedTokens += u.CachedTokens
		s.Usage.ModelCalls += u.ModelCalls
		s.Cost += usd
		s.Unpriced = s.Unpriced || !known
		return
	}
	m.spent = append(m.spent, message.Spent{Model: name, Usage: u, Cost: usd, Unpriced: !known})
}

// failed books what a question took that failed; one that never reached the
// other side took nothing.
func (m *Meter) failed(e Entry, name string, err error) {
	var failure *model.Error
	if errors.As(err, &failure) && failure.Usage.InputTokens+failure.Usage.OutputTokens > 0 {
		m.add(e, name, failure.Usage, nil)
	}
}

// spendable stops the step when its room is used up.
func (m *Meter) spendable() error {
	if m.RoomUSD <= 0 {
		return nil
	}
	if _, usd := m.Total(); usd >= m.RoomUSD {
		return m.stop(fmt.Errorf("%w: it spent $%.4g, all that the caps leave for it", ErrWaits, usd), "")
	}
	return nil
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
func (m *Meter) free(account string) bool {
	now := m.Now()
	if until, ok := m.Paused[account]; ok && now.Before(until) {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range m.limits {
		if l.Account == account && now.Before(l.Until) {
			return false
		}
	}
	return true
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
// go on with the next one, or give the error back.
func (m *Meter) after(err error, e Entry) (next bool) {
	var failure *model.Error
	if !errors.As(err, &failure) {
		return false
	}
	reason := failure.Error()
	switch {
	case failure.Kind == model.Cancelled, failure.Kind == model.Killed:
		return false
	case failure.Kind == model.Limit:
		m.pause(e.Account(), failure.Until, reason)
	case failure.Kind == model.Auth, failure.Kind == model.BadRequest, failure.Passing():
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
// chain with an account that only has to be waited for is waited for; a wrong
// key or name is a person's to mend; a server that cannot be reached is a
// failure of what was tried. Where answers were of no use and nothing else may
// pass by itself, all failures are returned.
func (m *Meter) exhausted(errs []error) error {
	last := errs[len(errs)-1]
	var mend, passing *model.Error
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
		switch failure.Kind {
		case model.Limit:
			return m.stop(fmt.Errorf("%w: %w", ErrWaits, err), "")
		case model.Auth, model.BadRequest:
			if mend == nil {
				mend = failure
			}
		}
	}
	if useless {
		if passing != nil {
			return passing // that one may still give a useful answer
		}
		return errors.Join(errs...)
	}
	if mend != nil && allMend(errs) {
		return m.stop(fmt.Errorf("%w: %w", ErrWaits, mend), mend.Error()+"; "+mend.Hint())
	}
	return last
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
