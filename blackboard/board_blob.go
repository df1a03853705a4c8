package blackboard

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"orch/blackboard/journal"
	"orch/blackboard/message"
)

const blobsDir = "blobs"

// BlobError: a file that a message refers to is missing or is not what it was.
type BlobError struct {
	Goal message.GoalID
	Hash string
	Why  string
}

func (e *BlobError) Error() string {
	return fmt.Sprintf("blob %s of goal %q %s", e.Hash, e.Goal, e.Why)
}

// BlobPath is where data with that SHA-256 is kept for a goal.
func (b *Board) BlobPath(goal message.GoalID, hash string) string {
	return filepath.Join(b.GoalDir(goal), blobsDir, hash)
}

// PutBlob keeps data that is too large for a message, secrets redacted, and
// returns the SHA-256 of what was kept. It is durable before the message that
// names it can be.
func (b *Board) PutBlob(goal message.GoalID, data []byte) (hash string, err error) {
	data = b.opts.Redact(data)
	sum := sha256.Sum256(data)
	hash = hex.EncodeToString(sum[:])
	path := b.BlobPath(goal, hash)
	if info, err := b.opts.FS.Stat(path); err == nil && info.Size() == int64(len(data)) {
		return hash, nil
	}
	dir := filepath.Dir(path)
	if err := b.opts.FS.MkdirAll(dir, dirPerm); err != nil {
		return "", fmt.Errorf("keep a blob: %w", err)
	}
	for parent := dir; parent != b.dir; parent = filepath.Dir(parent) {
		if err := b.opts.FS.SyncDir(filepath.Dir(parent)); err != nil {
			return "", fmt.Errorf("keep a blob: %w", err)
		}
	}
	// Another process may be writing the same blob: each writes under a name of
	// its own first.
	id, err := b.opts.IDs.NewID()
	if err != nil {
		return "", fmt.Errorf("keep a blob: %w", err)
	}
	own := path + "." + id
	if err := journal.WriteFileAtomic(b.opts.FS, own, data, 0o600); err != nil {
		return "", fmt.Errorf("keep a blob: %w", err)
	}
	if err := b.opts.FS.Rename(own, path); err != nil {
		return "", fmt.Errorf("keep a blob: %w", err)
	}
	if err := b.opts.FS.SyncDir(dir); err != nil {
		return "", fmt.Errorf("keep a blob: %w", err)
	}
	return hash, nil
}

// Blob returns what PutBlob kept, or a BlobError.
func (b *Board) Blob(goal message.GoalID, hash string) ([]byte, error) {
	if raw, err := hex.DecodeString(hash); err != nil || len(raw) != sha256.Size {
		return nil, &BlobError{goal, hash, "is not a SHA-256"}
	}
	data, err := readFile(b.opts.FS, b.BlobPath(goal, hash))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &BlobError{goal, hash, "is missing"}
	}
	if err != nil {
		return nil, fmt.Errorf("read a blob: %w", err)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != hash {
		return nil, &BlobError{goal, hash, "is damaged"}
	}
	return data, nil
}
