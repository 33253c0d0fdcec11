package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"spillway/host"
	"spillway/host/dialect"
	"spillway/host/llm"
	"spillway/host/profile"
	"spillway/host/state/record"
	"spillway/sdk"
)

// every is all dialects.
func every(t *testing.T) []dialect.Dialect {
	t.Helper()
	var all []dialect.Dialect
	for _, name := range []string{"anthropic", "openai", "responses"} {
		if d, ok := dialect.ByName(name); ok {
			all = append(all, d)
		}
	}
	return all
}

// bench makes exchanges of a gateway that asks nobody.
func bench(t *testing.T) func(d dialect.Dialect, s sdk.Stream) (*exchange, *httptest.ResponseRecorder) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, profile.BaseFile), []byte("- {id: p, name: provider-sim, config: {models: [m]}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	rt, err := host.Open(t.Context(), host.Options{Dir: dir, Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(rt.Close)
	server := New(Options{Runtime: rt, Log: slog.New(slog.DiscardHandler)})
	return func(d dialect.Dialect, s sdk.Stream) (*exchange, *httptest.ResponseRecorder) {
		w := httptest.NewRecorder()
		x := &exchange{
			server: server, dialect: d, w: w, out: http.NewResponseController(w), ctx: t.Context(), cancel: func() {}, began: time.Now(), asked: time.Now(),
			id: "req_1", call: &llm.Call{ID: "req_1", Trace: llm.NewTrace(record.Request{}, nil, nil)},
		}
		x.run = func(context.Context, host.Inbound) (*llm.Call, sdk.Stream) { return x.call, s }
		return x, w
	}
}

// TestEveryCode: what a client gets for each kind of failure, in its dialect.
func TestEveryCode(t *testing.T) {
	now := time.Now()
	type want struct {
		status int
		after  string
		retry  string // X-Should-Retry
	}
	in := func(d time.Duration) func(*sdk.Failure) {
		return func(f *sdk.Failure) { f.ResetAt = now.Add(d) }
	}
	status := func(n int) func(*sdk.Failure) { return func(f *sdk.Failure) { f.Status = n } }
	tests := []struct {
		name   string
		code   sdk.Code
		change func(*sdk.Failure)
		want   want
	}{
		{"", sdk.CodeQuota, nil, want{503, "1", "false"}},
		{"", sdk.CodeAuth, status(403), want{503, "1", "false"}},
		{"", sdk.CodeInvalidCredential, status(401), want{503, "1", "false"}},
		{"", sdk.CodeModelUnavailable, status(404), want{503, "1", "false"}},
		{"", sdk.CodeRateLimit, status(429), want{503, "1", ""}},
		{"", sdk.CodeOverloaded, status(529), want{503, "1", ""}},
		{"", sdk.CodeServer, status(500), want{503, "1", ""}},
		{"", sdk.CodeTimeout, nil, want{503, "1", ""}},
		{"", sdk.CodeTransport, nil, want{503, "1", ""}},
		{"", sdk.CodeEmptyResponse, status(200), want{503, "1", ""}},
		{"", sdk.CodeLocalNetwork, nil, want{503, "1", ""}},
		{"", sdk.CodePlugin, nil, want{503, "1", ""}},
		{"", sdk.CodeContextWindow, status(400), want{400, "", "false"}},
		{"", sdk.CodePolicy, status(403), want{403, "", "false"}},
		{"", sdk.CodeInvalidRequest, status(422), want{422, "", "false"}},
		{"", sdk.CodeUnknownModel, nil, want{404, "", "false"}},
		{"", sdk.CodeNoAdapter, nil, want{404, "", "false"}},
		{"", sdk.CodeAborted, nil, want{503, "1", "false"}},

		{"in a while", sdk.CodeQuota, in(20 * time.Second), want{503, "20", ""}},
		{"by now", sdk.CodeQuota, in(-time.Second), want{503, "1", ""}},
		{"not soon", sdk.CodeQuota, in(time.Hour), want{503, "3600", "false"}},
		{"at once", sdk.CodeOverloaded, in(-time.Second), want{503, "1", ""}},
		{"a moment", sdk.CodeOverloaded, in(1500 * time.Millisecond), want{503, "2", ""}},
		{"a vendor's 401", sdk.CodePolicy, status(401), want{400, "", "false"}},
		{"a vendor's 500", sdk.CodeInvalidRequest, status(500), want{400, "", "false"}},
		{"inside a 200", sdk.CodePolicy, status(200), want{400, "", "false"}},
		{"too large", sdk.CodeContextWindow, status(413), want{413, "", "false"}},
		{"no capability", sdk.CodeInvalidRequest, nil, want{400, "", "false"}},
	}
	covered := map[sdk.Code]bool{}
	exchanges := bench(t)
	for _, tt := range tests {
		covered[tt.code] = true
		for _, d := range every(t) {
			for _, stream := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s/%s/%s/stream=%t", tt.code, tt.name, d.Name(), stream), func(t *testing.T) {
					f := sdk.NewFailure(tt.code, "test", "the words of the vendor")
					if tt.change != nil {
						tt.change(f)
					}
					x, w := exchanges(d, sdk.Fail(f))
					if stream {
						x.flow()
					} else {
						x.whole()
					}
					h := w.Header()
					if got := (want{w.Code, h.Get("Retry-After"), h.Get("X-Should-Retry")}); got != tt.want {
						t.Errorf("got %+v, want %+v", got, tt.want)
					}
					if h.Get("Content-Type") != "application/json" {
						t.Errorf("headers: %v", h)
					}
					body := w.Body.String()
					if !json.Valid(w.Body.Bytes()) || !strings.Contains(body, "the words of the vendor") || !strings.Contains(body, "req_1") {
						t.Errorf("body: %s", body)
					}
				})
			}
		}
	}
	for _, code := range sdk.Codes() {
		if !covered[code] {
			t.Errorf("%s is not covered", code)
		}
	}
}

