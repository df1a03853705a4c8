package metavalidator

import (
	"orch/blackboard/message"
	"orch/roles/run/step"
)

// fit cuts outcomes until all of them together leave room in one message for
// the goal's own verdicts. What the controller counts (tasks, criteria,
// verdicts, classes) is never cut, only texts and the older evidence; the whole
// of it is in the messages of the tasks.
func fit(outcomes []message.SubTaskOutcome) []message.SubTaskOutcome {
	textBytes, history := step.OutputBytes, 100
	for size(outcomes) > step.AllBytes && textBytes > 16 {
		textBytes, history = textBytes/2, max(1, history/2)
		cut := make([]message.SubTaskOutcome, len(outcomes))
		for i, o := range outcomes {
			cut[i] = shorten(o, textBytes, history)
		}
		outcomes = cut
	}
	return outcomes
}

func size(outcomes []message.SubTaskOutcome) (bytes int) {
	for _, o := range outcomes {
		raw, err := message.Encode(o)
		if err != nil {
			return 0 // what can not be encoded is refused with its reason when it is appended
		}
		bytes += len(raw)
	}
	return bytes
}

func shorten(o message.SubTaskOutcome, textBytes, history int) message.SubTaskOutcome {
	o.Output = step.Cut(o.Output, textBytes)
	o.CriteriaVerdicts = append([]message.Verdict{}, o.CriteriaVerdicts...)
	for i := range o.CriteriaVerdicts {
		o.CriteriaVerdicts[i].Evidence = step.Cut(o.CriteriaVerdicts[i].Evidence, textBytes)
	}
	if o.FailureReason != nil {
		reason := step.Cut(*o.FailureReason, textBytes)
		o.FailureReason = &reason
	}
	o.FailedCalls = o.FailedCalls[len(o.FailedCalls)-min(history, len(o.FailedCalls)):]
	return o
}
