package blackboard

import (
	"time"

	"orch/blackboard/message"
)

// Agent is one registered process and what the log says of it.
type Agent struct {
	ID          message.AgentID `json:"id"`
	Role        message.Role    `json:"role"`
	Status      string          `json:"status"` // STARTING, IDLE, WORKING, …
	CurrentTask message.TaskID  `json:"current_task,omitempty"`
	Terminal    string          `json:"terminal,omitempty"`
	Process     message.Process `json:"process"`
	Lease       message.Lease   `json:"lease"`
	Since       Ref             `json:"since"`
}

// ActivationKey names one activation: it is started at most once at a time.
type ActivationKey struct {
	Role    message.Role `json:"role"`
	Subject string       `json:"subject"`
	Cause   message.ID   `json:"cause"`
}

// Activation is a claimed activation and how it went.
type Activation struct {
	ActivationKey
	Goal     message.GoalID  `json:"goal"`
	Agent    message.AgentID `json:"agent"`
	Marker   string          `json:"marker"`
	Holder   message.Process `json:"holder"` // who spawns it
	Try      int             `json:"try"`
	Crashes  int             `json:"crashes"`         // ends with class crash or timeout
	Kills    int             `json:"kills"`           // ends with class killed, lost or moved
	Reserve  float64         `json:"reserve"`         // of a step that an older orch started
	Asked    *Asked          `json:"asked,omitempty"` // nil for a step that has reserved nothing
	Started  Ref             `json:"started"`
	Ended    Ref             `json:"ended"`           // zero while live
	ActiveMS int64           `json:"active_ms"`       // the goal's active time when this try started
	Worked   time.Time       `json:"worked,omitzero"` // when this try last did or said something
	Class    string          `json:"class,omitempty"`
	Exit     int             `json:"exit"`
	Detail   string          `json:"detail,omitempty"` // what it said of its end
	Outage   *Outage         `json:"outage,omitempty"` // that its last tries ended with; nil without one
}

// Asked is what the log knows of a running step's questions to models.
type Asked struct {
	Model    string          `json:"model,omitempty"` // asked last
	Reserved float64         `json:"reserved"`        // US dollars, by the questions under way
	Spent    []message.Spent `json:"spent,omitempty"` // by those before
}

// Total is what the caps count of it, in US dollars.
func (a *Asked) Total() float64 {
	if a == nil {
		return 0
	}
	usd, doubt := message.SumOf(a.Spent)
	return usd + doubt + a.Reserved
}

// UnderWay is what its unanswered questions may cost, in US dollars.
func (a *Asked) UnderWay() float64 {
	if a == nil {
		return 0
	}
	return a.Reserved
}

// Outage is what keeps a step from being answered, as the last try of it found.
type Outage struct {
	Accounts []string  `json:"accounts"`
	Reason   string    `json:"reason"`
	Since    time.Time `json:"since"` // end of the first of the tries in a row
	Try      int       `json:"try"`
	Until    time.Time `json:"until"` // the next try
	Last     Ref       `json:"last"`  // of the last try
}

// Live tells whether the activation was started and not ended.
func (a Activation) Live() bool { return a.Ended.Seq == 0 }
