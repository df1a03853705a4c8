package cli

import (
	"strconv"
	"strings"
	"time"

	"orch/blackboard/lazyregexp"
	"orch/roles/think/model"
)

// Failure turns what an agent says about its failure into an error that tells
// what would help. status is an HTTP status, or 0; now is for times that the
// text states relative to it.
func Failure(text string, status int, now time.Time) *model.Error {
	if status == 0 {
		status = statusIn(text)
	}
	e := &model.Error{Kind: kindOf(text, status), Status: status, Detail: bound(strings.TrimSpace(text), 1000)}
	if e.Kind == model.Limit {
		e.Until = ResetIn(text, now)
		if e.Until.IsZero() && (status == 402 || usedUp.MatchString(text)) {
			e.Kind = model.UsedUp
		}
	}
	return e
}

// Resets makes a limit until then of a failure whose time an agent tells by an
// event of its own.
func Resets(e *model.Error, unix int64) {
	if unix > 0 && (e.Kind == model.Limit || e.Kind == model.UsedUp || e.Kind == model.Ended) {
		e.Kind, e.Until = model.Limit, time.Unix(unix, 0)
	}
}

// usedUp is what says that an allowance is spent, not that it is asked for too
// fast: without a time at which it is filled again only a person can help.
var usedUp = lazyregexp.New(`(?i)usage.?limit|(hit|reached|exceeded) your .{0,40}(usage|spend\w*|monthly|weekly|daily) .{0,20}(limit|quota)|quota (is |was |has been )?exceeded|exceeded your current quota|out of (extra )?(usage|credits)|credit balance|insufficient.?(quota|credits?|balance|funds)|payment required|billing|exhausted your (daily )?(quota|capacity)`)

var statusText = lazyregexp.New(`(?i)(?:status(?: code)?:?|http|error:?|^)\s*\(?(4\d\d|5\d\d)\b|\((4\d\d|5\d\d)\)|"(?:code|status)":\s*"?(4\d\d|5\d\d)\b|\bfault (4\d\d|5\d\d)\b`)

func statusIn(text string) int {
	m := statusText.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	for _, g := range m[1:] {
		if n, err := strconv.Atoi(g); err == nil {
			return n
		}
	}
	return 0
}

// What agents and providers write, most telling first. A limit comes before
// the status: providers answer a used-up account with 400, 402, 403 and 429.
var kinds = []struct {
	kind model.Kind
	says *lazyregexp.Regexp
}{
	{model.Limit, lazyregexp.New(`(?i)usage.?limit|rate.?limit|limit (was |is |has been )?(reached|exceeded)|(hit|reached|exceeded) your .{0,40}(limit|quota)|quota (is |was |has been )?exceeded|exceeded your current quota|resource.?exhausted|too many requests|out of (extra )?(usage|credits)|credit balance is too low|insufficient.?(quota|credits?|balance|funds)|payment required|exhausted your (daily )?(quota|capacity)|resets? (at|in) `)},
	{model.Auth, lazyregexp.New(`(?i)invalid.{0,10}api.?key|api.?key.{0,30}(missing|not set|invalid|required|not found)|unauthori[sz]ed|authenticat\w+ (failed|error|required)|failed to authenticate|not logged in|please (run )?.{0,12}log ?in|permission_error|forbidden|no auth`)},
	{model.Overloaded, lazyregexp.New(`(?i)overloaded|service.?unavailable|no capacity|at capacity|high demand`)},
	{model.BadRequest, lazyregexp.New(`(?i)model.{0,60}(not found|does not exist|not supported|is not available)|unknown model|invalid model|unknown (option|argument|flag)|unexpected argument`)},
	{model.Unreachable, lazyregexp.New(`(?i)ECONN\w+|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|fetch failed|connection (refused|reset|error|closed)|network error|socket hang up|could not connect|error sending request|stream disconnected`)},
	{model.Refused, lazyregexp.New(`(?i)content.?(policy|filter)|safety (policy|filter)|violat\w+ .{0,30}policy|refus(ed|al)`)},
}

func kindOf(text string, status int) model.Kind {
	switch status {
	case 402, 429:
		return model.Limit
	case 529, 503:
		return model.Overloaded
	}
	if kinds[0].says.MatchString(text) && status/100 != 5 && status != 401 {
		return model.Limit
	}
	switch {
	case status == 401 || status == 403:
		return model.Auth
	case status == 413:
		return model.TooLarge
	case status == 408:
		return model.Unreachable
	case status/100 == 4:
		return model.BadRequest
	}
	for _, k := range kinds[1:] {
		if k.says.MatchString(text) {
			return k.kind
		}
	}
	if status/100 == 5 {
		return model.Server
	}
	return model.Ended
}

var (
	inUnits  = lazyregexp.New(`(?i)\b(\d+(?:\.\d+)?)\s*(milliseconds?|ms|days?|d|hours?|hrs?|h|minutes?|mins?|min|m|seconds?|secs?|sec|s)\b`)
	compact  = lazyregexp.New(`\b((?:\d+h)?(?:\d+m)?(?:\d+(?:\.\d+)?s)|(?:\d+h)?(?:\d+m)|(?:\d+h))\b`)
	waitText = lazyregexp.New(`(?i)(?:try again|retry|retry.?delay|retry.?after|resets?|reset|available|wait)\W{0,4}(?:again )?(?:in|after|for|"?:|=)?\W{0,3}(.{0,60})`)
	epoch    = lazyregexp.New(`\b(1[6-9]\d{8}|2\d{9})(\d{3})?\b`)
	stamp    = lazyregexp.New(`\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d| UTC)?`)
	clock    = lazyregexp.New(`(?i)(?:resets?|try again|available|until)\W{0,6}(?:at )?(?:(?:on )?((?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* \d{1,2})(?:st|nd|rd|th)?,?(?: (\d{4}))?,?(?: at)? )?(\d{1,2})(?::(\d\d))?\s*(am|pm)?\s*(?:\(([A-Za-z_]+/[A-Za-z_/]+|UTC)\))?`)
	seconds  = lazyregexp.New(`(?i)(?:resets?_in_seconds|reset_after_seconds|retry[-_ ]?after(?:_seconds)?)"?\s*[:=]?\s*(\d+(?:\.\d+)?)\b`)
)

