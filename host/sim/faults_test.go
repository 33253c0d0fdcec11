package sim_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spillway/host/sim"
)

func TestRefusals(t *testing.T) {
	for _, tt := range []struct {
		script, like, dialect string
		status                int
		header, body          string // a header line and a part of the body
	}{
		{"quota", "anthropic", "anthropic", 429, "Anthropic-Ratelimit-Unified-7d-Status: rejected", "exceeded your 7-day rate limit"},
		{"quota", "kimi-coding", "anthropic", 403, "", "reached your usage limit for this billing cycle"},
		{"quota", "deepseek", "openai", 402, "", "Insufficient Balance"},
		{"quota", "", "openai", 429, "", `"code": "insufficient_quota"`},
		{"ban", "anthropic", "anthropic", 400, "", "This organization has been disabled."},
		{"ban", "kimi-coding", "openai", 403, "", "access_terminated_error"},
		{"ban", "", "openai", 401, "", "account_deactivated"},
		{"policy", "", "openai", 400, "", "content_policy_violation"},
		{"policy", "", "anthropic", 400, "", "Output blocked by content filtering policy"},
		{"overflow", "", "openai", 400, "", "context_length_exceeded"},
		{"overflow", "", "anthropic", 400, "", "prompt is too long: 208310 tokens > 200000 maximum"},
		{"auth", "", "anthropic", 403, "", "permission_error"},
		{"auth", "", "openai", 403, "", "unsupported_country_region_territory"},
		{"invalid-key", "", "anthropic", 401, "", "authentication_error"},
		{"invalid-key", "deepseek", "openai", 401, "", "Authentication Fails"},
		{"model-gone", "", "anthropic", 404, "", "not_found_error"},
		{"model-gone", "deepseek", "openai", 400, "", "Model Not Exist"},
		{"invalid-request", "", "anthropic", 400, "", "not valid JSON"},
		{"invalid-request", "", "openai", 400, "", "Input should be a valid string"},
		{"overloaded", "", "anthropic", 529, "", "overloaded_error"},
		{"overloaded", "", "openai", 503, "", "currently overloaded"},
		{"402", "deepseek", "openai", 402, "", "Insufficient Balance"},
		{"402", "", "anthropic", 402, "", "billing_error"},
		{"429", "", "anthropic", 429, "", "rate_limit_error"},
		{"429 retry-after=2 header.x-should-retry=false", "", "openai", 429, "Retry-After: 2", "Rate limit exceeded"},
		{"429 header.x-should-retry=false", "", "openai", 429, "X-Should-Retry: false", ""},
		{`429 retry-after="Wed, 21 Oct 2026 07:28:00 GMT"`, "", "openai", 429, "Retry-After: Wed, 21 Oct 2026 07:28:00 GMT", ""},
		{"429 retry-after=-1.5", "", "openai", 429, "Retry-After: -1.5", ""},
		{"500", "", "anthropic", 500, "", "Internal server error"},
		{"503", "", "anthropic", 503, "", "api_error"},
		{"529", "", "anthropic", 529, "", "Overloaded"},
		{"404", "", "anthropic", 404, "", "not_found_error"},
		{"html502", "", "anthropic", 502, "Content-Type: text/html; charset=UTF-8", "<title>502 Bad Gateway</title>"},
		{"body=anthropic-010", "", "anthropic", 400, "Content-Type: application/json", "You're out of extra usage."},
		{"body=anthropic-002", "", "openai", 429, "Retry-After: 13262", "rate_limit_error"},
		{"body=deepseek-010", "", "openai", 200, "Content-Type: text/event-stream; charset=utf-8", ": keep-alive"},
	} {
		for _, stream := range []bool{false, true} {
			a := ask{dialect: tt.dialect, stream: stream}
			e := one(t, tt.script, func(v *sim.Vendor) { v.Like = tt.like })
			got := a.send(t.Context(), t, e)
			if got.err != nil || got.status != tt.status || !strings.Contains(got.body, tt.body) {
				t.Errorf("%s of %q, %s: got %d %s %v, want %d with %q", tt.script, tt.like, a.name(), got.status, got.body, got.err, tt.status, tt.body)
			}
			if name, value, ok := strings.Cut(tt.header, ": "); ok && got.header.Get(name) != value {
				t.Errorf("%s of %q: got %s %q, want %q", tt.script, tt.like, name, got.header.Get(name), value)
			}
		}
	}
}

