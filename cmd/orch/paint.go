package main

import (
	"io"
	"os"
)

// paint styles text when a person looks at it on a terminal and NO_COLOR is
// not set; otherwise, and as its zero value, it leaves text alone. The styles
// carry the mark of the stream they are for, which alone makes them styles.
type paint struct{ mark string }

func painting(w io.Writer) paint {
	e, ok := w.(*edge)
	if _, no := os.LookupEnv("NO_COLOR"); !ok || no || os.Getenv("TERM") == "dumb" {
		return paint{}
	}
	return paint{e.mark}
}

func (p paint) with(code, s string) string {
	if p.mark == "" {
		return s
	}
	return p.mark + code + "m" + s + p.mark + "0m"
}

func (p paint) bold(s string) string   { return p.with("1", s) }
func (p paint) dim(s string) string    { return p.with("2", s) }
func (p paint) red(s string) string    { return p.with("31", s) }
func (p paint) green(s string) string  { return p.with("32", s) }
func (p paint) yellow(s string) string { return p.with("33", s) }
func (p paint) cyan(s string) string   { return p.with("36", s) }
