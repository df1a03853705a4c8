package modeltest

import (
	"context"
	"errors"
	"testing"

	"orch/roles/think/model"
)

func TestScript(t *testing.T) {
	s := &Script{Answers: []Answer{Text("one"), Call("shell", map[string]string{"command": "ls"}), Fail(model.Limit)}}
	ctx := context.Background()
	r, err := s.Complete(ctx, model.Request{System: "who you are"})
	if err != nil || r.Text != "one" || r.Stop != model.StopEnd || r.Usage.ModelCalls != 1 {
		t.Fatalf("first: %+v, %v", r, err)
	}
	r, err = s.Complete(ctx, model.Request{})
	if err != nil || r.Stop != model.StopTools || string(r.Calls[0].Input) != `{"command":"ls"}` {
		t.Fatalf("second: %+v, %v", r, err)
	}
	for _, want := range []model.Kind{model.Limit, model.Ended} {
		_, err = s.Complete(ctx, model.Request{})
		var failed *model.Error
		if !errors.As(err, &failed) || failed.Kind != want {
			t.Fatalf("got %v, want %s", err, want)
		}
	}
	if asked := s.Asked(); len(asked) != 4 || asked[0].System != "who you are" {
		t.Fatalf("asked %+v", asked)
	}
}
