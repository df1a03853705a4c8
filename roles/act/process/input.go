package process

import (
	"io"
	"os"

	"orch/blackboard/crash"
)

// input feeds a command's standard input. A file is handed over as it is. For
// any other reader there is a pipe of our own and a goroutine that copies: it
// is never waited for, so a reader that never ends (a lifeline) costs nothing
// when the command is done, and lives until its reader returns.
type input struct {
	src  io.Reader
	file *os.File // handed to the child
	r, w *os.File
}

func (in *input) open(src io.Reader) error {
	if f, ok := src.(*os.File); ok || src == nil {
		in.file = f
		return nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	in.src, in.file, in.r, in.w = src, r, r, w
	return nil
}

// forChild is nil, for the null device, when there is no input.
func (in *input) forChild() io.Reader {
	if in.file == nil {
		return nil
	}
	return in.file
}

// start is called once the child holds its end.
func (in *input) start() {
	if in.r == nil {
		return
	}
	in.r.Close()
	crash.Go(func() {
		_, _ = io.Copy(in.w, in.src) // a command need not read its whole input
		in.w.Close()
	})
}

func (in *input) close() {
	if in.r != nil {
		in.r.Close()
		in.w.Close()
	}
}
