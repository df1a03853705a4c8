//go:build unix

package confine

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"

	"orch/blackboard/crash"
)

// insideFD is where the child of Run reads its sandbox.
const insideFD = 3

// Run runs a command in a sandbox, with the terminal and the streams of this
// process. inside is the argv of a program that calls InsideMain. It returns the
// exit code of the command, or 128 and the signal that ended it.
func Run(inside []string, s Sandbox, env, argv []string) (exit int, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer r.Close()
	defer w.Close()
	cmd := exec.Command(inside[0], append(inside[1:], argv...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = os.Stdin, os.Stdout, os.Stderr, env
	cmd.ExtraFiles = []*os.File{r}
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	if err := s.Prepare(cmd.SysProcAttr); err != nil {
		return 0, err
	}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP) // the command's to answer
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("start %s confined: %w", argv[0], err)
	}
	if err := json.NewEncoder(w).Encode(s); err != nil {
		return 0, errors.Join(err, cmd.Process.Kill(), cmd.Wait())
	}
	w.Close()
	done := make(chan error, 1)
	crash.Go(func() { done <- cmd.Wait() })
	for {
		select {
		case sig := <-signals:
			if sig != syscall.SIGINT { // the terminal sends that one to both
				_ = cmd.Process.Signal(sig)
			}
		case err := <-done:
			var ended *exec.ExitError
			if err != nil && !errors.As(err, &ended) {
				return 0, err
			}
			if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
				return 128 + int(ws.Signal()), nil
			}
			return cmd.ProcessState.ExitCode(), nil
		}
	}
}

// InsideMain is the child of Run: it enters the sandbox and becomes the
// command. It returns only when that fails.
func InsideMain(argv []string) error {
	runtime.LockOSThread()
	f := os.NewFile(insideFD, "sandbox")
	var s Sandbox
	if err := json.NewDecoder(f).Decode(&s); err != nil || len(argv) == 0 {
		return errors.New("this is started by orch doctor confine itself")
	}
	f.Close()
	if err := s.Enter(); err != nil {
		return err
	}
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return err
	}
	return fmt.Errorf("start %s: %w", argv[0], syscall.Exec(path, argv, os.Environ()))
}
