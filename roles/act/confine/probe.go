package confine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"orch/blackboard/crash"
)

// Machine is what was found on this machine by trying.
type Machine struct {
	Layers
	NoNamespace string // why not; empty if there is one
	NoOverlay   string
	NoLandlock  string
}

// trialLimit only stops a trial that hangs. One takes some milliseconds, and much
// longer on a machine that is busy: a layer must not count as missing for that.
const trialLimit = time.Minute

// Probe tries each layer in a child process. try is the argv that ends in
// TryMain, such as {"/path/orch", "confine", "--try"}; dir is where it happens,
// which may be empty for the system's temporary folder: whether an overlay can be
// made depends on the file system.
func Probe(ctx context.Context, try []string, dir string) Machine {
	m := Machine{}
	if !Supported {
		m.NoNamespace = "not on " + runtime.GOOS
		m.NoLandlock, m.NoOverlay = m.NoNamespace, m.NoNamespace
		return m
	}
	namespace, overlay := make(chan error, 1), make(chan error, 1)
	crash.Go(func() { namespace <- trial(ctx, try, dir, Layers{Namespace: true}) })
	crash.Go(func() { overlay <- trial(ctx, try, dir, Layers{Namespace: true, Overlay: true}) })
	m.tryLandlock(ctx, try, dir)
	if err := <-namespace; err != nil {
		m.NoNamespace = err.Error()
	} else {
		m.Namespace = true
	}
	if err := <-overlay; err != nil {
		m.NoOverlay = err.Error()
	} else {
		m.Overlay = m.Namespace
	}
	return m
}

func (m *Machine) tryLandlock(ctx context.Context, try []string, dir string) {
	abi := landlockABI()
	switch {
	case abi == 0:
		m.NoLandlock = "the kernel does not have it, or has it switched off"
	case abi < MinLandlock:
		m.NoLandlock = fmt.Sprintf("ABI %d can not forbid to truncate files, ABI %d is needed", abi, MinLandlock)
	default:
		if err := trial(ctx, try, dir, Layers{Landlock: abi}); err != nil {
			m.NoLandlock = err.Error()
		} else {
			m.Landlock = abi
		}
	}
}

// trial starts a child that enters a sandbox and tries to get out.
func trial(ctx context.Context, try []string, in string, l Layers) error {
	dir, err := os.MkdirTemp(in, "orch-try-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return err
	}
	for _, sub := range []string{"in/shut", "in/over", "hidden", "lower", "upper", "work"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			return err
		}
	}
	for _, name := range []string{"hidden/secret", "lower/below"} {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte("x"), 0o600); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, trialLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, try[0], slices.Concat(try[1:], []string{l.String(), dir})...)
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	if err := (Sandbox{Layers: l}).Prepare(cmd.SysProcAttr); err != nil {
		return err
	}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(out) > 0 {
		return errors.New(strings.TrimSpace(string(out)))
	}
	return explain(err)
}

// explain puts the refusals of a kernel or a container to make a namespace into
// words, and returns any other error as it is.
func explain(err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return errors.New("no user namespace may be made here: user.max_user_namespaces is used up, or 0")
	case errors.Is(err, syscall.EPERM):
		return errors.New("no user namespace may be made here: a container, or a setting such as kernel.apparmor_restrict_unprivileged_userns, forbids it")
	}
	return err
}

// TryMain is the child of a trial: args are the layers and a directory. It
// says what went wrong and returns the exit code.
func TryMain(args []string) int {
	runtime.LockOSThread() // and never given back: the process ends
	if err := try(args); err != nil {
		fmt.Fprintln(os.Stdout, err)
		return 1
	}
	return 0
}

func try(args []string) error {
	if len(args) != 2 {
		return errors.New("error: a trial is started by orch itself")
	}
	layers, err := Parse(args[0])
	if err != nil {
		return err
	}
	in := func(parts ...string) string { return filepath.Join(append([]string{args[1]}, parts...)...) }
	s := Sandbox{Policy{Write: []string{in("in")}, ReadOnly: []string{in("in", "shut")}, Hide: []string{in("hidden")}}, layers}
	if layers.Overlay {
		s.Over = []Over{{At: in("in", "over"), Upper: in("upper"), Lower: in("lower"), Work: in("work")}}
	}
	if err := s.Enter(); err != nil {
		return err
	}
	if err := os.WriteFile(in("in", "file"), nil, 0o600); err != nil {
		return fmt.Errorf("what may be written can not be: %w", err)
	}
	if os.WriteFile(in("file"), nil, 0o600) == nil {
		return errors.New("what must not be written can be")
	}
	if layers.Namespace && os.WriteFile(in("in", "shut", "file"), nil, 0o600) == nil {
		return errors.New("what is read-only can be written")
	}
	if layers.Overlay {
		below := in("in", "over", "below")
		if err := errors.Join(os.WriteFile(below, []byte("yy"), 0o600), os.Rename(below, in("in", "over", "new")), os.Mkdir(in("in", "over", "dir"), 0o700)); err != nil {
			return fmt.Errorf("what is laid over another directory can not be written: %w", err)
		}
		if raw, err := os.ReadFile(in("lower", "below")); err != nil || string(raw) != "x" {
			return errors.New("what lies below another directory was changed")
		}
	}
	if _, err := os.ReadFile(in("hidden", "secret")); !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
		return errors.New("what is hidden can be seen")
	}
	return nil
}