func TestRetryAfterMoments(t *testing.T) {
	e := one(t, "429 retry-after=date+5m; 429 retry-after=epoch+5m")
	before := time.Now().Add(4 * time.Minute)
	got := ask{dialect: "openai"}.send(t.Context(), t, e)
	at, err := http.ParseTime(got.header.Get("Retry-After"))
	if err != nil || at.Before(before) || at.After(before.Add(2*time.Minute)) {
		t.Errorf("date+5m: got %v, %v", at, err)
	}
	got = ask{dialect: "openai"}.send(t.Context(), t, e)
	if n, err := strconv.ParseInt(got.header.Get("Retry-After"), 10, 64); err != nil || n < before.Unix() || n > before.Add(2*time.Minute).Unix() {
		t.Errorf("epoch+5m: got %v, %v", n, err)
	}
}

// Every broken answer arrives up to its fault and no further.
func TestBrokenAnswers(t *testing.T) {
	const half = "w0@p w1@p w2@p"
	for _, tt := range []struct {
		script string
		stream content // what is there of a stream; Output is not looked at
		err    error   // how reading ends, streamed or not
		whole  bool    // the answer that is not streamed is sound all the same
	}{
		{"cut=3", content{Text: half}, io.ErrUnexpectedEOF, false},
		{"cut=0", content{}, io.ErrUnexpectedEOF, false},
		{"cut=end", content{Text: sixTokens}, io.ErrUnexpectedEOF, false},
		{"cut=100", content{Text: sixTokens}, io.ErrUnexpectedEOF, false},
		{"eof=3", content{Text: half}, nil, false},
		{"stall=3 for=1ms", content{Text: half}, io.ErrUnexpectedEOF, false},
		{"pause=3 for=1ms", content{Text: sixTokens, Stop: "end", Last: true}, nil, true},
		{"slow=1ms", content{Text: sixTokens, Stop: "end", Last: true}, nil, true},
		{"drip=1us", content{Text: sixTokens, Stop: "end", Last: true}, nil, true},
		{"ok after=1ms gap=1ms", content{Text: sixTokens, Stop: "end", Last: true}, nil, true},
		{"ok tokens=0", content{Stop: "end", Last: true}, nil, true},
		{"nodone", content{Text: sixTokens, Stop: "end"}, nil, true},
		{"nodone for=1ms", content{Text: sixTokens, Stop: "end"}, nil, true},
		{"nofinish", content{Text: sixTokens, Last: true}, nil, true},
		{"badjson=5", content{Text: sixTokens, Stop: "end", Last: true}, nil, false},
	} {
		t.Run(tt.script, func(t *testing.T) {
			e := one(t, tt.script)
			each(t, func(t *testing.T, a ask) {
				r := a.send(soon(t), t, e)
				if r.status != http.StatusOK || !errors.Is(r.err, tt.err) {
					t.Errorf("got %d, %v, want 200, %v", r.status, r.err, tt.err)
				}
				if !a.stream {
					if sound := json.Valid([]byte(r.body)); sound != tt.whole {
						t.Errorf("body %q: sound is %v, want %v", r.body, sound, tt.whole)
					}
					return
				}
				got, want := r.content(t, a), tt.stream
				if want.Stop != "" {
					want.Stop = stopWord(a.dialect, "end_turn", "stop", "completed")
				}
				if a.dialect == "responses" {
					want.Last = want.Stop != "" // one event is both
				}
				got.Output = 0
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("(-want +got):\n%s\n%s", diff, r.body)
				}
			})
		})
	}
}

func TestGzipCut(t *testing.T) {
	e := one(t, "gzip-cut")
	each(t, func(t *testing.T, a ask) {
		r := a.send(t.Context(), t, e)
		if r.status != http.StatusOK || !errors.Is(r.err, io.ErrUnexpectedEOF) {
			t.Errorf("got %d, %v, want 200, %v", r.status, r.err, io.ErrUnexpectedEOF)
		}
	})
}

