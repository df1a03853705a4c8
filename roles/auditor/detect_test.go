package auditor

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"orch/blackboard/message"
	"orch/roles/run/config"
)

// A detection has a log with exactly its fault, and the same log without it.
type detection struct {
	kind  Kind
	fault func(*script) []uint64 // returns the evidence
	twin  func(*script)
}

func detections() map[string]detection {
	usual := config.Default().Audit
	return map[string]detection{
		"refused append": {BoundaryViolation,
			func(s *script) []uint64 {
				s.begin()
				return []uint64{s.say(message.BoundaryViolation{By: "executor-1", From: message.Executor, Refused: "FinalResult", Why: "not by executor"}, said{from: message.Board})}
			},
			func(s *script) { s.begin() }},
		"a message of another role": {BoundaryViolation,
			func(s *script) []uint64 {
				s.begin()
				return []uint64{s.say(message.PlanDirective{Directive: message.Refine}, said{from: message.Executor, subject: "g"})}
			},
			func(s *script) { s.begin(); s.directive(message.Refine, 0.5) }},
		"another agent's name": {BoundaryViolation,
			func(s *script) []uint64 {
				s.begin()
				return []uint64{s.say(message.ApprovalGiven{Request: "r", Allowed: true}, said{from: message.Human, agent: "executor-1"})}
			},
			func(s *script) {
				s.begin()
				s.say(message.ApprovalGiven{Request: "r", Allowed: true}, said{from: message.Human})
				s.say(message.PlanRejected{PlanID: "p"}, said{from: message.PlanValidator, agent: "planner-2"})
			}},
		"a result without a claim": {BoundaryViolation,
			func(s *script) []uint64 {
				s.begin()
				s.planned("t1")
				c := s.claim("t1", 2)
				return []uint64{c, s.result("t1", 1)}
			},
			func(s *script) { s.begin(); s.planned("t1"); s.claim("t1", 2); s.result("t1", 2) }},
		"own work judged": {BoundaryViolation,
			func(s *script) []uint64 {
				s.begin()
				s.planned("t1")
				s.claim("t1", 1)
				r := s.say(message.TaskFinished{Task: "t1"}, said{from: message.Human, agent: "agent-validator-1", subject: "t1", fence: 1})
				return []uint64{r, s.judge(outcomeOf("t1", message.Matched, pass("c")))}
			},
			func(s *script) { s.begin(); s.planned("t1"); s.work("t1") }},
		"an anomaly of another role": {BoundaryViolation,
			func(s *script) []uint64 {
				s.begin()
				return []uint64{s.anomaly(message.Executor, "spec_gap", "what", "x")}
			},
			func(s *script) { s.begin(); s.anomaly(message.Planner, "spec_gap", "what", "x") }},
		"an ended goal": {BoundaryViolation,
			func(s *script) []uint64 {
				*s = *goodRun(s.t)
				return []uint64{uint64(len(s.records)), s.draft("t9", "q")}
			},
			func(s *script) { *s = *goodRun(s.t); s.goal = "other"; s.draft("t9", "q") }},
		"unreadable": {MalformedMessage,
			func(s *script) []uint64 {
				s.begin()
				return []uint64{s.say(message.PlanDirective{}, said{from: message.GGS, raw: json.RawMessage(`{"loss":"much"}`)})}
			},
			func(s *script) { s.begin(); s.directive(message.Refine, 1) }},
		"settings": {SettingsChanged,
			func(s *script) []uint64 {
				s.begin()
				return []uint64{s.say(message.CheckpointReached{Name: settingsChanged, Reason: "during call c"}, said{from: message.Executor, subject: "t1"})}
			},
			func(s *script) {
				s.begin()
				s.say(message.CheckpointReached{Name: "by hand"}, said{from: message.Human})
			}},
		"flood": {LogFlood,
			func(s *script) []uint64 {
				var last uint64
				for range usual.FloodMessages + 5 {
					last = s.say(message.HumanNote{Message: "x"}, said{from: message.Human})
					s.wait(-time.Second)
				}
				return []uint64{1, last - 4}
			},
			func(s *script) {
				for range usual.FloodMessages + 5 {
					s.say(message.HumanNote{Message: "x"}, said{from: message.Human})
				}
			}},
		"flood over the turn of a minute": {LogFlood,
			func(s *script) []uint64 {
				s.now = s.now.Truncate(time.Minute).Add(50 * time.Second)
				var last uint64
				for range usual.FloodMessages + 5 { // in 20 seconds, 10 on either side
					last = s.say(message.HumanNote{Message: "x"}, said{from: message.Human})
					s.wait(20*time.Second/time.Duration(usual.FloodMessages) - time.Second)
				}
				return []uint64{1, last - 4}
			},
			func(s *script) {
				s.now = s.now.Truncate(time.Minute).Add(50 * time.Second)
				for n := range 3 * usual.FloodMessages / 2 { // as many as that, in two bursts with a minute between
					s.say(message.HumanNote{Message: "x"}, said{from: message.Human})
					s.wait(-time.Second)
					if n == usual.FloodMessages/2 {
						s.wait(time.Minute)
					}
				}
			}},
		"given up": {GoalAbandoned,
			func(s *script) []uint64 {
				s.begin()
				return []uint64{s.final(message.FinalResult{Directive: message.Abandon})}
			},
			func(s *script) { *s = *goodRun(s.t) }},
		"given up at a deadline": {GoalAbandoned,
			func(s *script) []uint64 {
				s.begin()
				s.say(message.GiveUp{Reason: "late", Deadline: new(time.Time)}, said{from: message.Human, subject: "g"})
				return []uint64{s.final(message.FinalResult{Directive: message.Abandon})}
			},
			func(s *script) {
				s.begin()
				s.say(message.GiveUp{Reason: "by hand"}, said{from: message.Human, subject: "g"})
				s.final(message.FinalResult{Directive: message.Abandon, NextMoves: []string{"x"}})
			}},
		"calls refused again and again": {RepeatedRefusals,
			func(s *script) []uint64 {
				s.begin()
				s.planned("t1")
				var ev []uint64
				for range usual.Refusals + 2 {
					ev = append(ev, s.say(message.ToolCall{Call: "c", Tool: "shell", Denied: "it leaves the workspace"}, said{from: message.Executor, subject: "t1"}))
				}
				return ev[:usual.Refusals]
			},
			func(s *script) {
				s.begin()
				s.planned("t1")
				for range usual.Refusals + 2 {
					s.say(message.ToolCall{Call: "c", Tool: "shell"}, said{from: message.Executor, subject: "t1"})
				}
				for range usual.Refusals - 1 {
					s.say(message.ToolCall{Call: "c", Tool: "shell", Denied: "it leaves the workspace"}, said{from: message.Executor, subject: "t1"})
				}
			}},
		"plans refused again and again": {RepeatedRefusals,
			func(s *script) []uint64 {
				s.begin()
				var ev []uint64
				for range usual.Refusals {
					ev = append(ev, s.say(message.PlanRejected{PlanID: "p"}, said{from: message.PlanValidator}))
				}
				return ev
			},
			func(s *script) {
				s.begin()
				for range usual.Refusals - 1 {
					s.say(message.PlanRejected{PlanID: "p"}, said{from: message.PlanValidator})
				}
			}},
		"messages given up": {LogRestored,
			func(s *script) []uint64 {
				s.begin()
				return []uint64{s.say(message.JournalRepaired{FromSeq: 7, LostTo: 9, Kept: "archive/replaced-1", Why: "w"}, said{from: message.Board, agent: "human-1"})}
			},
			func(s *script) {
				s.begin()
				s.say(message.JournalRepaired{FromSeq: 7, Bytes: 12, Kept: "archive/torn-1", Why: "cut off"}, said{from: message.Board, agent: "executor-1"})
			}},
		"duplicate id": {DuplicateTask,
			func(s *script) []uint64 {
				s.begin()
				first := s.draft("t1", "p")
				return []uint64{first, s.draft("t1", "p")}
			},
			func(s *script) {
				s.begin()
				s.draft("t1", "p")
				s.draft("t2", "p")
				task := message.TaskAdded{Tasks: []message.SubTask{{ID: "h", Intent: "x"}}, Draft: true}
				s.say(task, said{from: message.Human})
				task.Draft = false
				s.say(task, said{from: message.Human})
			}},
		"a task missing from the round": {FanInIncomplete,
			func(s *script) []uint64 {
				s.begin()
				s.planned("t1", "t2")
				plan := uint64(len(s.records))
				s.work("t1")
				s.work("t2")
				return []uint64{plan, s.summary(outcomeOf("t1", message.Matched, pass("c")))}
			},
			func(s *script) { *s = *goodRun(s.t) }},
		"matched without an approval": {FanInIncomplete,
			func(s *script) []uint64 {
				s.begin()
				s.planned("t1")
				plan := uint64(len(s.records))
				s.claim("t1", 1)
				s.result("t1", 1)
				return []uint64{plan, s.replan(outcomeOf("t1", message.Matched, pass("c")))}
			},
			func(s *script) {
				s.begin()
				s.planned("t1")
				s.claim("t1", 1)
				s.result("t1", 1)
				s.judge(outcomeOf("t1", message.Failed, fail("c")))
				s.replan(outcomeOf("t1", message.Failed, fail("c")))
			}},
		"attempts": {ExcessiveRetries,
			func(s *script) []uint64 {
				s.begin()
				s.planned("t1")
				var ev []uint64
				for n := range usual.Attempts {
					s.claim("t1", message.Fence(n+1))
					ev = append(ev, s.result("t1", message.Fence(n+1)))
					s.correct("t1")
				}
				return ev
			},
			func(s *script) {
				s.begin()
				s.planned("t1")
				for n := range usual.Attempts - 1 {
					s.claim("t1", message.Fence(n+1))
					s.result("t1", message.Fence(n+1))
					s.correct("t1")
				}
			}},
		"crashes": {ExcessiveRetries,
			func(s *script) []uint64 {
				s.begin()
				var ev []uint64
				for range usual.Crashes {
					ev = append(ev, s.step(message.Planner, message.EndCrash, 0, 0))
				}
				return ev
			},
			func(s *script) {
				s.begin()
				for range 2 * usual.Crashes { // killed from outside, or well in between
					s.step(message.Planner, message.EndCrash, 0, 0)
					s.step(message.Planner, message.EndKilled, 0, 0)
					s.step(message.Planner, message.EndDone, 0, 0)
				}
			}},
		"no improvement": {NoImprovement,
			func(s *script) []uint64 {
				s.begin()
				s.directive(message.Refine, 0.5)
				var ev []uint64
				for range usual.Rounds {
					ev = append(ev, s.directive(message.ChangePath, 0.5))
				}
				return ev
			},
			func(s *script) {
				s.begin()
				for n := range 3 * usual.Rounds {
					s.directive(message.ChangePath, 1/float64(1+n/usual.Rounds))
				}
			}},
		"thrashing": {GGSThrashing,
			func(s *script) []uint64 {
				s.begin()
				return []uint64{s.directive(message.BreakSymmetry, 0.5), s.directive(message.BreakSymmetry, 0.5)}
			},
			func(s *script) {
				s.begin()
				s.directive(message.BreakSymmetry, 0.5)
				s.directive(message.BreakSymmetry, 0.4)
				s.directive(message.Refine, 0.4)
				s.directive(message.BreakSymmetry, 0.4)
			}},
		"accepted, though a criterion failed": {OverclaimedResult,
			func(s *script) []uint64 { return s.ended(message.FinalResult{Directive: message.Success}) },
			func(s *script) {
				s.ended(message.FinalResult{Directive: message.Abandon, NextMoves: []string{"x"}, UnmetCriteria: []message.Verdict{fail("c")}})
			}},
		"more accomplished than passed": {OverclaimedResult,
			func(s *script) []uint64 {
				return s.ended(message.FinalResult{Directive: message.Abandon, NextMoves: []string{"x"}, Accomplished: []string{"everything"}})
			},
			func(s *script) {
				s.ended(message.FinalResult{Directive: message.Abandon, NextMoves: []string{"x"}})
			}},
		"nothing measured": {OverclaimedResult,
			func(s *script) []uint64 {
				s.begin()
				return []uint64{s.final(message.FinalResult{Directive: message.Accept})}
			},
			func(s *script) {
				s.begin()
				s.final(message.FinalResult{Directive: message.Abandon, NextMoves: []string{"x"}})
			}},
		"work that calls itself a fact": {OverclaimedResult,
			func(s *script) []uint64 {
				s.begin()
				s.say(message.TaskSpec{TaskID: "g", Intent: "x", RawInput: "x", Declarative: true}, said{from: message.Perceiver, subject: "g"})
				s.planned("t1")
				return []uint64{s.final(message.FinalResult{Directive: message.Accept})}
			},
			func(s *script) {
				s.begin()
				s.say(message.TaskSpec{TaskID: "g", Intent: "x", RawInput: "x", Declarative: true}, said{from: message.Perceiver, subject: "g"})
				s.final(message.FinalResult{Directive: message.Accept, NextMoves: []string{"x"}})
			}},
		"matched with a failed criterion": {OverclaimedResult,
			func(s *script) []uint64 {
				s.begin()
				return []uint64{s.judge(outcomeOf("t1", message.Matched, pass("c"), fail("d")))}
			},
			func(s *script) { s.begin(); s.judge(outcomeOf("t1", message.Matched, pass("c"), pass("d"))) }},
		"no evidence": {PassNoEvidence,
			func(s *script) []uint64 {
				s.begin()
				v := pass("c")
				v.Evidence = " — "
				return []uint64{s.judge(outcomeOf("t1", message.Matched, v))}
			},
			func(s *script) { s.begin(); s.judge(outcomeOf("t1", message.Matched, pass("c"))) }},
		"the criterion as its evidence": {PassNoEvidence,
			func(s *script) []uint64 {
				s.begin()
				v := pass("c")
				v.Evidence = "It is C."
				return []uint64{s.judge(outcomeOf("t1", message.Matched, v))}
			},
			func(s *script) { s.begin(); s.judge(outcomeOf("t1", message.Failed, fail("c"))) }},
		"rubber stamping": {RubberStamping,
			func(s *script) []uint64 {
				s.reviews(3, func(n int) bool { return n%2 == 0 })
				return s.reviews(1, func(int) bool { return true })
			},
			func(s *script) { s.reviews(10, func(n int) bool { return n%2 == 0 }) }},
		"role drift": {RoleDrift,
			func(s *script) []uint64 {
				s.reviews(3, func(n int) bool { return n%2 == 0 })
				return s.reviews(1, func(int) bool { return false })
			},
			func(s *script) { s.reviews(10, func(int) bool { return true }) }},
		"spend": {SpendDrift,
			func(s *script) []uint64 {
				for range 2 * usual.Window {
					s.step(message.Planner, message.EndDone, 0.01, 0)
				}
				var ev []uint64
				for range usual.Window {
					ev = append(ev, s.step(message.Planner, message.EndDone, 0.04, 0))
				}
				return ev
			},
			func(s *script) {
				for range 2 * usual.Window {
					s.step(message.Planner, message.EndDone, 0.01, 0)
				}
				for range usual.Window {
					s.step(message.Planner, message.EndDone, 0.02, 0)
				}
			}},
		"tokens": {SpendDrift,
			func(s *script) []uint64 {
				for range 2 * usual.Window {
					s.step(message.Planner, message.EndDone, 0, 100)
				}
				var ev []uint64
				for range usual.Window {
					ev = append(ev, s.step(message.Planner, message.EndDone, 0, 1000))
				}
				return ev
			},
			func(s *script) {
				for range 4 * usual.Window {
					s.step(message.Planner, message.EndDone, 0, 100)
				}
			}},
		"lease": {LeaseLoss,
			func(s *script) []uint64 {
				s.begin()
				s.planned("t1")
				c := s.claim("t1", 1)
				return []uint64{c, s.say(message.LeaseLapsed{Task: "t1", Agent: "executor-1", Fence: 1, Reason: "gone"}, said{from: message.Supervisor, subject: "t1"})}
			},
			func(s *script) {
				s.begin()
				s.planned("t1")
				s.claim("t1", 1)
				s.say(message.Released{Task: "t1", Agent: "executor-1", Fence: 1}, said{from: message.Supervisor, subject: "t1"})
			}},
		"late result": {LeaseLoss,
			func(s *script) []uint64 {
				s.begin()
				return []uint64{s.say(message.LateResult{Task: "t1", Fence: 1}, said{from: message.Executor, subject: "t1"})}
			},
			func(s *script) { s.begin() }},
		"stall": {Stall,
			func(s *script) []uint64 {
				s.begin()
				last := uint64(len(s.records))
				s.wait(ms(usual.StallMS))
				s.planned("t1")
				return []uint64{last}
			},
			func(s *script) { // nobody attends it, or it waits for a person, or is not quiet
				s.begin()
				s.wait(ms(usual.StallMS) - 2*time.Second)
				s.say(message.ClarificationQuestion{Round: 1, Questions: []string{"?"}}, said{from: message.Perceiver})
				s.wait(2 * ms(usual.StallMS))
				s.say(message.ClarificationAnswer{Round: 1}, said{from: message.Human})
				s.say(message.Deregistered{Agent: "supervisor-1"}, said{from: message.Supervisor, board: true})
				s.wait(2 * ms(usual.StallMS))
				s.say(message.Registered{Agent: "supervisor-2", Role: message.Supervisor}, said{from: message.Supervisor, agent: "supervisor-2", board: true})
				s.planned("t1")
			}},
		"orphaned rejection": {OrphanedRejection,
			func(s *script) []uint64 {
				s.begin()
				s.planned("t1")
				s.claim("t1", 1)
				s.result("t1", 1)
				r := s.correct("t1")
				s.say(message.Deregistered{Agent: "supervisor-1"}, said{from: message.Supervisor, board: true})
				s.wait(ms(usual.RejectionMS))
				s.claim("t1", 2)
				return []uint64{r}
			},
			func(s *script) {
				s.begin()
				s.planned("t1")
				s.claim("t1", 1)
				s.result("t1", 1)
				s.correct("t1")
				s.say(message.Paused{Reason: "x"}, said{from: message.Human, board: true})
				s.wait(2 * ms(usual.RejectionMS))
				s.say(message.Resumed{}, said{from: message.Human, board: true})
				s.claim("t1", 2)
			}},
		"forgotten pause": {ForgottenPause,
			func(s *script) []uint64 {
				s.begin()
				p := s.say(message.Paused{Reason: "lunch"}, said{from: message.Human, board: true})
				s.wait(ms(usual.PauseMS))
				s.say(message.HumanNote{Message: "oh"}, said{from: message.Human, board: true})
				return []uint64{p}
			},
			func(s *script) {
				s.begin()
				s.say(message.Paused{Reason: "lunch"}, said{from: message.Human, board: true})
				s.wait(ms(usual.PauseMS) - time.Minute)
				s.say(message.Resumed{}, said{from: message.Human, board: true})
				s.final(message.FinalResult{Directive: message.Abandon, NextMoves: []string{"x"}})
				s.wait(2 * ms(usual.PauseMS))
				s.say(message.HumanNote{Message: "hm"}, said{from: message.Human, board: true})
			}},
		"a goal's forgotten checkpoint": {ForgottenPause,
			func(s *script) []uint64 {
				s.begin()
				p := s.say(message.CheckpointReached{Name: "look"}, said{from: message.Human})
				s.wait(ms(usual.PauseMS))
				s.say(message.Resumed{}, said{from: message.Human})
				return []uint64{p}
			},
			func(s *script) {
				s.begin()
				s.say(message.CheckpointReached{Name: "look"}, said{from: message.Human})
				s.say(message.Resumed{}, said{from: message.Human})
			}},
		"stale draft": {StaleDraft,
			func(s *script) []uint64 {
				s.begin()
				s.say(message.Deregistered{Agent: "supervisor-1"}, said{from: message.Supervisor, board: true})
				d := s.draft("t1", "p")
				s.wait(ms(usual.DraftMS))
				s.dispatch("p", "t1")
				return []uint64{d}
			},
			func(s *script) {
				s.begin()
				s.say(message.Deregistered{Agent: "supervisor-1"}, said{from: message.Supervisor, board: true})
				s.draft("t1", "p")
				s.say(message.DraftVoided{Task: "t1", PlanID: "p"}, said{from: message.Supervisor})
				s.wait(2 * ms(usual.DraftMS))
				s.draft("t2", "p")
				s.dispatch("p", "t2")
			}},
		"retry cluster": {RetryCluster,
			func(s *script) []uint64 {
				s.begin()
				return s.anomalies("retry_loop", "error_pattern",
					"dial tcp 10.0.0.7:5432: connection refused", "Dial tcp 10.0.0.12:5432: connection refused!", "dial tcp [::1]:5432 connection was refused")
			},
			func(s *script) {
				s.begin()
				s.anomalies("retry_loop", "error_pattern", "connection refused by the database", "undefined: Frobnicate", "assertion failed in TestLeap")
			}},
		"debt": {DebtAccumulation,
			func(s *script) []uint64 {
				s.begin()
				return s.anomalies("trade_off", "what", "no cache", "global lock", "copied parser")
			},
			func(s *script) {
				s.begin()
				for _, debt := range []string{"true", "none", "No debt.", "no", "None, it is whole.", "no technical debt was created", "true"} {
					s.say(message.Anomaly{Kind: "trade_off", Details: map[string]string{"what": "x", "why": "y", "debt_created": debt}}, said{from: message.Executor})
				}
			}},
		"assumptions": {AssumptionCascade,
			func(s *script) []uint64 {
				s.begin()
				return s.anomalies("assumption_violated", "assumption", "the API returns sorted rows", "the api always returns sorted rows")
			},
			func(s *script) {
				s.begin()
				s.anomalies("assumption_violated", "assumption", "the API returns sorted rows", "git is installed")
			}},
		"workarounds": {WorkaroundPattern,
			func(s *script) []uint64 {
				s.begin()
				return s.anomalies("workaround", "what", "skipped the flaky login test", "skipped the flaky logout test")
			},
			func(s *script) {
				s.begin()
				s.anomalies("workaround", "what", "skipped the flaky login test", "hard-coded the port")
			}},
		"spec gaps": {SpecGapCluster,
			func(s *script) []uint64 {
				s.begin()
				return s.anomalies("spec_ambiguity", "spec_ref", "SPEC.md#login", "spec.md: login")
			},
			func(s *script) {
				s.begin()
				s.anomalies("spec_ambiguity", "spec_ref", "SPEC.md#login", "API.md#rate-limits")
			}},
		"outage": {ServiceOutage,
			func(s *script) []uint64 {
				s.begin()
				return s.anomalies("external_blocker", "blocker_service", "registry.npmjs.org", "registry npmjs.org")
			},
			func(s *script) {
				s.begin()
				s.anomalies("external_blocker", "blocker_service", "registry.npmjs.org", "github.com")
			}},
	}
}

