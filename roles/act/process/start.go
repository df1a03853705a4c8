package process

import (
	"io"
	"os/exec"
)

// launch starts the process, in its cgroup where the system lets us: that a
// cgroup could be made does not mean that a process may be born in it.
func (r *running) launch() (err error) {
	if r.cmd, err = r.build(); err != nil {
		return err
	}
	if r.cgroup != nil {
		r.cgroup.attach(r.cmd)
		err = r.cmd.Start()
		r.cgroup.started()
		if err == nil {
			return nil
		}
		r.cgroup.remove()
		r.cgroup = nil
		if r.cmd, err = r.build(); err != nil {
			return err
		}
	}
	return r.cmd.Start()
}

func (r *running) build() (*exec.Cmd, error) {
	argv := r.spec.Argv
	if r.guard != nil {
		argv = append(append([]string{}, r.spec.Guard...), argv...)
	}
	cmd := exec.Command(lookPath(argv[0], r.spec.Env), argv[1:]...)
	cmd.Args[0] = argv[0]
	cmd.Dir, cmd.Stdin = r.spec.Dir, r.input.forChild()
	cmd.Env = withMarker(r.spec.Env, r.marker)
	cmd.SysProcAttr = sysProcAttr(r.spec.Session || r.guard != nil)
	if len(r.readers) == 1 {
		cmd.Stdout, cmd.Stderr = r.readers[0].w, r.readers[0].w
	} else {
		cmd.Stdout, cmd.Stderr = r.readers[0].w, r.readers[1].w
	}
	if r.guard != nil {
		r.guard.attach(cmd)
	}
	if r.spec.Confine != nil {
		if err := r.spec.Confine.Prepare(cmd.SysProcAttr); err != nil {
			return nil, err
		}
	}
	return cmd, nil
}

// connectOutput makes pipes of our own, so that Wait does not depend on
// whoever else holds their other end.
func (r *running) connectOutput() error {
	r.out = newCapture(r.spec, r.flood)
	tees := []io.Writer{nil}
	if r.spec.Stdout != nil || r.spec.Stderr != nil {
		tees = []io.Writer{r.spec.Stdout, r.spec.Stderr}
	}
	for _, tee := range tees {
		rd, err := newReader(r.out, tee, r.spec)
		if err != nil {
			return err
		}
		r.readers = append(r.readers, rd)
	}
	return nil
}
