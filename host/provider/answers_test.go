package provider

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"spillway/host/dialect"
	"spillway/host/profile"
	"spillway/sdk"
)

// TestSeveralChoices: the finish of one choice is not the end of the answer,
// which only the vendor's terminal tells.
func TestSeveralChoices(t *testing.T) {
	const cut = "" // the frame at which the connection breaks
	tests := []struct {
		name    string
		choices int
		frames  []gap
		code    sdk.Code
	}{
		{"one, complete", 1, []gap{{0, hello}, {0, finish}, {0, done}}, ""},
		{"one, without its terminal", 1, []gap{{0, hello}, {0, finish}}, ""},
		{"one, broken after its finish", 1, []gap{{0, hello}, {0, finish}, {0, cut}}, ""},
		{"two, complete", 2, []gap{{0, hello}, {0, second}, {0, finish}, {0, second}, {0, last}, {0, done}}, ""},
		{"two, the second is slow", 2, []gap{{0, hello}, {0, finish}, {10 * time.Second, second}, {10 * time.Second, last}, {0, done}}, ""},
		{"two, cut in the second", 2, []gap{{0, hello}, {0, second}, {0, finish}, {0, second}, {0, cut}}, sdk.CodeTransport},
		{"two, ended in the second", 2, []gap{{0, hello}, {0, second}, {0, finish}, {0, second}}, sdk.CodeTransport},
		{"two, the second stalls", 2, []gap{{0, hello}, {0, finish}, {30 * time.Second, second}, {0, last}, {0, done}}, sdk.CodeTimeout},
	}
	for _, tt := range tests {
		for _, way := range readers {
			t.Run(tt.name+"/"+way.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := inMemory(t, func(w http.ResponseWriter, r *http.Request) {
						frames := tt.frames
						if end := frames[len(frames)-1]; end.data == cut {
							frames = frames[:len(frames)-1]
							defer panic(http.ErrAbortHandler)
						}
						streamed(frames...)(w, r)
					})
					a := ask(t, p, dialect.OpenAI(), true, tt.choices, sdk.Limits{})
					_, f := way.read(a, 0)
					code := sdk.Code("")
					if f != nil {
						code = f.Code
					}
					if code != tt.code {
						t.Errorf("got %v, want %q", f, tt.code)
					}
					if len(a.outcomes) != 1 || a.outcomes[0].Failure != f {
						t.Errorf("outcomes: %+v", a.outcomes)
					}
				})
			})
		}
	}
}

// TestEmptyWholeAnswer: whoever reads an answer that is not streamed and says
// nothing is told so, however it is read.
func TestEmptyWholeAnswer(t *testing.T) {
	bodies := map[string]string{
		"openai":    `{"id":"x","model":"m1","choices":[{"index":0,"message":{"role":"assistant","content":""},"finish_reason":"stop"}]}`,
		"anthropic": `{"id":"x","type":"message","role":"assistant","model":"m1","content":[],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":0}}`,
	}
	reads := []reader{
		{"awaited", func(a *asked, _ time.Duration) (string, *sdk.Failure) { return "", sdk.AwaitVisible(a.ctx, a) }},
		readers[0],
		{"whole", func(a *asked, _ time.Duration) (string, *sdk.Failure) {
			_, f := a.Whole()
			return "", f
		}},
	}
	for _, d := range []dialect.Dialect{dialect.Anthropic(), dialect.OpenAI()} {
		for _, way := range reads {
			t.Run(d.Name()+"/"+way.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := inMemory(t, func(w http.ResponseWriter, _ *http.Request) {
						w.Header().Set("Content-Type", "application/json")
						_, _ = io.WriteString(w, bodies[d.Name()])
					})
					a := ask(t, p, d, false, 1, sdk.Limits{})
					text, f := way.read(a, 0)
					if text != "" || f == nil || f.Code != sdk.CodeEmptyResponse {
						t.Errorf("got %q, %v, want EMPTY_RESPONSE", text, f)
					}
					if len(a.outcomes) != 1 || a.outcomes[0].Failure == nil || a.outcomes[0].Failure.Code != sdk.CodeEmptyResponse {
						t.Errorf("outcomes: %+v", a.outcomes)
					}
				})
			})
		}
	}
}

// TestEchoedKey: a vendor that repeats the key it was given does not bring it
// into the failure, the record, or the answer that a caller may get.
func TestEchoedKey(t *testing.T) {
	refuse := func(status int, kind, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	const json, page, events = "application/json", "text/html", "text/event-stream"
	tests := []struct {
		name   string
		vendor http.HandlerFunc
	}{
		{"message", refuse(401, json, `{"error":{"message":"Incorrect API key provided: `+secret+`.","type":"invalid_request_error","code":"invalid_api_key"}}`)},
		{"at the end of what a message may hold", refuse(401, json, `{"error":{"message":"`+strings.Repeat("x", sdk.MaxMessage-len(secret)+1)+secret+`"}}`)},
		{"code and type", refuse(401, json, `{"error":{"message":"no","type":"`+secret+`","code":"key_`+secret+`"}}`)},
		{"caller's fault", refuse(400, json, `{"error":{"message":"bad request by `+secret+`","type":"invalid_request_error"}}`)},
		{"message in a message", refuse(400, json, `{"error":{"message":"{\"error\":{\"message\":\"`+secret+` is unknown\"}}"}}`)},
		{"page", refuse(502, page, `<html><title>`+secret+`</title></html>`)},
		{"text", refuse(403, "text/plain", secret+" is banned")},
		{"success that is none", refuse(200, json, `{"error":{"message":"key `+secret+` is out of money","code":"insufficient_quota"}}`)},
		{"first event", refuse(200, events, `data: {"error":{"message":"key `+secret+` is not known","code":"`+secret+`"}}`+"\n\n")},
		{"late event", streamed(gap{0, hello}, gap{0, `{"error":{"message":"key ` + secret + ` ran out"}}`})},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := ask(t, inMemory(t, tt.vendor), dialect.OpenAI(), true, 1, sdk.Limits{})
				f := sdk.AwaitVisible(t.Context(), a)
				if f == nil {
					_, f = readers[0].read(a, 0)
				}
				if f == nil {
					t.Fatal("no failure")
				}
				told := fmt.Sprintf("%+v %+v %+v", *f, a.trace.Record(), a.outcomes[0])
				if r := a.trace.Reply(1); r != nil {
					told += string(r.Body)
				}
				if strings.Contains(told, secret[:len(secret)/2]) || !strings.Contains(told, profile.Secret(secret).String()) {
					t.Errorf("the key is told, or nothing was in its place: %s", told)
				}
			})
		})
	}
}
