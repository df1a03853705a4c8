package ggs

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"orch/blackboard/message"
)

// cells is v0.8's enumeration, in its order.
var cells = []struct {
	grad, d, p, omega string // "<" below the limit, "=" within it (plateau), ">" above
	want              message.Directive
}{
	{"<", "<", "<", "<", message.Success}, {"<", "<", ">", "<", message.Success},
	{"<", "<", "<", ">", message.Abandon}, {"<", "<", ">", ">", message.Abandon},
	{"<", ">", "<", "<", message.Refine}, {"<", ">", ">", "<", message.ChangeApproach},
	{"<", ">", "<", ">", message.Abandon}, {"<", ">", ">", ">", message.Abandon},
	{"=", "<", "<", "<", message.Success}, {"=", "<", ">", "<", message.Success},
	{"=", "<", "<", ">", message.Abandon}, {"=", "<", ">", ">", message.Abandon},
	{"=", ">", "<", "<", message.ChangePath}, {"=", ">", ">", "<", message.BreakSymmetry},
	{"=", ">", "<", ">", message.Abandon}, {"=", ">", ">", ">", message.Abandon},
	{">", "<", "<", "<", message.Success}, {">", "<", ">", "<", message.Success},
	{">", "<", "<", ">", message.Abandon}, {">", "<", ">", ">", message.Abandon},
	{">", ">", "<", "<", message.Refine}, {">", ">", ">", "<", message.ChangeApproach},
	{">", ">", "<", ">", message.Abandon}, {">", ">", ">", ">", message.Abandon},
}

func TestV08Cells(t *testing.T) {
	p := Defaults(message.V08)
	p.MaxReplans = 1000 // Ω comes from the elapsed time alone, nearly
	for i, c := range cells {
		t.Run(fmt.Sprintf("cell %d", i+1), func(t *testing.T) {
			bad := map[string]int{"<": 4, ">": 16}[c.d]
			logical := map[string]int{"<": bad / 4, ">": bad * 3 / 4}[c.p]
			grad := map[string]float64{"<": -0.2, "=": 0.05, ">": 0.2}[c.grad]
			elapsed := map[string]int64{"<": 30_000, ">": 2 * p.TimeBudgetMS}[c.omega]
			now := at(elapsed, request(ran("s", "a", "x", of(20, bad, logical)...)))
			om := math.Min(1, 0.6*2/1000+0.4*float64(elapsed)/float64(p.TimeBudgetMS))
			loss := 0.6*float64(bad)/20 + 0.3*(1-om)*float64(logical)/float64(bad) + 0.4*om
			before := answered(request(ran("s", "b", "y", of(20, 20, 10)...)), message.PlanDirective{Loss: message.Loss{L: loss - grad}})
			d := decide(t, message.V08, p, history(before, now))
			if got := directives([]Decision{d})[0]; got != c.want {
				t.Errorf("got %s, want %s: %v", got, c.want, d.Trace)
			}
			macro := message.Directive("")
			if d.Final != nil {
				macro = d.Final.MacroState
			} else {
				macro = d.Directive.MacroState
			}
			if macro != c.want {
				t.Errorf("macro-state %s, want %s", macro, c.want)
			}
		})
	}
}

