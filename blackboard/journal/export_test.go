package journal

import "context"

// WriteOnly is an append that stops before its sync: what a process has done
// when it is interrupted there.
func (j *Journal) WriteOnly(ctx context.Context, d Draft) (Record, error) {
	return j.write(ctx, func(Tail) (Draft, error) { return d, nil })
}

// SyncTo is the rest of that append.
func (j *Journal) SyncTo(ctx context.Context, seq uint64) error { return j.syncTo(ctx, seq) }

// Size is how many bytes the live segment has.
func (j *Journal) Size() (int64, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, err := j.refresh(); err != nil {
		return 0, err
	}
	return j.end, nil
}

// Encode is what an append writes.
func Encode(r *Record) ([]byte, error) { return encode(r) }

// HashOf is the hash of the bytes it covers.
func HashOf(covered []byte) string { return hashOf(covered) }

// GenesisPrev is what the first record has for Prev.
var GenesisPrev = genesisPrev
