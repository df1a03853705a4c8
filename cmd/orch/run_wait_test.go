package main

import (
	"os"
	"path/filepath"
	"testing"

	"orch/blackboard/message"
	"orch/roles/think/fakemodel"
)

// A run that waits holds a question for the person who is to answer it, where a
// run that does not would go on with the best reading.
func TestARunThatWaitsIsAnsweredFromElsewhere(t *testing.T) {
	t.Parallel()
	asks := fakemodel.Rule{Name: "asks", When: fakemodel.When{System: asPerceiver}, Reply: text(`{"intent":"greet somebody","questions":["whom?"]}`)}
	srv := serve(t, []fakemodel.Rule{asks}, greeting())
	root := project(t, "models: {default: "+asked(srv, "openai", "/v1", "true")+"}"+quick)
	hook := filepath.Join(root, ".orch", "hooks", "on-escalate")
	if err := os.MkdirAll(filepath.Dir(hook), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, hook, "#!/bin/sh\nexec "+program+" answer 'my friend bob'\n")
	if err := os.Chmod(hook, 0o755); err != nil {
		t.Fatal(err)
	}
	orch(t, root, "run", "--wait", "greet me").want(t, 0, "waiting     clarification: whom?", "next: orch answer", "result      done")
	answers := bodies[message.ClarificationAnswer](t, root, "ClarificationAnswer")
	if len(answers) == 0 {
		t.Fatal("nobody answered")
	}
	for _, a := range answers {
		if len(a.Answers) != 1 || a.Answers[0] != "my friend bob" {
			t.Errorf("answered with %q", a.Answers)
		}
	}
}