func TestV08Borders(t *testing.T) {
	p := Defaults(message.V08)
	loss := func(d, pp, om float64) message.Loss { return message.Loss{D: d, P: pp, Omega: om} }
	for name, c := range map[string]struct {
		loss message.Loss
		grad float64
		want message.Directive
	}{
		"Ω = θ abandons":                       {loss(0.9, 0.2, 0.8), 0, message.Abandon},
		"Ω = θ within rounding":                {loss(0.9, 0.2, 0.6*4/3), 0, message.Abandon},
		"Ω just below θ goes on":               {loss(0.9, 0.2, 0.7999), 0, message.ChangePath},
		"D = δ succeeds":                       {loss(0.3, 1, 0.1), 0, message.Success},
		"D = δ within rounding":                {loss(0.1+0.2, 1, 0.1), 0, message.Success},
		"D just above δ goes on":               {loss(0.3001, 1, 0.1), 0, message.BreakSymmetry},
		"P = ρ is environmental on a plateau":  {loss(0.9, 0.5, 0.1), 0, message.ChangePath},
		"P = ρ is environmental with signal":   {loss(0.9, 0.5, 0.1), 0.3, message.Refine},
		"P just above ρ is logical":            {loss(0.9, 0.5001, 0.1), 0, message.BreakSymmetry},
		"∇L = ε is signal":                     {loss(0.9, 0.2, 0.1), 0.1, message.Refine},
		"∇L = −ε is signal":                    {loss(0.9, 0.9, 0.1), -0.1, message.ChangeApproach},
		"∇L = ε within rounding":               {loss(0.9, 0.2, 0.1), 0.3 - 0.2, message.Refine},
		"|∇L| just below ε is a plateau":       {loss(0.9, 0.2, 0.1), -0.0999, message.ChangePath},
		"Ω = θ is asked before D = δ":          {loss(0.3, 0, 0.8), 0, message.Abandon},
		"Ω = 1 abandons":                       {loss(1, 1, 1), 0.5, message.Abandon},
		"everything at its limit is a success": {loss(0.3, 0.5, 0.79), 0.1, message.Success},
	} {
		if got := MacroState(p, c.loss, c.grad); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

// stalling is a round in which nothing passes, for environmental reasons.
func stalling(n int) Round {
	return request(ran("s", "a", fmt.Sprint("x", n), of(4, 4, 0)...))
}

func TestFastFailingTaskAbandonsAtItsFourthRound(t *testing.T) {
	list := play(t, message.V08, Defaults(message.V08), stalling(1), stalling(2), stalling(3), stalling(4), stalling(5))
	if len(list) != 4 || last(list).Final == nil || last(list).Final.Directive != message.Abandon {
		t.Fatalf("got %v", directives(list))
	}
	if o := last(list).Final.Loss.Omega; o != 0.8 {
		t.Errorf("Ω is %v, want exactly 0.8 after rounding", o)
	}
	if Defaults(message.V08).Bound() != 4 || Defaults(message.LikeForLike).Bound() != 8 {
		t.Errorf("bounds %d and %d, want 4 and 8", Defaults(message.V08).Bound(), Defaults(message.LikeForLike).Bound())
	}
}

func TestLaw2OnTheLoss(t *testing.T) {
	p := Defaults(message.V08)
	p.MaxReplans = 100
	worse := func(n int) Round { return request(ran("s", "a", "x", of(10, n, 0)...)) }
	for name, c := range map[string]struct {
		bad  []int
		want message.Directive
	}{
		"two worsening rounds abandon":          {[]int{4, 6, 8}, message.Abandon},
		"one does not":                          {[]int{4, 6, 6}, message.ChangePath},
		"a plateau between starts again":        {[]int{4, 6, 6, 8}, message.Refine},
		"an improvement between starts again":   {[]int{4, 7, 4, 7}, message.Refine},
		"not when close enough but for a check": {[]int{1, 3, 5}, message.Refine},
	} {
		var rounds []Round
		for _, n := range c.bad {
			rounds = append(rounds, worse(n))
		}
		params := p
		if strings.HasPrefix(name, "not when") {
			params.Delta = 0.5
			for i := range rounds {
				rounds[i].Request.Outcomes[0].CriteriaVerdicts[0].Required = true
			}
		}
		list := play(t, message.V08, params, rounds...)
		if got := last(directives(list)); got != c.want || len(list) != len(c.bad) {
			t.Errorf("%s: got %v", name, directives(list))
		}
	}
}

// ∇L = ε moves nothing: it neither counts as worsening nor lets a count stand.
func TestLaw2StartsAgainAtEpsilon(t *testing.T) {
	p := Defaults(message.V08)
	now := request(ran("s", "a", "x", of(10, 8, 0)...))
	l := exact(0.6*0.8 + 0.4*0.4)
	for grad, want := range map[float64]int{0.1: 0, 0.11: 2, -0.3: 0, 0: 0} {
		p.Law2 = 3
		d := decide(t, message.V08, p, history(answered(stalling(1), message.PlanDirective{Loss: message.Loss{L: l - grad}, WorseningCount: 1}), now))
		if d.Directive == nil || d.Directive.WorseningCount != want {
			t.Errorf("∇L %g: worsening %+v, want %d", grad, d.Directive, want)
		}
	}
}

func TestFirstRoundIsAPlateau(t *testing.T) {
	for logical, want := range map[int]message.Directive{0: message.ChangePath, 4: message.BreakSymmetry} {
		d := decide(t, message.V08, Defaults(message.V08), history(request(ran("s", "a", "x", of(4, 4, logical)...))))
		if d.Directive.Directive != want || d.Directive.GradL != 0 || d.Directive.PrevDirective != message.Init || d.Directive.Round != 1 {
			t.Errorf("got %+v, want %s", d.Directive, want)
		}
	}
}

func TestUrgencyOfRefine(t *testing.T) {
	p := Defaults(message.V08)
	p.MaxReplans = 100
	first := request(called(ran("s", "a", "main1", of(10, 6, 0)...), "shell:curl", "old", ""))
	for name, c := range map[string]struct {
		bad  int
		want []string
	}{
		"improving blocks only the latest failed targets": {4, []string{"new"}},
		"worsening blocks all of the task's":              {9, []string{"old", "main1", "new", "main2"}},
	} {
		second := request(called(ran("s", "a", "main2", of(10, c.bad, 0)...), "shell:curl", "new", ""))
		d := last(play(t, message.V08, p, first, second)).Directive
		if d.Directive != message.Refine || !slices.Equal(d.BlockedTargets, c.want) || len(d.BlockedTools) != 0 {
			t.Errorf("%s: %s blocks %v and %v, want %v", name, d.Directive, d.BlockedTargets, d.BlockedTools, c.want)
		}
		first.Directive = nil
	}
}

func TestUrgencyOfChangeApproach(t *testing.T) {
	p := Defaults(message.V08)
	p.MaxReplans = 100
	now := request(
		ran("s", "wrong", "x", of(5, 5, 5)...),
		ran("u", "unlucky", "y", of(1, 1, 0)...),
	)
	for name, c := range map[string]struct {
		grad float64
		want []string
	}{
		"improving blocks approaches whose failures were logical": {-0.2, []string{"wrong"}},
		"worsening blocks those of every failing task":            {0.2, []string{"wrong", "unlucky"}},
	} {
		l := decide(t, message.V08, p, history(answered(stalling(1), message.PlanDirective{}), now)).Directive.Loss.L
		d := decide(t, message.V08, p, history(answered(stalling(1), message.PlanDirective{Loss: message.Loss{L: l - c.grad}}), now)).Directive
		if d.Directive != message.ChangeApproach || !slices.Equal(d.BlockedTools, c.want) || len(d.BlockedTargets) != 0 {
			t.Errorf("%s: %s blocks %v and %v, want %v", name, d.Directive, d.BlockedTools, d.BlockedTargets, c.want)
		}
	}
}

func TestRequiredCriteriaBlockSuccess(t *testing.T) {
	for name, c := range map[string]struct {
		bad    message.Verdict
		strict bool
		want   message.Directive
	}{
		"nothing required":             {fails("z", message.Logical), false, message.Success},
		"a required one":               {required(fails("z", message.Logical)), false, message.BreakSymmetry},
		"a check that ran":             {byCheck(fails("z", message.Logical)), false, message.BreakSymmetry},
		"strict":                       {fails("z", message.Logical), true, message.BreakSymmetry},
		"a required one, environment":  {required(fails("z", message.Environmental)), false, message.ChangePath},
		"a check that ran, no failure": {byCheck(fails("z", "")), false, message.ChangePath},
	} {
		h := history(request(ran("s", "a", "x", append(of(9, 0, 0), c.bad)...)))
		h.Strict = c.strict
		d := decide(t, message.V08, Defaults(message.V08), h)
		if got := directives([]Decision{d})[0]; got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
		if d.Final != nil && len(d.Final.UnmetCriteria) != 1 {
			t.Errorf("%s: a success has to name what is not met, got %v", name, d.Final.UnmetCriteria)
		}
	}
}

func TestV07(t *testing.T) {
	p := Defaults(message.V07)
	p.MaxReplans = 1000
	now := func(bad, logical int) Round { return request(ran("s", "a", "x", of(20, bad, logical)...)) }
	for name, c := range map[string]struct {
		bad, logical int
		grad         float64
		want         message.Directive
	}{
		"improving refines whatever P":       {16, 16, -0.2, message.Refine},
		"improving refines":                  {16, 0, -0.2, message.Refine},
		"plateau, environmental":             {16, 4, 0, message.ChangePath},
		"plateau, logical":                   {16, 12, 0, message.BreakSymmetry},
		"worsening, environmental":           {16, 4, 0.2, message.Refine},
		"worsening, logical":                 {16, 12, 0.2, message.ChangeApproach},
		"signal that is neither, logical":    {16, 12, 0.1, message.ChangeApproach},
		"close is not enough":                {4, 4, 0, message.Refine},
		"only D = 0 is":                      {0, 0, 0, message.Success},
		"plateau, P = ρ is environmental":    {16, 8, 0, message.ChangePath},
		"improving by exactly ε is no trend": {16, 12, -0.1, message.ChangeApproach},
	} {
		l := decide(t, message.V07, p, history(answered(stalling(1), message.PlanDirective{}), now(c.bad, c.logical)))
		loss := 0.0
		if l.Directive != nil {
			loss = l.Directive.Loss.L
		}
		d := decide(t, message.V07, p, history(answered(stalling(1), message.PlanDirective{Loss: message.Loss{L: loss - c.grad}}), now(c.bad, c.logical)))
		if got := directives([]Decision{d})[0]; got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
		if d.Directive != nil && len(d.Directive.BlockedTargets) > 0 {
			t.Errorf("%s: v0.7 blocks no targets", name)
		}
	}
	if got := directives(play(t, message.V07, Defaults(message.V07), stalling(1), stalling(2), stalling(3), stalling(4))); last(got) != message.Abandon {
		t.Errorf("got %v, want an end", got)
	}
}