// TestVendorsOwnWords: a caller's fault is told with the vendor's status and
// body, byte by byte, where the vendor speaks the caller's dialect, and in the
// caller's dialect with the vendor's words where it does not.
func TestVendorsOwnWords(t *testing.T) {
	const said = `{"odd":"body","words":"prompt is too long: 9 tokens > 8 maximum"}`
	tests := []struct {
		name     string
		reply    *llm.Reply
		own      bool // the reply is of the client's dialect
		status   int
		verbatim bool
	}{
		{"its dialect", &llm.Reply{Status: 413, Type: "application/problem+json", Body: []byte(said)}, true, 413, true},
		{"its dialect, a 401", &llm.Reply{Status: 401, Type: "application/json", Body: []byte(said)}, true, 400, true},
		{"another dialect", &llm.Reply{Dialect: "telegraph", Status: 413, Body: []byte(said)}, false, 413, false},
		{"no reply", nil, false, 413, false},
	}
	exchanges := bench(t)
	for _, tt := range tests {
		for _, d := range every(t) {
			t.Run(tt.name+"/"+d.Name(), func(t *testing.T) {
				f := sdk.NewFailure(sdk.CodeContextWindow, "test", "prompt is too long: 9 tokens > 8 maximum")
				f.Status = 413
				x, w := exchanges(d, sdk.Fail(f))
				f.Attempt = x.call.Trace.Begin(sdk.Request{Provider: "p", Model: "m"})
				if tt.reply != nil {
					reply := *tt.reply
					if tt.own {
						reply.Dialect = d.Name()
					}
					x.call.Trace.End(f.Attempt, sdk.Outcome{Failure: f}, &reply)
				}
				x.flow()
				if w.Code != tt.status || (w.Body.String() == said) != tt.verbatim {
					t.Errorf("got %d %s", w.Code, w.Body)
				}
				if tt.verbatim && w.Header().Get("Content-Type") != tt.reply.Type {
					t.Errorf("got type %q, want %q", w.Header().Get("Content-Type"), tt.reply.Type)
				}
				if !json.Valid(w.Body.Bytes()) || !strings.Contains(w.Body.String(), "prompt is too long: 9 tokens > 8 maximum") {
					t.Errorf("the vendor's words are lost: %s", w.Body)
				}
			})
		}
	}
}

// TestTold: the first cause leads, and everybody who was tried or passed over is
// named with a reason, but not without end.
func TestTold(t *testing.T) {
	x := &exchange{id: "req_1", call: &llm.Call{Trace: llm.NewTrace(record.Request{}, nil, nil)}}
	for i := range 12 {
		n := x.call.Trace.Begin(sdk.Request{Provider: "p", Model: fmt.Sprint("m", i)})
		x.call.Trace.End(n, sdk.Outcome{Failure: sdk.NewFailure(sdk.CodeServer, "test", "x")}, nil)
	}
	x.call.Trace.Decide(sdk.Decision{Attempt: 1, Code: sdk.CodeQuota, Action: sdk.ActionFallback, Skipped: []sdk.Skip{{Route: sdk.Route{Provider: "unsaid"}, Reason: "busy"}}})
	x.call.Trace.Decide(sdk.Decision{Attempt: 12, Code: sdk.CodeServer, Action: sdk.ActionStop, Skipped: []sdk.Skip{{Route: sdk.Route{Provider: "q", Model: "m"}, Reason: "halted"}}})
	got := x.told(sdk.NewFailure(sdk.CodeQuota, "test", "no money")).Message
	want := "no money (tried p/m0: QUOTA, p/m1: SERVER, p/m2: SERVER, p/m3: SERVER, p/m4: SERVER, p/m5: SERVER, p/m6: SERVER, p/m7: SERVER, 4 more; " +
		"not asked q/m: halted; spillway explain req_1)"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestAnswerWithoutCleanEnd: an answer that is gathered to be given whole and
// ends as failed is no empty 200.
func TestAnswerWithoutCleanEnd(t *testing.T) {
	exchanges := bench(t)
	for _, d := range every(t) {
		for _, finish := range []sdk.Finish{sdk.FinishError, sdk.FinishAborted} {
			t.Run(d.Name()+"/"+string(finish), func(t *testing.T) {
				x, w := exchanges(d, bare{{Kind: sdk.KindStart}, {Kind: sdk.KindTextDelta, Text: "half"}, {Kind: sdk.KindFinish, Finish: finish}})
				x.whole()
				if w.Code != http.StatusServiceUnavailable || !json.Valid(w.Body.Bytes()) || !strings.Contains(w.Body.String(), "req_1") {
					t.Errorf("got %d %s", w.Code, w.Body)
				}
				if got := x.call.Trace.Record().Outcome; got != record.FailedClean {
					t.Errorf("outcome: got %s, want %s", got, record.FailedClean)
				}
			})
		}
	}
}

// bare is an answer as it is, without what package sdk adds to one.
type bare []sdk.Event

func (bare) Close() error                              { return nil }
func (bare) AwaitVisible(context.Context) *sdk.Failure { return nil }
func (b bare) Events() iter.Seq2[sdk.Event, error] {
	return func(yield func(sdk.Event, error) bool) {
		for _, e := range b {
			if !yield(e, nil) {
				return
			}
		}
	}
}
