package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"orch/blackboard/crash"
	"orch/blackboard/message"
	"orch/roles/run/config"
)

// screen shows a run as it goes: lines that stay, and on a terminal one line
// at the bottom that says what is running and why. With JSON it writes one
// object a message and nothing else.
type screen struct {
	out    io.Writer
	tty    bool
	asJSON bool
	show   *display

	mu      sync.Mutex
	running map[string]activity
	frame   int
	drawn   bool
	seen    uint64 // the messages up to here were shown
	later   []later
	stop    chan struct{}
	stopped sync.WaitGroup
}

// later is something to show once the messages up to seq were shown.
type later struct {
	seq  uint64
	show func() error
}

type activity struct {
	text  string
	since time.Time
	told  time.Duration // how long it had run when a line last said so
}

func newScreen(a *app, cfg config.Config) *screen {
	show := newDisplay(painting(a.out), cfg)
	show.figures = a.verbose
	return &screen{out: a.out, tty: terminal(a.out) && !a.asJSON, asJSON: a.asJSON,
		show: show, running: map[string]activity{}, stop: make(chan struct{})}
}

// start shows until close that there is work: on a terminal it animates the
// bottom line, elsewhere a line now and then names what takes long.
func (s *screen) start() {
	if s.asJSON {
		return
	}
	every := time.Second
	if s.tty {
		every = 120 * time.Millisecond
	}
	s.stopped.Go(crash.Safe(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case now := <-tick.C:
				s.mu.Lock()
				s.frame++
				s.draw()
				s.still(now)
				s.mu.Unlock()
			case <-s.stop:
				return
			}
		}
	}))
}

// longWork is after what time a step is named to who sees no bottom line; then
// again whenever that has doubled, so that a long run fills no log.
const longWork = time.Minute

func (s *screen) still(now time.Time) {
	if s.tty {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(s.running)) {
		a := s.running[name]
		ran := now.Sub(a.since)
		if ran < max(longWork, 2*a.told) {
			continue
		}
		a.told = ran
		s.running[name] = a
		// An output that can not be written to is noticed at the next message.
		_ = s.lines([]string{s.show.head("working", fmt.Sprintf("%s, for %s", a.text, ran.Round(time.Second)))})
	}
}

func (s *screen) close() {
	close(s.stop)
	s.stopped.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wipe()
}

// add shows one message. Messages that are only history are learned from, not shown.
func (s *screen) add(m message.Message, history bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := s.show.lines(m)
	if history {
		return nil
	}
	if s.asJSON {
		return s.writeJSON(m)
	}
	s.track(m)
	return s.lines(lines)
}

// after shows what no message stands for, behind the messages up to seq: as
// JSON, or as lines.
func (s *screen) after(seq uint64, v any, lines ...string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.later = append(s.later, later{seq, func() error {
		if s.asJSON {
			return writeLine(s.out, v)
		}
		return s.lines(lines)
	}})
	return s.showLater()
}

// reached notes that the messages up to seq were shown.
func (s *screen) reached(seq uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = max(s.seen, seq)
	return s.showLater()
}

// shown is the last message that was shown.
func (s *screen) shown() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen
}

func (s *screen) showLater() error {
	for len(s.later) > 0 && s.later[0].seq <= s.seen {
		show := s.later[0].show
		s.later = s.later[1:]
		if err := show(); err != nil {
			return err
		}
	}
	return nil
}

// lines puts lines above what is drawn at the bottom.
func (s *screen) lines(lines []string) error {
	s.wipe()
	for _, l := range lines {
		l = plain(s.out, l) // before it is measured
		if s.tty {
			l = strings.Join(wrap(l, s.width()), "\n")
		}
		if _, err := say(s.out, "%s\n", block(l)); err != nil {
			return err
		}
	}
	s.draw()
	return nil
}

// event is the documented shape of one line of `orch run --json`, version 1.
type event struct {
	Version int             `json:"version"`
	Seq     uint64          `json:"seq"`
	TS      time.Time       `json:"ts"`
	ID      message.ID      `json:"id"`
	Type    message.Type    `json:"type"`
	From    message.Role    `json:"from"`
	To      message.Role    `json:"to"`
	Goal    message.GoalID  `json:"goal"`
	Subject string          `json:"subject"`
	Cause   message.ID      `json:"cause"`
	Agent   message.AgentID `json:"agent"`
	Fence   message.Fence   `json:"fence"`
	Door    message.Door    `json:"door,omitempty"`
	Payload json.RawMessage `json:"payload"`
}

func eventOf(m message.Message) (event, error) {
	raw, err := message.Encode(m.Body)
	return event{1, m.Seq, m.TS, m.ID, m.Type(), m.From, m.To, m.Goal, m.Subject, m.Cause, m.Agent, m.Fence, m.Door, raw}, err
}

func (s *screen) writeJSON(m message.Message) error {
	e, err := eventOf(m)
	if err != nil {
		return err
	}
	return writeLine(s.out, e)
}

// writeLine writes one value as one line of JSON.
func writeLine(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

func (s *screen) track(m message.Message) {
	switch b := m.Body.(type) {
	case message.StepStarting:
		why := b.Reason
		if id := message.TaskID(b.Subject); s.show.knows(id) {
			why = s.show.name(id) // what is worked on says more than that it was due
		}
		s.running[string(b.Agent)] = activity{text: fmt.Sprintf("%s: %s", b.Agent, why), since: time.Now()}
	case message.StepEnded:
		delete(s.running, string(b.Agent))
	}
}

func (s *screen) wipe() {
	if s.drawn {
		fmt.Fprint(s.out, wiped(s.out))
		s.drawn = false
	}
}

var frames = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

func (s *screen) draw() {
	if !s.tty {
		return
	}
	s.wipe()
	if len(s.running) == 0 {
		return
	}
	names := slices.Sorted(maps.Keys(s.running))
	var parts []string
	for _, n := range names {
		a := s.running[n]
		parts = append(parts, fmt.Sprintf("%s %ds", a.text, int(time.Since(a.since).Seconds())))
	}
	line := frames[s.frame%len(frames)] + " " + plain(s.out, strings.Join(parts, "  │  "))
	say(s.out, "%s", cutTo(line, s.width()-1))
	s.drawn = true
}

func (s *screen) width() int {
	f, ok := s.out.(interface{ Fd() uintptr })
	if !ok {
		return 80
	}
	w, _, err := term.GetSize(int(f.Fd()))
	if err != nil || w <= 0 {
		return 80
	}
	return w
}