func TestBadJSONPlace(t *testing.T) {
	e := one(t, "badjson=5")
	for _, dialect := range dialects {
		events := ask{dialect: dialect, stream: true}.send(t.Context(), t, e).events(t)
		for i, event := range events {
			if broken := event["broken"] != nil; broken != (i == 4) {
				t.Errorf("%s: event %d: broken is %v", dialect, i+1, broken)
			}
		}
	}
}

func TestErrorEvent(t *testing.T) {
	for _, tt := range []struct {
		script string
		want   content
	}{
		{"error-event=0", content{}},
		{"error-event=3", content{Text: "w0@p w1@p w2@p"}},
		{"error-event=end", content{Text: sixTokens}},
		{"error-event=1 reasoning=2", content{Reasoning: "r0@p"}},
		{"error-event=1 tool=Bash", content{Tool: "Bash", Args: `{"comman`}},
		{"error-event=end tool=Bash", content{Tool: "Bash", Args: `{"command":"sim"}`}},
		{"error-event=2 body=anthropic-027", content{Text: "w0@p w1@p"}},
		{"error-event=2 body=openai-014", content{Text: "w0@p w1@p"}},
	} {
		t.Run(tt.script, func(t *testing.T) {
			e := one(t, tt.script)
			for _, dialect := range dialects {
				tool := map[string]any{"anthropic": anthropicTool, "openai": openaiTool, "responses": responsesTool}[dialect]
				a := ask{dialect: dialect, stream: true, fields: map[string]any{"tools": []any{tool}}}
				r := a.send(t.Context(), t, e)
				got := r.content(t, a)
				got.Output = 0
				if diff := cmp.Diff(tt.want, got); r.err != nil || diff != "" {
					t.Errorf("%s: %v (-want +got):\n%s", dialect, r.err, diff)
				}
				events := r.events(t)
				if last := events[len(events)-1]; len(events) < 2 || last["error"] == nil && at(last, "response", "error") == nil {
					t.Errorf("%s: the last event is %v, want an error", dialect, last)
				}
			}
		})
	}
	e := one(t, "error-event=3")
	for _, dialect := range dialects {
		r := ask{dialect: dialect}.send(t.Context(), t, e)
		var v map[string]any
		if err := json.Unmarshal([]byte(r.body), &v); err != nil || r.status != 200 || v["error"] == nil {
			t.Errorf("%s, not streamed: got %d %s, want an error with status 200", dialect, r.status, r.body)
		}
	}
}

func TestOddBodies(t *testing.T) {
	e := one(t, "empty200; wrong-content-type; wrong-content-type=text/html; unstreamed; longline=70KB; repeat")
	each(t, func(t *testing.T, a ask) {
		if r := a.send(t.Context(), t, e); r.status != 200 || r.body != "" {
			t.Errorf("empty200: got %d %q", r.status, r.body)
		}
		for _, want := range []string{"text/plain", "text/html"} {
			if r := a.send(t.Context(), t, e); r.header.Get("Content-Type") != want || r.content(t, a).Text != sixTokens {
				t.Errorf("wrong-content-type: got %q, want %q around a sound answer", r.header.Get("Content-Type"), want)
			}
		}
		unstreamed := ask{dialect: a.dialect}
		if r := a.send(t.Context(), t, e); r.header.Get("Content-Type") != "application/json" || r.content(t, unstreamed).Text != sixTokens {
			t.Errorf("unstreamed: got %q", r.body)
		}
		longest := 0
		for line := range strings.Lines(a.send(t.Context(), t, e).body) {
			longest = max(longest, len(line))
		}
		if longest < 70<<10 || longest > 71<<10 {
			t.Errorf("longline: the longest has %d bytes, want 70 KB", longest)
		}
	})
}