// ResetIn finds when a text says that a limit ends: a Unix time, a date, a
// time of day, or a wait from now. The zero time means that it does not say.
func ResetIn(text string, now time.Time) time.Time {
	if m := epoch.FindString(text); m != "" {
		if n, err := strconv.ParseInt(m[:10], 10, 64); err == nil {
			return sane(time.Unix(n, 0), now)
		}
	}
	if m := seconds.FindStringSubmatch(text); m != nil && !unitFollows(text, m[0]) {
		if s, err := strconv.ParseFloat(m[1], 64); err == nil {
			return sane(now.Add(time.Duration(s*1000)*time.Millisecond), now)
		}
	}
	if m := stamp.FindString(text); m != "" {
		for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04Z07:00", "2006-01-02 15:04:05 UTC", "2006-01-02 15:04 UTC", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04:05"} {
			if t, err := time.ParseInLocation(layout, m, time.UTC); err == nil {
				return sane(t, now)
			}
		}
	}
	for _, m := range waitText.FindAllStringSubmatch(text, 8) {
		if d := waitIn(m[1]); d > 0 {
			return sane(now.Add(d), now)
		}
	}
	return sane(clockIn(text, now), now)
}

// unitFollows tells whether the number at the end of a match has a unit, as in
// "retry after 3 hours".
func unitFollows(text, match string) bool {
	_, rest, _ := strings.Cut(text, match)
	loc := inUnits.FindStringIndex("1" + rest)
	return loc != nil && loc[0] == 0
}

// waitIn adds up "3 days 1 hour 5 minutes", "1h2m" or "34.07s" at the beginning of a text.
func waitIn(text string) time.Duration {
	if m := compact.FindString(firstWord(text)); m != "" {
		if d, err := time.ParseDuration(m); err == nil {
			return d
		}
	}
	var sum time.Duration
	at := 0
	for _, m := range inUnits.FindAllStringSubmatchIndex(text, 8) {
		if between := strings.Trim(text[at:m[0]], " ,and\"'"); between != "" {
			break
		}
		n, err := strconv.ParseFloat(text[m[2]:m[3]], 64)
		if err != nil {
			break
		}
		sum += time.Duration(n * float64(unitOf(text[m[4]:m[5]])))
		at = m[1]
	}
	return sum
}

func firstWord(text string) string {
	if f := strings.Fields(text); len(f) > 0 {
		return strings.Trim(f[0], `"',.;)`)
	}
	return ""
}

func unitOf(name string) time.Duration {
	name = strings.ToLower(name)
	switch {
	case strings.HasPrefix(name, "ms"), strings.HasPrefix(name, "milli"):
		return time.Millisecond
	case strings.HasPrefix(name, "d"):
		return 24 * time.Hour
	case strings.HasPrefix(name, "h"):
		return time.Hour
	case strings.HasPrefix(name, "m"):
		return time.Minute
	}
	return time.Second
}

// clockIn reads "resets 3pm (Europe/Paris)" and "try again at Jan 5th, 2026
// 3:04 PM". Without a zone it is the zone of now, without a day the next such time.
func clockIn(text string, now time.Time) time.Time {
	for _, m := range clock.FindAllStringSubmatch(text, 4) {
		day, year, hour, minute, half, zone := m[1], m[2], m[3], m[4], strings.ToLower(m[5]), m[6]
		if half == "" && minute == "" {
			continue // a bare number is no time
		}
		where := now.Location()
		if l, err := time.LoadLocation(zone); err == nil && zone != "" {
			where = l
		}
		h, _ := strconv.Atoi(hour) // the pattern lets only digits through
		mi, _ := strconv.Atoi(minute)
		if h > 24 || mi > 59 {
			continue
		}
		switch {
		case half == "pm" && h < 12:
			h += 12
		case half == "am" && h == 12:
			h = 0
		}
		local := now.In(where)
		if day == "" {
			t := time.Date(local.Year(), local.Month(), local.Day(), h, mi, 0, 0, where)
			if !t.After(now) {
				t = t.AddDate(0, 0, 1)
			}
			return t
		}
		d, err := time.Parse("Jan 2", day[:3]+" "+day[strings.LastIndexByte(day, ' ')+1:])
		if err != nil {
			continue
		}
		y := local.Year()
		if n, err := strconv.Atoi(year); err == nil {
			y = n
		}
		t := time.Date(y, d.Month(), d.Day(), h, mi, 0, 0, where)
		if year == "" && t.Before(now) {
			t = t.AddDate(1, 0, 0)
		}
		return t
	}
	return time.Time{}
}

// maxReset bounds how far off a reset is believed: longer is a misreading.
const maxReset = 40 * 24 * time.Hour

func sane(t, now time.Time) time.Time {
	if t.IsZero() || t.Before(now) || t.Sub(now) > maxReset {
		return time.Time{}
	}
	return t
}
