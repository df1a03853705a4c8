//go:build unix

package process

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// taker gets output. It tells of each chunk and may be held up.
type taker struct {
	bytes.Buffer
	pause time.Duration
	begun chan struct{} // a value for each chunk; nil: none
	let   chan struct{} // closed to let it go on; nil: it always may
}

func (k *taker) Write(p []byte) (int, error) {
	if k.begun != nil {
		k.begun <- struct{}{}
	}
	if k.let != nil {
		<-k.let
	}
	time.Sleep(k.pause)
	return k.Buffer.Write(p)
}

func blocked() *taker {
	return &taker{begun: make(chan struct{}, 100), let: make(chan struct{})}
}

// A command that has ended may leave a full pipe, and who takes its output may
// need longer for it than a held pipe is waited for.
func TestOutputOfTheDeadIsReadToItsEnd(t *testing.T) {
	t.Parallel()
	const size = 1 << 20
	out := &taker{pause: 100 * time.Millisecond}
	s := spec("sh", "-c", "head -c 1048571 /dev/zero; echo last")
	s.PipeBytes, s.Stdout, s.Guard = size, out, []string{os.Args[0], "guard", "--"}
	r := Run(context.Background(), s)
	if !r.OK() || r.OutputBytes != size || !bytes.HasSuffix(out.Bytes(), []byte("last\n")) {
		t.Errorf("read %d of %d bytes, handed out %d: exit %d, %v", r.OutputBytes, size, out.Len(), r.Exit, r.Err)
	}
}

func TestOutputThatNobodyTakesIsSaidToBeMissing(t *testing.T) {
	s := spec("echo", "x")
	out := blocked()
	s.Stdout, s.drainLimit = out, 50*time.Millisecond
	r := Run(context.Background(), s)
	if r.Exit != 0 || r.OK() || r.Err == nil || !strings.Contains(r.Err.Error(), "last output of echo") {
		t.Errorf("result %+v", r)
	}
	close(out.let)
}

func newOutput(out io.Writer) (*reader, error) {
	s := Spec{}.withDefaults()
	return newReader(newCapture(s, make(chan struct{}, 1)), out, s)
}

// held is a reader of a pipe of which the test keeps the writing end.
func held(t *testing.T, out io.Writer) (rd *reader, w *os.File) {
	t.Helper()
	rd, err := newOutput(out)
	must(err)
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	must(err)
	w, rd.w = rd.w, null // of which start closes its own
	t.Cleanup(func() { w.Close() })
	rd.start()
	return rd, w
}

func TestAHeldPipeIsLeft(t *testing.T) {
	rd, _ := held(t, &taker{})
	const wait = 20 * time.Millisecond
	began := time.Now()
	if cut := drain([]*reader{rd}, wait, patience); cut || time.Since(began) < wait {
		t.Errorf("left after %s, cut %t", time.Since(began), cut)
	}
}

// refill writes what it takes into the pipe again, so that this is never empty.
type refill struct {
	w     *os.File
	taken int
}

func (f *refill) Write(p []byte) (int, error) {
	f.taken += len(p)
	return f.w.Write(p)
}

func TestAPipeThatIsWrittenToWithoutEndIsLeft(t *testing.T) {
	out := &refill{}
	rd, w := held(t, out)
	out.w = w
	_, err := w.WriteString("still here\n")
	must(err)
	if drain([]*reader{rd}, time.Millisecond, patience) {
		t.Error("it was waited for")
	}
}

// What is handed out at the end is bounded by what a pipe holds.
func TestNoMoreThanAPipeHoldsIsHandedOut(t *testing.T) {
	out := &refill{}
	rd, err := newOutput(out)
	must(err)
	defer rd.close()
	out.w = rd.w
	_, err = rd.w.Write(make([]byte, 10_000))
	must(err)
	if rd.rest(make([]byte, 10_000)); out.taken < restBytes || out.taken > restBytes+10_000 {
		t.Errorf("%d bytes of an endless output were taken, want about %d", out.taken, restBytes)
	}
}

// What a pipe holds is handed out, held or not, even if who takes it is busy
// with the chunk before until it is no longer waited for.
func TestWhatAPipeHoldsIsHandedOut(t *testing.T) {
	for name, end := range map[string]func(*os.File){"ended": func(w *os.File) { w.Close() }, "held": func(*os.File) {}} {
		t.Run(name, func(t *testing.T) {
			out := blocked()
			rd, w := held(t, out)
			_, err := w.WriteString("first\n")
			must(err)
			<-out.begun
			_, err = w.WriteString("last\n")
			must(err)
			end(w)
			time.AfterFunc(100*time.Millisecond, func() { close(out.let) })
			cut := drain([]*reader{rd}, time.Millisecond, patience)
			if cut || out.String() != "first\nlast\n" {
				t.Errorf("cut %t, handed out %q", cut, out.String())
			}
		})
	}
}

func TestTheLimitIsOneForAllOutputs(t *testing.T) {
	var readers []*reader
	for range 2 {
		out := blocked()
		rd, w := held(t, out)
		_, err := w.WriteString("x")
		must(err)
		<-out.begun
		readers = append(readers, rd)
		defer func() {
			close(out.let)
			<-rd.done
		}()
	}
	done := make(chan bool, 1)
	go func() { done <- drain(readers, time.Millisecond, 50*time.Millisecond) }()
	select {
	case cut := <-done:
		if !cut {
			t.Error("nothing was said of the output that was not taken")
		}
	case <-time.After(patience):
		t.Error("the second is waited for without a limit")
	}
}
