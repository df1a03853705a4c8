package ggs

import (
	"fmt"
	"math"

	"orch/blackboard/message"
)

// Arrow shows where the loss went: ↓ it fell by more than ε, ↑ it rose by more
// than ε, ⊥ it moved by less than ε, → it moved by exactly ε, which is signal
// but neither better nor worse.
func Arrow(gradL, epsilon float64) string {
	g, e := exact(gradL), exact(epsilon)
	switch {
	case math.Abs(g) < e:
		return "⊥"
	case g < -e:
		return "↓"
	case g > e:
		return "↑"
	}
	return "→"
}

// Transition renders one step of a goal in a line, for example
// "refine→success  D 0.25  P 0.33  ∇L ↓0.18  Ω 0.41".
func Transition(prev, next message.Directive, loss message.Loss, gradL, epsilon float64) string {
	return fmt.Sprintf("%s→%s  D %.2f  P %.2f  ∇L %s%.2f  Ω %.2f",
		prev, next, loss.D, loss.P, Arrow(gradL, epsilon), math.Abs(gradL), loss.Omega)
}

// Transition renders the decision in a line.
func (d Decision) Transition(p Params) string {
	if f := d.Final; f != nil {
		return Transition(f.PrevDirective, f.Directive, f.Loss, f.GradL, p.Epsilon)
	}
	return Transition(d.Directive.PrevDirective, d.Directive.Directive, d.Directive.Loss, d.Directive.GradL, p.Epsilon)
}
