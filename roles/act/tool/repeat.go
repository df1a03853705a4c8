package tool

import (
	"crypto/sha256"
	"fmt"
)

// sameResults counts identical results of identical calls in a row, with no
// other effect of this Box in between.
type sameResults struct {
	result      [32]byte
	effects     int
	times       int
	fingerprint string // after the last one, once it counts
}

func (b *Box) repeatKey(c Call) string {
	_, target := b.Target(c)
	return string(c.Tool) + "\x00" + target
}

func (b *Box) fingerprint() string {
	take := b.opt.Fingerprint
	if take == nil {
		take = func() (string, error) { return Fingerprint(b.opt.Workspace) }
	}
	fp, err := take()
	if err != nil {
		return "" // not known, so never the same
	}
	return fp
}

// repeated refuses a call that would be the RepeatMax-th of its kind, when all
// before it had the same result and nothing has changed since. The workspace
// is only looked at when the call was made that often before.
func (b *Box) repeated(key string) *Denial {
	b.mu.Lock()
	last, ok := b.results[key]
	b.mu.Unlock()
	if !ok || last.times < b.opt.RepeatMax-1 {
		return nil
	}
	if last.fingerprint == "" || b.fingerprint() != last.fingerprint {
		return nil
	}
	return &Denial{
		Kind:   DeniedRepeat,
		Reason: fmt.Sprintf("the same call had the same result %d times on an unchanged workspace", last.times),
		Hint:   "change something first, or try another way: running it again will not help",
	}
}

// remember counts a result. The workspace, which may be large, is only looked
// at when the next identical call could be refused.
func (b *Box) remember(key string, r Result, effect bool) {
	result := sha256.Sum256(fmt.Appendf(nil, "%d\x00%s\x00%s", r.Exit, r.Infra, r.Output))
	b.mu.Lock()
	defer b.mu.Unlock()
	last := b.results[key]
	if last.result != result || last.effects != b.effects {
		last = sameResults{}
	}
	if effect {
		b.effects++
	}
	last.result, last.effects = result, b.effects
	if last.times++; last.times >= b.opt.RepeatMax-1 {
		last.fingerprint = b.fingerprint()
	}
	b.results[key] = last
}
