package view

import (
	"math"
	"strconv"
	"time"
)

// maxSimpleKeyBytes bounds a key written before its colon; the YAML rule is
// 1024 characters, longer ones need the explicit form.
const maxSimpleKeyBytes = 1000

// emitter appends YAML in block style. It knows only what the view needs:
// mappings, lists of scalars, lists of mappings.
type emitter struct{ b []byte }

func (e *emitter) indent(n int) {
	for range n {
		e.b = append(e.b, ' ')
	}
}

// key begins an entry of a mapping; its value follows.
func (e *emitter) key(n int, k string) {
	e.indent(n)
	if len(k) <= maxSimpleKeyBytes && isPlain(k) {
		e.b = append(append(e.b, k...), ':')
		return
	}
	at := len(e.b)
	e.b = appendQuoted(e.b, k)
	if len(e.b)-at <= maxSimpleKeyBytes {
		e.b = append(e.b, ':')
		return
	}
	e.b = appendQuoted(append(e.b[:at], "? "...), k)
	e.b = append(e.b, '\n')
	e.indent(n)
	e.b = append(e.b, ':')
}

// open begins a mapping or a list under a key.
func (e *emitter) open(n int, k string) {
	e.key(n, k)
	e.b = append(e.b, '\n')
}

func (e *emitter) raw(n int, k, value string) {
	e.key(n, k)
	e.b = append(append(append(e.b, ' '), value...), '\n')
}

func (e *emitter) str(n int, k, value string) {
	e.key(n, k)
	e.b = append(e.b, ' ')
	e.b = appendString(e.b, n, value)
	e.b = append(e.b, '\n')
}

// optStr leaves the key out when the value is empty.
func (e *emitter) optStr(n int, k, value string) {
	if value != "" {
		e.str(n, k, value)
	}
}

func (e *emitter) num(n int, k string, value int64) {
	e.key(n, k)
	e.b = append(strconv.AppendInt(append(e.b, ' '), value, 10), '\n')
}

func (e *emitter) unum(n int, k string, value uint64) {
	e.key(n, k)
	e.b = append(strconv.AppendUint(append(e.b, ' '), value, 10), '\n')
}

// optNum leaves the key out when the value is zero.
func (e *emitter) optNum(n int, k string, value int64) {
	if value != 0 {
		e.num(n, k, value)
	}
}

func (e *emitter) float(n int, k string, value float64) {
	e.key(n, k)
	e.b = append(appendFloat(append(e.b, ' '), value), '\n')
}

// appendFloat writes six significant digits: the view is for eyes.
func appendFloat(b []byte, value float64) []byte {
	switch {
	case math.IsNaN(value):
		return append(b, ".nan"...)
	case math.IsInf(value, 1):
		return append(b, ".inf"...)
	case math.IsInf(value, -1):
		return append(b, "-.inf"...)
	}
	return strconv.AppendFloat(b, value, 'g', 6, 64)
}

// time writes a YAML timestamp in UTC with milliseconds; a zero time is left out.
func (e *emitter) time(n int, k string, t time.Time) {
	if t.IsZero() {
		return
	}
	e.key(n, k)
	e.b = append(appendTime(append(e.b, ' '), t), '\n')
}

func appendTime(b []byte, t time.Time) []byte {
	return t.UTC().AppendFormat(b, "2006-01-02T15:04:05.000Z")
}

func (e *emitter) list(n int, k string, values []string) {
	if len(values) == 0 {
		e.raw(n, k, "[]")
		return
	}
	e.open(n, k)
	for _, v := range values {
		e.indent(n + 2)
		e.b = append(e.b, "- "...)
		e.b = append(appendString(e.b, n+2, v), '\n')
	}
}

// optList leaves the key out when there are no values.
func (e *emitter) optList(n int, k string, values []string) {
	if len(values) > 0 {
		e.list(n, k, values)
	}
}

// item turns what f writes at indent n+2 into one entry of a list at n.
func (e *emitter) item(n int, f func(n int)) {
	at := len(e.b)
	f(n + 2)
	if len(e.b) > at+n {
		e.b[at+n] = '-'
	}
}