// ended is a goal whose one task failed, and its result.
func (s *script) ended(f message.FinalResult) []uint64 {
	s.begin()
	s.planned("t1")
	s.claim("t1", 1)
	s.result("t1", 1)
	o := outcomeOf("t1", message.Failed, fail("c"))
	s.judge(o)
	r := s.replan(o)
	return []uint64{r, s.final(f)}
}

func (s *script) anomaly(from message.Role, kind, field, text string) uint64 {
	details := map[string]string{"count": "3", "why": "y", "debt_created": "true", "reality": "not so", "question": "which?", "what": "x"}
	details[field] = text
	return s.say(message.Anomaly{Kind: kind, Details: details}, said{from: from})
}

func (s *script) anomalies(kind, field string, texts ...string) (seqs []uint64) {
	by := message.AnomalyLoggers(kind)[0]
	for _, text := range texts {
		seqs = append(seqs, s.anomaly(by, kind, field, text))
	}
	return seqs
}

// step is one whole step on the goal.
func (s *script) step(role message.Role, class string, cost float64, tokens int64) uint64 {
	s.say(message.StepStarting{Role: role, Subject: "g", Cause: "c", Agent: message.AgentID(role) + "-1", Try: 1}, said{from: message.Supervisor, subject: "g"})
	return s.say(message.StepEnded{Role: role, Subject: "g", Cause: "c", Agent: message.AgentID(role) + "-1", Class: class, Cost: cost,
		Usage: message.Usage{InputTokens: tokens}}, said{from: message.Supervisor, subject: "g"})
}