// A silent vendor is silent until the client leaves, and knows when it left.
func TestSilence(t *testing.T) {
	for _, tt := range []struct {
		script  string
		headers bool // they come
	}{
		{"hang", false}, {"ok after=1h", false}, {"slow=1h", true}, {"stall=2", true}, {"nodone for=1h", true},
		{"pause=2 for=1h", true}, {"drip=1h", true}, {"keepalive=1ms", true}, {"ok gap=1h", true},
	} {
		t.Run(tt.script, func(t *testing.T) {
			e := one(t, tt.script)
			for n, dialect := range dialects {
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				failed := make(chan error, 1)
				go func() {
					resp, err := http.DefaultTransport.RoundTrip(ask{dialect: dialect, stream: true}.request(ctx, t, e.URL()))
					if err == nil {
						defer resp.Body.Close()
						if tt.headers {
							leave()
						}
						_, err = io.Copy(io.Discard, resp.Body)
					}
					failed <- err
				}()
				if _, err := e.Until(soon(t), func(c []sim.Call) bool { return len(c) > n && c[n].Step != "" }); err != nil {
					t.Fatal(err)
				}
				if !tt.headers {
					leave()
				}
				if err := <-failed; !errors.Is(err, context.Canceled) {
					t.Errorf("%s: the client got %v", dialect, err)
				}
				calls, err := e.Until(soon(t), func(c []sim.Call) bool { return !c[n].End.IsZero() })
				if err != nil {
					t.Fatal(err)
				}
				if c := calls[n]; !c.Gone || (c.Status != 0) != tt.headers {
					t.Errorf("%s: got gone %v with status %d, want gone", dialect, c.Gone, c.Status)
				}
			}
		})
	}
}

func TestReset(t *testing.T) {
	e := one(t, "reset; ok")
	for _, dialect := range dialects {
		if err := e.SetScript("reset; ok"); err != nil {
			t.Fatal(err)
		}
		a := ask{dialect: dialect}
		if r := a.send(t.Context(), t, e); !errors.Is(r.err, syscall.ECONNRESET) {
			t.Errorf("%s: got %v, want a reset", dialect, r.err)
		}
		if r := a.send(t.Context(), t, e); r.err != nil || r.content(t, a).Text != sixTokens {
			t.Errorf("%s: after the reset: got %v", dialect, r.err)
		}
	}
}

func TestRefuse(t *testing.T) {
	e := one(t, "ok; refuse")
	a := ask{dialect: "anthropic", stream: true}
	url := e.URL()
	if r := a.send(t.Context(), t, e); r.err != nil || r.content(t, a).Text != sixTokens {
		t.Fatalf("before: got %v", r.err)
	}
	for range 2 {
		if r := a.send(t.Context(), t, e); !errors.Is(r.err, syscall.ECONNREFUSED) {
			t.Fatalf("got %v, want it refused", r.err)
		}
	}
	if err := e.SetScript("ok"); err != nil {
		t.Fatal(err)
	}
	if r := a.send(t.Context(), t, e); r.err != nil || e.URL() != url {
		t.Errorf("open again: got %v at %s, want an answer at %s", r.err, e.URL(), url)
	}
}

// A script set while a client keeps an idle connection closes that too. The
// client may use it once more before it notices.
func TestRefuseAtOnce(t *testing.T) {
	e := one(t, "ok")
	a := ask{dialect: "anthropic"}
	if r := a.send(t.Context(), t, e); r.err != nil {
		t.Fatal(r.err)
	}
	if err := e.SetScript("refuse"); err != nil {
		t.Fatal(err)
	}
	if r := a.send(t.Context(), t, e); r.err == nil {
		t.Errorf("got %d, want no answer", r.status)
	}
	if r := a.send(t.Context(), t, e); !errors.Is(r.err, syscall.ECONNREFUSED) {
		t.Errorf("got %v, want it refused", r.err)
	}
}

// The port opens by itself, and an answer that was under way when it closed
// ends well.
func TestRefuseForATime(t *testing.T) {
	e := one(t, "pause=3 for=5ms; refuse*20ms; ok")
	a := ask{dialect: "openai", stream: true}
	if r := a.send(t.Context(), t, e); r.err != nil || !r.content(t, a).Last {
		t.Fatalf("under way: got %v", r.err)
	}
	for ctx := soon(t); ; {
		r := a.send(ctx, t, e)
		if r.err == nil {
			break
		}
		if !errors.Is(r.err, syscall.ECONNREFUSED) {
			t.Fatalf("got %v, want refused or an answer", r.err)
		}
	}
}

func TestStartRefusing(t *testing.T) {
	e := one(t, "refuse")
	if r := (ask{dialect: "openai"}).send(t.Context(), t, e); !errors.Is(r.err, syscall.ECONNREFUSED) {
		t.Errorf("got %v, want it refused", r.err)
	}
}
