package blackboard

import (
	"context"
	"errors"
	"math"
	"slices"

	"orch/blackboard/journal"
	"orch/blackboard/message"
)

// VerifyReport says what Verify found in order, and which files are missing.
type VerifyReport struct {
	Log      journal.Report
	Messages uint64       // folded
	Blobs    int          // files named by messages and found to be what they were
	Missing  []*BlobError // files named by messages that are gone or damaged
}

// Verify checks the whole log: every line's hash and the chain, that each message
// may be sent by its sender and follows from the ones before, and that the files
// which messages name are what they were. The first thing wrong with the log is
// returned as an error that names the line or message; missing files are only
// reported; those that a person gave up are not. The log is held against every
// head that is remembered of it, and those that the caller knows.
func (b *Board) Verify(ctx context.Context, known ...journal.Known) (VerifyReport, error) {
	var report VerifyReport
	var err error
	if report.Log, err = b.log.Verify(ctx, journal.Head{}, append(Known(b.root, b.opts), known...)...); err != nil {
		return report, err
	}
	seen, givenUp := map[[2]string]bool{}, map[string]bool{}
	err = b.replayTo(ctx, NewState(), math.MaxUint64, func(r journal.Record, m message.Message) error {
		report.Messages++
		if repaired, ok := m.Body.(message.JournalRepaired); ok {
			for _, hash := range repaired.Files {
				givenUp[hash] = true
			}
		}
		hash := blobOf(m)
		if hash == "" || seen[[2]string{r.Goal, hash}] {
			return nil
		}
		seen[[2]string{r.Goal, hash}] = true
		_, err := b.Blob(m.Goal, hash)
		var wrong *BlobError
		if errors.As(err, &wrong) {
			report.Missing = append(report.Missing, wrong)
			return nil
		}
		report.Blobs++
		return err
	})
	report.Missing = slices.DeleteFunc(report.Missing, func(e *BlobError) bool { return givenUp[e.Hash] })
	return report, err
}

// blobOf is the SHA-256 of the file that a message names, or empty.
func blobOf(m message.Message) string {
	switch body := m.Body.(type) {
	case message.ToolCall:
		return body.Blob
	case message.LateResult:
		return body.Hash
	case message.StateBefore:
		return body.Files
	}
	return ""
}

// Repair opens the log to writers again after a failed write; see
// journal.Repair. It refuses, and changes nothing, if a message is damaged that
// was acknowledged.
func (b *Board) Repair(ctx context.Context) (journal.RepairReport, error) {
	if b.opts.ReadOnly {
		return journal.RepairReport{}, ErrReadOnly
	}
	report, err := b.log.Repair(ctx)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.adopt(nil, nil, 0)
	return report, err
}
