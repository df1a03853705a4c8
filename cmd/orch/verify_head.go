package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"orch/blackboard"
	"orch/blackboard/journal"
	"orch/blackboard/lazyregexp"
)

var wholeHash = lazyregexp.New(`^[0-9a-f]{64}$`)

// parseHead reads SEQ:HASH; nothing is the zero head.
func parseHead(text string) (journal.Head, error) {
	if text == "" {
		return journal.Head{}, nil
	}
	number, hash, _ := strings.Cut(text, ":")
	seq, err := strconv.ParseUint(number, 10, 64)
	if err != nil || seq == 0 || !wholeHash.MatchString(hash) {
		return journal.Head{}, usagef("as an audit report has it: --head 120:3b489b6d… with all 64 characters", "--head %s is no head", text)
	}
	return journal.Head{Seq: seq, Hash: hash}, nil
}

// checkHead reads the log, closed segments too, for a head that was noted
// elsewhere. That the chain holds was checked before.
func (a *app) checkHead(noted journal.Head) error {
	if noted.Seq == 0 {
		return nil
	}
	root, err := a.root()
	if err != nil {
		return err
	}
	scan := journal.OpenScan(filepath.Join(root, blackboard.DirName), a.auditOptions(), journal.Head{})
	defer scan.Close()
	for {
		r, flaw, ok, err := scan.Next()
		switch {
		case err != nil:
			return err
		case ok && r.Seq == noted.Seq && r.Hash == noted.Hash:
			return nil
		case ok && r.Seq == noted.Seq:
			return rewritten(fmt.Sprintf("message %d is another one: its hash is %s, %s was noted", r.Seq, r.Hash, noted.Hash))
		case ok && r.Seq > noted.Seq:
			return rewritten(fmt.Sprintf("message %d is not in the log any more, which begins with %d", noted.Seq, r.Seq))
		case !ok && flaw == nil:
			return rewritten(fmt.Sprintf("the log ends before message %d", noted.Seq))
		}
	}
}

func rewritten(what string) error {
	return hinted{errors.New(what), "the log was rewritten since the head was noted; put it back from a copy, and look at orch audit"}
}
