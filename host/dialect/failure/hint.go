package failure

import (
	"cmp"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"spillway/sdk"
)

const (
	// maxWait is the longest wait that is believed: a weekly plan window plus a
	// day. Longer ones are cut to it.
	maxWait = 8 * 24 * time.Hour
	// absurdWait is where a hint stops being a hint: no plan resets later.
	absurdWait = 400 * 24 * time.Hour
)

// wait is one hint: either relative or a moment.
type wait struct {
	after  time.Duration
	at     time.Time
	source string
}

// setHint gives f the vendor's best hint. A relative one wins over a moment,
// since it needs no agreement of clocks, and headers win over words.
func setHint(f *sdk.Failure, ev Evidence, r *reading, vendor *table) {
	now := ev.Now
	if now.IsZero() {
		now = time.Now()
	}
	h := headerOf(ev.Header, r.headers)
	zone := time.UTC
	if vendor != nil {
		zone = time.FixedZone("", vendor.offset*3600)
	}
	waits := append(retryAfter(h), unifiedResets(h)...)
	waits = append(waits, longestFirst(append(r.waits, textWaits(r.message, now, zone)...))...)
	if f.Code == sdk.CodeRateLimit || f.Code == sdk.CodeQuota {
		waits = append(waits, limitResets(h)...)
	}

	for _, moment := range []bool{false, true} {
		for _, w := range waits {
			if w.at.IsZero() == moment {
				continue
			}
			d := w.after
			if moment {
				d = w.at.Sub(clock(h, w, now))
			}
			if d > 0 && d <= absurdWait {
				f.RetryAfter = min(d, maxWait)
				f.ResetAt = now.Add(f.RetryAfter)
				f.HintSource = w.source
				return
			}
		}
	}
}

// longestFirst orders what an answer says more than once: a field often holds
// the rounded form of what the text says, and a wait must not be too short.
func longestFirst(ws []wait) []wait {
	slices.SortStableFunc(ws, func(a, b wait) int { return cmp.Compare(b.after, a.after) })
	return ws
}

// clock is the time that a moment is counted from: the server's own, where it
// dates its answer and the hint is of the same header set.
func clock(h http.Header, w wait, now time.Time) time.Time {
	if w.source == "retry-after" {
		if t, err := http.ParseTime(h.Get("Date")); err == nil {
			return t
		}
	}
	return now
}

// headerOf joins the response's headers with those a relay wrapped into the
// body.
func headerOf(outer http.Header, inner map[string]string) http.Header {
	h := outer.Clone()
	if h == nil {
		h = http.Header{}
	}
	for k, v := range inner {
		if h.Get(k) == "" {
			h.Set(k, v)
		}
	}
	return h
}

func retryAfter(h http.Header) []wait {
	var ws []wait
	if v, err := strconv.ParseFloat(h.Get("retry-after-ms"), 64); err == nil && v < 1e12 {
		ws = append(ws, wait{after: time.Duration(v * float64(time.Millisecond)), source: "retry-after-ms"})
	}
	return append(ws, waitOf(h.Get("retry-after"), "retry-after")...)
}

// unifiedResets reads an Anthropic subscription's windows: the rejected one that
// ends last rules.
func unifiedResets(h http.Header) []wait {
	const prefix = "anthropic-ratelimit-unified-"
	var last wait
	for key, values := range h {
		claim, ok := strings.CutSuffix(strings.ToLower(key), "-reset")
		if !ok || !strings.HasPrefix(claim, prefix) || h.Get(claim+"-status") != "rejected" {
			continue
		}
		if t, ok := parseMoment(values[0]); ok && t.After(last.at) {
			last = wait{at: t, source: key}
		}
	}
	if last.at.IsZero() {
		if t, ok := parseMoment(h.Get(prefix + "reset")); ok && h.Get(prefix+"status") == "rejected" {
			last = wait{at: t, source: prefix + "reset"}
		}
	}
	if last.at.IsZero() {
		return nil
	}
	last.source = strings.ToLower(last.source)
	return []wait{last}
}

// limitResets reads the reset headers of the limits that are used up. A header
// set that shows something left says nothing about this failure.
func limitResets(h http.Header) []wait {
	var ws []wait
	for _, p := range []struct{ reset, remaining string }{
		{"anthropic-ratelimit-requests-reset", "anthropic-ratelimit-requests-remaining"},
		{"anthropic-ratelimit-tokens-reset", "anthropic-ratelimit-tokens-remaining"},
		{"anthropic-ratelimit-input-tokens-reset", "anthropic-ratelimit-input-tokens-remaining"},
		{"anthropic-ratelimit-output-tokens-reset", "anthropic-ratelimit-output-tokens-remaining"},
		{"x-ratelimit-reset-requests", "x-ratelimit-remaining-requests"},
		{"x-ratelimit-reset-tokens", "x-ratelimit-remaining-tokens"},
		{"x-ratelimit-reset-after", "x-ratelimit-remaining"},
		{"x-ratelimit-reset", "x-ratelimit-remaining"},
		{"ratelimit-reset", "ratelimit-remaining"},
	} {
		if left := strings.TrimSpace(h.Get(p.remaining)); left == "" || left == "0" {
			ws = append(ws, waitOf(h.Get(p.reset), p.reset)...)
		}
	}
	return ws
}

// waitOf reads a header's value in whatever form it is.
func waitOf(v, source string) []wait {
	v = strings.TrimSpace(v)
	if d, ok := parseWait(v); ok {
		return []wait{{after: d, source: source}}
	}
	if t, ok := parseMoment(v); ok {
		return []wait{{at: t, source: source}}
	}
	return nil
}

// smallestEpoch tells a number of seconds to wait from a Unix time.
const smallestEpoch = 1e9

// parseWait reads seconds, with or without a fraction, or Go's notation of a
// duration ("1m30s", "120ms", "40.02s").
func parseWait(v string) (time.Duration, bool) {
	if s, err := strconv.ParseFloat(v, 64); err == nil {
		if math.IsNaN(s) || s <= 0 || s >= smallestEpoch {
			return 0, false
		}
		return time.Duration(math.Round(s * float64(time.Second))), true
	}
	d, err := time.ParseDuration(v)
	return d, err == nil && d > 0
}

// parseMoment reads a Unix time in seconds or milliseconds, an HTTP date or an
// RFC 3339 time.
func parseMoment(v string) (time.Time, bool) {
	if s, err := strconv.ParseFloat(v, 64); err == nil {
		if s >= 1000*smallestEpoch {
			s /= 1000
		}
		if math.IsNaN(s) || s < smallestEpoch || s > 1000*smallestEpoch {
			return time.Time{}, false
		}
		return time.Unix(int64(s), 0), true
	}
	if t, err := http.ParseTime(v); err == nil {
		return t, true
	}
	t, err := time.Parse(time.RFC3339, v)
	return t, err == nil
}
