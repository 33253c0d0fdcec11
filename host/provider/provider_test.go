package provider_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spillway/host/dialect"
	"spillway/host/dialect/dialecttest"
	"spillway/host/llm"
	"spillway/host/profile"
	"spillway/host/provider"
	"spillway/host/sim"
	"spillway/host/state/record"
	"spillway/sdk"
)

const canary = "sk-canary-3f1d9c0b7a"

// rig is one simulated vendor behind a waterfall without listeners.
type rig struct {
	t         *testing.T
	vendor    *sim.Endpoint
	waterfall *llm.Waterfall
	trace     *llm.Trace
	outcomes  []sdk.Outcome
}

func newRig(t *testing.T, script string) *rig {
	t.Helper()
	s, err := sim.New(sim.Options{KeepRequests: true, Vendors: []sim.Vendor{{
		Name: "p", Like: "deepseek", Script: script, Keys: []string{canary}, Answer: sim.Answer{Tokens: 12, Numbered: true},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(context.Background(), "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	base := s.Vendor("p").URL() + "/v1"
	p, err := provider.New(provider.Options{
		Name: "p", VendorName: "deepseek", Keys: []profile.Secret{canary},
		Vendor: provider.Vendor{
			Endpoints: map[string]string{"anthropic": base, "openai": base, "responses": base}, Auth: "bearer",
			Pass: []string{"anthropic-beta"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return &rig{t: t, vendor: s.Vendor("p"), waterfall: llm.New(slog.New(slog.DiscardHandler), provider.NewSet(p))}
}

func body(d dialect.Dialect, stream bool) []byte {
	limit := `"max_tokens":100,`
	switch {
	case d.Name() == "openai" && stream:
		limit = `"stream_options":{"include_usage":true},`
	case d.Name() == "responses":
		return fmt.Appendf(nil, `{"model":"m1","stream":%t,"unknown_field":{"x":[1]},"input":"hello"}`, stream)
	}
	return fmt.Appendf(nil, `{"model":"m1",%s"stream":%t,"unknown_field":{"x":[1]},"messages":[{"role":"user","content":"hello"}]}`, limit, stream)
}

func (r *rig) call(d dialect.Dialect, stream bool, limits sdk.Limits) sdk.Stream {
	return r.dispatch(d, body(d, stream), sdk.Request{Stream: stream, Dispatch: sdk.Dispatch{Limits: limits}})
}

func (r *rig) dispatch(d dialect.Dialect, body []byte, req sdk.Request) sdk.Stream {
	req.Provider, req.Model, req.Dispatch.Tag = "p", "m1", "tag"
	r.trace = llm.NewTrace(record.Request{ID: "req"}, nil, nil)
	c := &llm.Call{
		ID: "req", Trace: r.trace,
		Payload: llm.NewPayload(d, body, http.Header{"Anthropic-Beta": {"b1"}, "Authorization": {"Bearer client"}}),
		Request: req,
	}
	s := r.waterfall.Stream(r.t.Context(), c)
	rep, _ := sdk.Find[sdk.Reporter](s)
	rep.OnOutcome(func(o sdk.Outcome) { r.outcomes = append(r.outcomes, o) })
	return s
}

func dialects() []dialect.Dialect {
	return []dialect.Dialect{dialect.Anthropic(), dialect.OpenAI(), dialect.Responses()}
}

// paths are where the dialects are asked for an answer.
var paths = map[string]string{"anthropic": "/v1/messages", "openai": "/v1/chat/completions", "responses": "/v1/responses"}

func collect(s sdk.Stream) (text string, end sdk.Event) {
	for e, err := range s.Events() {
		if err != nil {
			return text, sdk.FailEvent(sdk.NewFailure(sdk.CodePlugin, "test", err.Error()))
		}
		if e.Kind == sdk.KindTextDelta {
			text += e.Text
		}
		end = e
	}
	return text, end
}

// TestFaults plays each fault a vendor can show and checks code, whether it
// came before or after content, and that one outcome was reported.
func TestFaults(t *testing.T) {
	quick := sdk.Limits{FirstContent: 150 * time.Millisecond, Idle: 150 * time.Millisecond}
	tests := []struct {
		script    string
		code      sdk.Code
		committed bool
	}{
		{"ok", "", true},
		{"nodone", "", true},    // complete but for its terminal
		{"badjson=3", "", true}, // a malformed frame is left out
		{"quota", sdk.CodeQuota, false},
		{"429 retry-after=2", sdk.CodeRateLimit, false},
		{"500", sdk.CodeServer, false},
		{"html502", sdk.CodeServer, false},
		{"empty200", sdk.CodeEmptyResponse, false},
		{"overflow", sdk.CodeInvalidRequest, false}, // by its status; its wording is the plugin's to read
		{"policy", sdk.CodeInvalidRequest, false},
		{"invalid-request", sdk.CodeInvalidRequest, false},
		{"reset", sdk.CodeTransport, false},
		{"refuse", sdk.CodeTransport, false},
		{"hang", sdk.CodeTimeout, false},
		{"error-event=0", sdk.CodeOverloaded, false},
		{"error-event=5", sdk.CodeOverloaded, true},
		{"cut=4", sdk.CodeTransport, true},
		{"eof=4", sdk.CodeTransport, true},
		{"stall=4", sdk.CodeTimeout, true},
	}
	for _, d := range dialects() {
		for _, tt := range tests {
			t.Run(d.Name()+"/"+tt.script, func(t *testing.T) {
				r := newRig(t, tt.script)
				s := r.call(d, true, quick)
				f := sdk.AwaitVisible(t.Context(), s)
				if got := f == nil; got != tt.committed {
					t.Fatalf("visible content: got %t (%v), want %t", got, f, tt.committed)
				}
				if f == nil {
					_, end := collect(s)
					f = end.Failure
				}
				code := sdk.Code("")
				if f != nil {
					code = f.Code
					if f.Attempt != 1 {
						t.Errorf("attempt: got %d, want 1", f.Attempt)
					}
				}
				// A chat error event's own words decide; its wording is the
				// plugin's to read.
				if code != tt.code && !(tt.code == sdk.CodeOverloaded && code == sdk.CodeServer) {
					t.Errorf("code: got %q (%v), want %q", code, f, tt.code)
				}
				if len(r.outcomes) != 1 || r.outcomes[0].Tag != "tag" || r.outcomes[0].Committed != tt.committed {
					t.Errorf("outcomes: got %+v", r.outcomes)
				}
				rec := r.trace.Record()
				if len(rec.Attempts) != 1 || rec.Attempts[0].Code != code {
					t.Errorf("record: got %+v, want one attempt of code %q", rec.Attempts, code)
				}
				if strings.Contains(fmt.Sprintf("%+v %+v", rec, f), canary) {
					t.Error("the key is in the record or the failure")
				}
			})
		}
	}
}

// TestRelay: a relayed answer is the vendor's own, byte for byte, and so is the
// request.
func TestRelay(t *testing.T) {
	for _, d := range dialects() {
		for _, stream := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/stream=%t", d.Name(), stream), func(t *testing.T) {
				r := newRig(t, "ok reasoning=3")
				s := r.call(d, stream, sdk.Limits{})
				if f := sdk.AwaitVisible(t.Context(), s); f != nil {
					t.Fatal(f)
				}
				raw, ok := sdk.Find[llm.Raw](s)
				if !ok {
					t.Fatal("the stream is not raw")
				}
				var got []byte
				if stream {
					for f := range raw.Frames() {
						if f.Failure != nil {
							t.Fatal(f.Failure)
						}
						got = append(got, f.Raw...)
					}
					if err := dialecttest.Check(d.Name(), got); err != nil {
						t.Error(err)
					}
				} else {
					var f *sdk.Failure
					if got, f = raw.Whole(); f != nil {
						t.Fatal(f)
					}
				}
				calls := r.vendor.Calls()
				if d := cmp.Diff(string(body(d, stream)), string(calls[0].Body)); d != "" {
					t.Errorf("request (-want +got):\n%s", d)
				}
				if calls[0].Path != paths[d.Name()] {
					t.Errorf("asked at %s: the vendor speaks the caller's own dialect", calls[0].Path)
				}
				if calls[0].Header.Get("Anthropic-Beta") != "b1" || calls[0].Key != profile.Secret(canary).Fingerprint() {
					t.Errorf("headers: %v, key %s", calls[0].Header, calls[0].Key)
				}
				want := direct(t, r, d, stream)
				if !bytes.Equal(scrub(want), scrub(got)) {
					t.Errorf("answer differs from a direct one:\n%s\nwant\n%s", got, want)
				}
				if o := r.outcomes; len(o) != 1 || o[0].Usage.Output == 0 || o[0].Finish != sdk.FinishStop {
					t.Errorf("outcome: %+v", o)
				}
			})
		}
	}
}

// direct asks the vendor without spillway.
func direct(t *testing.T, r *rig, d dialect.Dialect, stream bool) []byte {
	t.Helper()
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, r.vendor.URL()+paths[d.Name()], bytes.NewReader(body(d, stream)))
	req.Header.Set("Authorization", "Bearer "+canary)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// scrub blanks what differs from one answer to the next: ids count requests,
// created is a clock.
func scrub(b []byte) []byte {
	out := bytes.Clone(b)
	for i, c := range out {
		if c >= '0' && c <= '9' {
			out[i] = '0'
		}
	}
	return out
}

// TestEvents: the same answer decoded says the same in all dialects.
func TestEvents(t *testing.T) {
	for _, d := range dialects() {
		for _, stream := range []bool{true, false} {
			r := newRig(t, "ok")
			text, end := collect(r.call(d, stream, sdk.Limits{}))
			if want := "w0@p"; !strings.HasPrefix(text, want) || !strings.Contains(text, "w11@p") {
				t.Errorf("%s: text %q", d.Name(), text)
			}
			if end.Kind != sdk.KindFinish || end.Finish != sdk.FinishStop {
				t.Errorf("%s: end %+v", d.Name(), end)
			}
		}
	}
}

// TestTwoReaders: a stream is ranged over once.
func TestTwoReaders(t *testing.T) {
	r := newRig(t, "ok")
	s := r.call(dialect.OpenAI(), true, sdk.Limits{})
	collect(s)
	for _, err := range s.Events() {
		if !errors.Is(err, sdk.ErrConsumed) {
			t.Errorf("second range: %v", err)
		}
	}
}

// TestLeaving: a consumer that leaves cancels the vendor's call and charges
// nobody.
func TestLeaving(t *testing.T) {
	r := newRig(t, "ok gap=20ms tokens=1000")
	for e := range r.call(dialect.OpenAI(), true, sdk.Limits{}).Events() {
		if e.Kind == sdk.KindTextDelta {
			break
		}
	}
	calls, err := r.vendor.Until(t.Context(), func(c []sim.Call) bool { return !c[0].End.IsZero() })
	if err != nil || !calls[0].Gone {
		t.Errorf("vendor: %+v, %v", calls, err)
	}
	if o := r.outcomes; len(o) != 1 || o[0].Failure.Code != sdk.CodeAborted {
		t.Errorf("outcome: %+v", o)
	}
}

// TestUnknown: no provider, no model.
func TestUnknown(t *testing.T) {
	r := newRig(t, "ok")
	c := &llm.Call{ID: "x", Trace: llm.NewTrace(record.Request{}, nil, nil), Payload: llm.PromptPayload(&sdk.Prompt{}), Request: sdk.Request{Provider: "nobody", Model: "m"}}
	_, end := collect(r.waterfall.Stream(t.Context(), c))
	if end.Failure == nil || end.Failure.Code != sdk.CodeNoAdapter || !strings.Contains(end.Failure.Message, `"nobody"`) {
		t.Errorf("got %+v", end.Failure)
	}
}
