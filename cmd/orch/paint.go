package main

import "os"

// paint colours text when a person looks at it on a terminal and NO_COLOR is
// not set; otherwise it leaves text alone.
type paint bool

func painting(stream any) paint {
	_, no := os.LookupEnv("NO_COLOR")
	return paint(!no && os.Getenv("TERM") != "dumb" && terminal(stream))
}

func (p paint) with(code, s string) string {
	if !p {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p paint) bold(s string) string   { return p.with("1", s) }
func (p paint) dim(s string) string    { return p.with("2", s) }
func (p paint) red(s string) string    { return p.with("31", s) }
func (p paint) green(s string) string  { return p.with("32", s) }
func (p paint) yellow(s string) string { return p.with("33", s) }
func (p paint) cyan(s string) string   { return p.with("36", s) }