// reviews are so many windows of judgements of a code reviewer.
func (s *script) reviews(windows int, yes func(int) bool) (seqs []uint64) {
	for n := range windows * config.Default().Audit.Window {
		v := message.ReviewVerdict{Task: message.TaskID(fmt.Sprint("t", len(s.records))), Decision: message.Rejected, Checks: []message.Verdict{fail("c")}}
		if yes(n) {
			v.Decision, v.Checks = message.Approved, []message.Verdict{pass("c")}
		}
		seqs = append(seqs, s.say(v, said{from: message.CodeReviewer}))
	}
	return seqs
}

// but leaves out that a goal was given up, which many scripts end with, unless it
// is what is tried.
func but(list []Finding, kind Kind) []Finding {
	return slices.DeleteFunc(list, func(f Finding) bool { return f.Kind == GoalAbandoned && kind != GoalAbandoned })
}

func TestEveryDetectionAndItsTwin(t *testing.T) {
	covered := map[Kind]bool{BrokenChain: true, LogRewritten: true, AuditLogDamaged: true, UncomparedAnomalies: true} // tests of their own
	for name, d := range detections() {
		covered[d.kind] = true
		t.Run(name, func(t *testing.T) {
			s := newScript(t)
			ev := d.fault(s)
			expect(t, but(s.audit(config.Default().Audit), d.kind), d.kind, ev...)
			twin := newScript(t)
			d.twin(twin)
			expectNone(t, but(twin.audit(config.Default().Audit), d.kind))
		})
	}
	for _, kind := range Kinds() {
		if !covered[kind] {
			t.Errorf("no test for %s", kind)
		}
	}
}
