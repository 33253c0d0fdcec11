package failure

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// hanPart is one number with its unit.
const hanPart = `(\d+(?:\.\d+)?) ?(毫秒|秒钟?|分钟?|个?小时|天) ?`

const unit = `(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)`

var (
	// "try again in 1h43m56s", "retry after 20 seconds", "reset after 2 days, 3 hours"
	relativeText = express(`(?i)\b(?:again|retry|retrying|wait|resets?|refresh(?:es|ed)?|available|replenished|renews?|retry_delay \{ seconds:|retrydelay:?)\s+(?:after|in|within|for|at least)?\s*(?:about|approximately|~)?\s*((?:\d+(?:\.\d+)?\s*` + unit + `\b[\s,]*(?:and\s+)?)+|(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+|\d+(?:\.\d+)?\b)`)
	relativePart = express(`(?i)(\d+(?:\.\d+)?)\s*(` + unit + `)?`)
	// "请在 2 分 30 秒后重试", "5 分钟后恢复", "等待 20 秒"
	relativeHan = express(`(?:` + hanPart + `)+(?:之|以)?[后後]|等待 ?(?:` + hanPart + `)+`)
	hanParts    = express(hanPart)

	// a date and a time, in the forms met in reset texts
	momentText = express(`(\d{4}-\d\d-\d\d)(?:[T ]|\s+at\s+)(\d\d:\d\d(?::\d\d)?)(?:\.\d+)?\s?(Z|UTC|[+-]\d\d:?\d\d)?`)
	// "limit reached|1755772800"
	epochText = express(`\|(\d{10}(?:\d{3})?)\b`)
	// "resets at 10:00 UTC", "resets Jan 18, 11:30am (Asia/Calcutta)", "reset at 5pm (Europe/Warsaw)"
	wallText  = express(`(?i)\bresets?\s+(?:at\s+|on\s+)?(?:([A-Z][a-z]{2})[a-z]*\s+(\d{1,2}),?\s+(?:at\s+)?)?(\d{1,2})(?::(\d\d))?\s?(am|pm)?\s*\(?(UTC|GMT|[A-Z][A-Za-z]+/[A-Za-z_]+(?:/[A-Za-z_]+)?)\)?`)
	resetWord = express(`(?i)reset|refresh|regain|renew|retry|available|again|重置|恢复|恢復|刷新`)
)

// textWaits finds hints in the vendor's message. zone is what a time without a
// zone is in.
func textWaits(message string, now time.Time, zone *time.Location) []wait {
	var ws []wait
	if m := relativeText().FindStringSubmatchIndex(message); m != nil && !isDate(message[m[3]:]) {
		ws = append(ws, wait{after: sumParts(relativePart(), message[m[2]:m[3]]), source: "message"})
	}
	if text := relativeHan().FindString(message); text != "" {
		ws = append(ws, wait{after: sumParts(hanParts(), text), source: "message"})
	}
	if m := momentText().FindStringSubmatch(message); m != nil && resetWord().MatchString(message) {
		if t, ok := moment(m[1], m[2], m[3], zone); ok {
			ws = append(ws, wait{at: t, source: "message"})
		}
	}
	if m := epochText().FindStringSubmatch(message); m != nil {
		if t, ok := parseMoment(m[1]); ok {
			ws = append(ws, wait{at: t, source: "message"})
		}
	}
	if m := wallText().FindStringSubmatch(message); m != nil {
		if t, ok := wallMoment(m, now); ok {
			ws = append(ws, wait{at: t, source: "message"})
		}
	}
	return ws
}

// isDate reports whether a number that rest follows was the first of a date or
// of a clock's time.
func isDate(rest string) bool {
	return len(rest) > 1 && strings.IndexByte("-/:", rest[0]) >= 0 && rest[1] >= '0' && rest[1] <= '9'
}

// sumParts adds up "1h43m56s" or "2 days, 3 hours"; a bare number is seconds.
func sumParts(part *regexp.Regexp, s string) time.Duration {
	var sum time.Duration
	for _, p := range part.FindAllStringSubmatch(s, 6) {
		sum += times(p[1], strings.ToLower(p[2]))
	}
	return sum
}

func times(number, unit string) time.Duration {
	n, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0
	}
	u := time.Second
	switch {
	case unit == "ms", strings.HasPrefix(unit, "milli"), unit == "毫秒":
		u = time.Millisecond
	case unit == "", strings.HasPrefix(unit, "s"), strings.HasPrefix(unit, "秒"):
	case strings.HasPrefix(unit, "m"), strings.HasPrefix(unit, "分"):
		u = time.Minute
	case strings.HasPrefix(unit, "h"), strings.HasSuffix(unit, "小时"):
		u = time.Hour
	case strings.HasPrefix(unit, "d"), unit == "天":
		u = 24 * time.Hour
	}
	if n > float64(absurdWait/u) {
		return 0
	}
	return time.Duration(n * float64(u))
}

func moment(date, clock, offset string, zone *time.Location) (time.Time, bool) {
	if len(clock) == len("15:04") {
		clock += ":00"
	}
	layout, value := "2006-01-02 15:04:05", date+" "+clock
	switch {
	case offset == "Z" || offset == "UTC":
		zone = time.UTC
	case offset != "":
		layout, value = layout+" -0700", value+" "+strings.Replace(offset, ":", "", 1)
	}
	t, err := time.ParseInLocation(layout, value, zone)
	return t, err == nil
}

// wallMoment is the next time a clock on the wall shows what the text says.
func wallMoment(m []string, now time.Time) (time.Time, bool) {
	zone, err := time.LoadLocation(strings.ToUpper(m[6][:1]) + m[6][1:])
	if err != nil {
		return time.Time{}, false
	}
	hour, _ := strconv.Atoi(m[3])
	minute, _ := strconv.Atoi(m[4])
	switch strings.ToLower(m[5]) {
	case "pm":
		hour = hour%12 + 12
	case "am":
		hour %= 12
	}
	if hour > 23 || minute > 59 {
		return time.Time{}, false
	}
	local := now.In(zone)
	if m[1] == "" {
		t := time.Date(local.Year(), local.Month(), local.Day(), hour, minute, 0, 0, zone)
		if !t.After(now) {
			t = t.AddDate(0, 0, 1)
		}
		return t, true
	}
	month, err := time.Parse("Jan", strings.ToUpper(m[1][:1])+strings.ToLower(m[1][1:]))
	day, _ := strconv.Atoi(m[2])
	if err != nil || day < 1 || day > 31 {
		return time.Time{}, false
	}
	t := time.Date(local.Year(), month.Month(), day, hour, minute, 0, 0, zone)
	if t.Before(now.AddDate(0, -6, 0)) {
		t = t.AddDate(1, 0, 0)
	}
	return t, true
}
