package endpoint_test

import (
	"errors"
	"slices"
	"testing"

	"orch/blackboard/message"
	"orch/roles/think/endpoint"
	"orch/roles/think/fakemodel"
	"orch/roles/think/model"
)

// TestEachTryThatFailsIsTold holds what a caller who pays is told of the tries
// of one question: a refusal is not billed, and what was lost may be.
func TestEachTryThatFailsIsTold(t *testing.T) {
	t.Parallel()
	fine := fakemodel.Reply{Text: "fine"}
	fault := func(f fakemodel.Fault) fakemodel.Script {
		return inOrder(fakemodel.Reply{Fault: f, Text: "a long answer"}, fine)
	}
	for name, c := range map[string]struct {
		script   fakemodel.Script
		doubtful bool
		once     bool // it is not tried again
		none     bool // nothing failed
	}{
		"an answer":          {script: always(fine), none: true},
		"an error status":    {script: fault(fakemodel.Fault{Kind: fakemodel.Status, Status: 500})},
		"no room":            {script: fault(fakemodel.Fault{Kind: fakemodel.Status, Status: 529})},
		"a wrong key":        {script: fault(fakemodel.Fault{Kind: fakemodel.Status, Status: 401}), once: true},
		"hung up":            {script: fault(fakemodel.Fault{Kind: fakemodel.Hangup}), doubtful: true},
		"lost in the middle": {script: fault(fakemodel.Fault{Kind: fakemodel.Reset}), doubtful: true},
		"silence":            {script: fault(fakemodel.Fault{Kind: fakemodel.Silent}), doubtful: true, once: true},
		"garbage":            {script: fault(fakemodel.Fault{Kind: fakemodel.Garbage}), doubtful: true},
	} {
		t.Run(name, func(t *testing.T) {
			with(t, c.script, nil, func(b bench) {
				var doubts, agains []bool
				q := question("hello")
				q.Tried = func(_ message.Usage, doubtful, again bool) error {
					doubts, agains = append(doubts, doubtful), append(agains, again)
					return nil
				}
				_, err := b.client.Complete(b.Context(), q)
				want := []bool{c.doubtful}
				if c.none {
					want = nil
				}
				if (err != nil) != c.once || !slices.Equal(doubts, want) || !c.none && agains[0] == c.once {
					b.Errorf("%v, doubtful %v, again %v", err, doubts, agains)
				}
			})
		})
	}
}

func TestAnUnpaidTryIsNotMade(t *testing.T) {
	t.Parallel()
	with(t, inOrder(fakemodel.Reply{Fault: fakemodel.Fault{Kind: fakemodel.Status, Status: 500}}, fakemodel.Reply{Text: "fine"}), nil, func(b bench) {
		q := question("hello")
		q.Tried = func(message.Usage, bool, bool) error { return errors.New("no money") }
		if _, err := b.client.Complete(b.Context(), q); err == nil || len(b.server.Requests()) != 1 {
			b.Errorf("%v after %d requests", err, len(b.server.Requests()))
		}
	})
}

// A server that takes no limit of the answer is not asked without one where the
// answer is paid for up to there.
func TestABoundOfTheAnswerIsNotLeftOut(t *testing.T) {
	t.Parallel()
	refusal := fakemodel.Reply{Fault: fakemodel.Fault{Kind: fakemodel.Status, Status: 400, Message: "max_tokens and max_completion_tokens are not supported"}}
	for _, bounded := range []bool{false, true} {
		with(t, inOrder(refusal, refusal, fakemodel.Reply{Text: "fine"}), func(o *endpoint.Options) { o.MaxOutputTokens = 10 }, func(b bench) {
			q := question("hello")
			q.MaxOutputTokens, q.Bounded = 10, bounded
			_, err := b.client.Complete(b.Context(), q)
			var failed *model.Error
			if errors.As(err, &failed) != (bounded || b.api == fakemodel.Messages) {
				b.Errorf("bounded %t: %v", bounded, err)
			}
		})
	}
}
