package runner

import (
	"bytes"
	"context"

	"orch/roles/act/check"
	"orch/roles/act/ledger"
)

// NoTests begins the evidence of a command that passed although no test ran.
const NoTests = "no tests were run"

// Check runs a check and listens which tests its command runs; of some tests
// only, if there are any. A command that passes without a test having run, where
// its runner was seen, fails: it says nothing. scratch is a folder that the
// command may write to, exe the program whose main calls Main.
func Check(ctx context.Context, exe, scratch string, ch check.Check, env check.Env, only []ledger.Name) (check.Verdict, ledger.Ledger) {
	if ch.Run == nil {
		return check.Run(ctx, ch, env), ledger.Ledger{}
	}
	c, err := Open(scratch, exe)
	if err == nil && len(only) > 0 {
		err = c.Only(only)
	}
	if err != nil {
		return check.Verdict{Class: check.Environmental, Kind: check.KindTool, Evidence: "the check can not run: " + err.Error()}, ledger.Ledger{}
	}
	defer c.Close()
	var out bytes.Buffer
	env.Process.Env, env.Process.Full = c.Env(env.Process.Env, env.Workspace), &out
	v := check.Run(ctx, ch, env)
	l, err := c.Read()
	if err != nil {
		return check.Verdict{Class: check.Environmental, Kind: check.KindTool, Evidence: err.Error()}, l
	}
	if tap, ok := ledger.TAP(out.Bytes()); ok && !l.Known() {
		l = tap
	}
	if v.Pass && l.Empty() && len(only) == 0 && (ch.Run.Exit == nil || *ch.Run.Exit == 0) {
		v = check.Verdict{Class: check.Logical, Kind: check.KindNone, Evidence: NoTests + ": " + v.Evidence}
	}
	return v, l
}
