package message

// Every body knows its type by its own name.
// Type is "Genesis".
func (Genesis) Type() Type { return "Genesis" }

// Type is "UserInput".
func (UserInput) Type() Type { return "UserInput" }

// Type is "ClarificationQuestion".
func (ClarificationQuestion) Type() Type { return "ClarificationQuestion" }

// Type is "ClarificationAnswer".
func (ClarificationAnswer) Type() Type { return "ClarificationAnswer" }

// Type is "TaskSpec".
func (TaskSpec) Type() Type { return "TaskSpec" }

// Type is "MemoryQuery".
func (MemoryQuery) Type() Type { return "MemoryQuery" }

// Type is "MemoryAnswer".
func (MemoryAnswer) Type() Type { return "MemoryAnswer" }

// Type is "MemoryTimeout".
func (MemoryTimeout) Type() Type { return "MemoryTimeout" }

// Type is "SubTask".
func (SubTask) Type() Type { return "SubTask" }

// Type is "DispatchManifest".
func (DispatchManifest) Type() Type { return "DispatchManifest" }

// Type is "PlanRejected".
func (PlanRejected) Type() Type { return "PlanRejected" }

// Type is "StepStarting".
func (StepStarting) Type() Type { return "StepStarting" }

// Type is "StepEnded".
func (StepEnded) Type() Type { return "StepEnded" }

// Type is "Claimed".
func (Claimed) Type() Type { return "Claimed" }

// Type is "Released".
func (Released) Type() Type { return "Released" }

// Type is "LeaseExtended".
func (LeaseExtended) Type() Type { return "LeaseExtended" }

// Type is "LeaseLapsed".
func (LeaseLapsed) Type() Type { return "LeaseLapsed" }

// Type is "DraftVoided".
func (DraftVoided) Type() Type { return "DraftVoided" }

// Type is "StateBefore".
func (StateBefore) Type() Type { return "StateBefore" }

// Type is "ToolStarted".
func (ToolStarted) Type() Type { return "ToolStarted" }

// Type is "ToolCall".
func (ToolCall) Type() Type { return "ToolCall" }

// Type is "ExecutionResult".
func (ExecutionResult) Type() Type { return "ExecutionResult" }

// Type is "CorrectionSignal".
func (CorrectionSignal) Type() Type { return "CorrectionSignal" }

// Type is "SubTaskOutcome".
func (SubTaskOutcome) Type() Type { return "SubTaskOutcome" }

// Type is "ReplanRequest".
func (ReplanRequest) Type() Type { return "ReplanRequest" }

// Type is "OutcomeSummary".
func (OutcomeSummary) Type() Type { return "OutcomeSummary" }

// Type is "PlanDirective".
func (PlanDirective) Type() Type { return "PlanDirective" }

// Type is "GiveUp".
func (GiveUp) Type() Type { return "GiveUp" }

// Type is "FinalResult".
func (FinalResult) Type() Type { return "FinalResult" }

// Type is "Megram".
func (Megram) Type() Type { return "Megram" }

// Type is "MemoryFact".
func (MemoryFact) Type() Type { return "MemoryFact" }

// Type is "NegativeFeedback".
func (NegativeFeedback) Type() Type { return "NegativeFeedback" }

// Type is "MemoryForget".
func (MemoryForget) Type() Type { return "MemoryForget" }

// Type is "MemoryRebuilt".
func (MemoryRebuilt) Type() Type { return "MemoryRebuilt" }

// Type is "DreamRequest".
func (DreamRequest) Type() Type { return "DreamRequest" }

// Type is "DreamReport".
func (DreamReport) Type() Type { return "DreamReport" }

// Type is "LateResult".
func (LateResult) Type() Type { return "LateResult" }

// Type is "BoundaryViolation".
func (BoundaryViolation) Type() Type { return "BoundaryViolation" }

// Type is "JournalRepaired".
func (JournalRepaired) Type() Type { return "JournalRepaired" }

// Type is "LogRotated".
func (LogRotated) Type() Type { return "LogRotated" }

// Type is "LimitReached".
func (LimitReached) Type() Type { return "LimitReached" }

// Type is "CostReserved".
func (CostReserved) Type() Type { return "CostReserved" }

// Type is "Outage".
func (Outage) Type() Type { return "Outage" }

// Type is "BudgetReached".
func (BudgetReached) Type() Type { return "BudgetReached" }

// Type is "CircuitBreaker".
func (CircuitBreaker) Type() Type { return "CircuitBreaker" }

// Type is "Paused".
func (Paused) Type() Type { return "Paused" }

// Type is "Resumed".
func (Resumed) Type() Type { return "Resumed" }

// Type is "CheckpointReached".
func (CheckpointReached) Type() Type { return "CheckpointReached" }

// Type is "Aborted".
func (Aborted) Type() Type { return "Aborted" }

// Type is "ApprovalRequest".
func (ApprovalRequest) Type() Type { return "ApprovalRequest" }

// Type is "ApprovalGiven".
func (ApprovalGiven) Type() Type { return "ApprovalGiven" }

// Type is "Unblocked".
func (Unblocked) Type() Type { return "Unblocked" }

// Type is "HumanEdit".
func (HumanEdit) Type() Type { return "HumanEdit" }

// Type is "HumanEditRefused".
func (HumanEditRefused) Type() Type { return "HumanEditRefused" }

// Type is "HumanNote".
func (HumanNote) Type() Type { return "HumanNote" }

// Type is "TaskAdded".
func (TaskAdded) Type() Type { return "TaskAdded" }

// Type is "TaskFinished".
func (TaskFinished) Type() Type { return "TaskFinished" }

// Type is "Registered".
func (Registered) Type() Type { return "Registered" }

// Type is "AgentStatus".
func (AgentStatus) Type() Type { return "AgentStatus" }

// Type is "Deregistered".
func (Deregistered) Type() Type { return "Deregistered" }

// Type is "TaskGated".
func (TaskGated) Type() Type { return "TaskGated" }

// Type is "ReviewRequested".
func (ReviewRequested) Type() Type { return "ReviewRequested" }

// Type is "ReviewClaimed".
func (ReviewClaimed) Type() Type { return "ReviewClaimed" }

// Type is "ReviewReleased".
func (ReviewReleased) Type() Type { return "ReviewReleased" }

// Type is "ReviewVerdict".
func (ReviewVerdict) Type() Type { return "ReviewVerdict" }

// Type is "FindingsAccepted".
func (FindingsAccepted) Type() Type { return "FindingsAccepted" }

// Type is "Blocked".
func (Blocked) Type() Type { return "Blocked" }

// Type is "Handoff".
func (Handoff) Type() Type { return "Handoff" }

// Type is "MergeStarting".
func (MergeStarting) Type() Type { return "MergeStarting" }

// Type is "Merged".
func (Merged) Type() Type { return "Merged" }

// Type is "IntegrationFailed".
func (IntegrationFailed) Type() Type { return "IntegrationFailed" }

// Type is "Rescoped".
func (Rescoped) Type() Type { return "Rescoped" }

// Type is "Abandoned".
func (Abandoned) Type() Type { return "Abandoned" }

// Type is "Anomaly".
func (Anomaly) Type() Type { return "Anomaly" }

// Type is "Discovery".
func (Discovery) Type() Type { return "Discovery" }

// Type is "SprintOpened".
func (SprintOpened) Type() Type { return "SprintOpened" }

// Type is "SprintClosed".
func (SprintClosed) Type() Type { return "SprintClosed" }

// Type is "Triaged".
func (Triaged) Type() Type { return "Triaged" }

// Type is "Escalated".
func (Escalated) Type() Type { return "Escalated" }
