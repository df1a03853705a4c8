package process

import "testing"

func TestOnlyAStrangersSignalIsAKill(t *testing.T) {
	for name, c := range map[string]struct {
		r    Result
		want bool
	}{
		"a person's kill":                 {Result{Exit: -1, Signal: "SIGKILL"}, true},
		"a shutdown":                      {Result{Exit: -1, Signal: "SIGTERM"}, true},
		"of its guard":                    {Result{Exit: -1, Signal: "SIGKILL", Err: errNoReport}, true},
		"as a shell tells it":             {Result{Exit: 137}, true},
		"an error":                        {Result{Exit: 1}, false},
		"success":                         {Result{}, false},
		"its own fault":                   {Result{Exit: -1, Signal: "SIGSEGV"}, false},
		"for want of memory":              {Result{Exit: -1, Signal: "SIGKILL", OutOfMem: true}, false},
		"its shell's, for want of memory": {Result{Exit: 137, OutOfMem: true}, false},
		"by Run, for its time":            {Result{Exit: -1, Signal: "SIGKILL", TimedOut: true}, false},
		"by Run, for its caller":          {Result{Exit: -1, Signal: "SIGTERM", Canceled: true}, false},
		"it could not be started":         {Result{Exit: -1, Err: &StartError{}}, false},
	} {
		if got := c.r.Killed(); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}
