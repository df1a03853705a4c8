package blackboard

import (
	"errors"
	"testing"

	"orch/blackboard/message"
)

func TestWordsThatAreNoTextAreNamed(t *testing.T) {
	for _, body := range []message.Body{
		message.UserInput{Text: "caf\xe9", Profile: "task"}, message.Resumed{Reason: "caf\xe9"}, message.ClarificationAnswer{Round: 1, Answers: []string{"yes", "caf\xe9"}},
		message.Anomaly{Kind: "x", Details: map[string]string{"what": "caf\xe9"}},
	} {
		bad, ok := errors.AsType[*TextError](Texts(body))
		if !ok || bad.At != 4 || bad.Byte != 0xe9 || bad.Field == "" {
			t.Errorf("%T: %v", body, Texts(body))
		}
	}
	if err := Texts(message.UserInput{Text: "café, \uFFFD and \x00", Profile: "task"}); err != nil {
		t.Error(err)
	}
}
