// Package ggs is the goal gradient solver: the controller of the loop.
//
// After every round that fell short it measures how far the result is from the
// intent (D), how wrong the approach is (P) and how much of the budget is spent
// (Ω), folds them into one loss L, and either orders a kind of change or ends
// the goal. Which change it orders is chosen by a policy; docs/controller.md
// has the formulas, the tables and the rules.
//
// It owns the decision and nothing else. Decide promises to be
//
//   - a function of the history given to it: everything it seems to remember
//     (the last loss, the directive before, what was tried, what is blocked) is
//     read from the rounds and from the directives given in answer to them;
//   - total and deterministic: a well-formed history always gets one answer;
//   - ending: Bound says after how many failing rounds at the latest.
//
// It never plans, never runs anything, never asks a model, and reads no clock.
//
// The lists of blocked things in a directive are complete: a planner obeys the
// latest directive and must not add those of earlier ones, because what a
// directive no longer names has been released.
package ggs
